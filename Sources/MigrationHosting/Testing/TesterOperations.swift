internal import Foundation
internal import MigrationArchive
internal import MigrationContainers
internal import MigrationCore
internal import MigrationSystem

/// One export of a tester, into a temporary archive that is then extracted.
struct TesterExport {
    private let subject: TestSubject
    private let options: ExportOptions
    private let progress: Progress?

    init<SupportedOptions>(
        _ subject: TestSubject,
        request: MigrationRequestWithOptions<SupportedOptions>?,
        progress: Progress?
    ) {
        self.subject = subject
        self.progress = progress
        var options = ExportOptions()
        options.destinationPlatform = request?.destinationPlatform ?? subject.platform
        for (option, value) in request?.options ?? [:] {
            options.destinationOptions[option.rawValue] = value
        }
        self.options = options
    }

    func run() async throws -> AppMigrationTester.ResourcesExportResult {
        subject.noteBeginning()
        progress?.completedUnitCount = 0
        let name = "resources-\(UUID().uuidString)"
        let archive = path(of: name + ".tar.zst")
        defer { remove(archive) }
        let report = try await throwingErrorsOfExtension {
            try await MigrationHost.forTests.export(
                subject.container,
                to: .file(path: archive, replacesExisting: false),
                using: subject.appExtension,
                options: options,
                progress: progress
            )
        }
        let resources = path(of: name)
        _ = try await ArchiveSource.file(path: archive).extract(toPath: resources)
        subject.noteExport(report)
        progress?.complete(of: Int64(clamping: report.totals.contentBytes))
        return AppMigrationTester.ResourcesExportResult(
            extractedResourcesURL: URL(directoryAtPath: resources),
            exportProperties: AppMigrationTester.DeviceToDeviceExportProperties(report),
            directory: subject.directory
        )
    }

    private func path(of name: String) -> BytePath {
        subject.directory.path / BytePath(name)
    }

    private func remove(_ archive: BytePath) {
        // Best effort; otherwise it is removed with the directory.
        try? FileDescriptor.open(archive.parent, .directory).removeFile(archive.lastComponent)
    }
}

extension AppMigrationTester.DeviceToDeviceExportProperties {
    fileprivate init(_ report: ExportReport) {
        self.init(
            uncompressedBytes: Int(clamping: report.streamBytes),
            compressedBytes: report.header.isCompressible
                ? Int(clamping: report.compressedStreamBytes) : nil,
            sizeEstimate: Int(clamping: report.header.sizeEstimate),
            version: report.header.resourcesVersion
        )
    }
}

/// One import of a tester, from a directory into the live container.
struct TesterImport {
    let subject: TestSubject
    let directory: URL
    let request: ResourcesImportRequest?
    let operation: MigrationOperation

    func run() throws {
        let (path, opened) = try openDirectory()
        let lock = try MigrationHost.forTests.wait(on: operation).lockForWriting(subject.container)
        defer { lock.release() }
        try ContainerRecovery.recover(lock)
        let host = try AppExtensionHost.begin(
            .importing,
            of: subject.appExtension,
            in: subject.container,
            from: (path, holder: nil),
            on: operation
        )
        defer { host.end() }
        let call = call(from: path, to: host)
        subject.noteImport(call)
        let appImport = AppExtensionImport(host: host, call: call)
        let report = try appImport.run(on: operation) {
            try UnreadFiles(in: opened, at: path, on: operation)
        }
        subject.noteImport(report)
        operation.progress?.complete(of: operation.progress?.totalUnitCount ?? 0)
    }

    private func openDirectory() throws(MigrationError) -> (BytePath, OpenFile) {
        let given = BytePath(of: directory)
        do throws(SystemError) {
            let path = try BytePath(resolvingWhole: given)
            return (path, OpenFile(try FileDescriptor.open(path, .directory)))
        } catch {
            let message = "the directory of the resources can't be opened"
            throw MigrationError(.invalidOption, message, path: given, cause: error)
        }
    }

    private func call(from path: BytePath, to host: AppExtensionHost) -> ImportCall {
        if let request {
            return ImportCall(
                directory: Data(path.bytes),
                source: request.sourceAppIdentifier,
                sourceVersion: request.sourceVersion
            )
        }
        return ImportCall(
            directory: Data(path.bytes),
            source: MigrationAppIdentifier(
                storeIdentifier: subject.platform.defaultStore,
                bundleIdentifier: host.container.bundleIdentifier,
                platform: subject.platform
            ),
            sourceVersion: subject.exportedVersion
                ?? host.description.exports?.resourcesVersion
                ?? ExportOptions().resourcesVersion
        )
    }
}

/// The status that a tester registers for the app's next launch.
struct TesterCompletion {
    private let container: MigrationDataContainer
    private let record: ImportRecord

    init(_ subject: TestSubject, outcome: ImportRecord.Outcome) {
        container = subject.container
        let imported = subject.importedSource
        record = ImportRecord(
            outcome: outcome,
            bundleIdentifier: imported?.source.bundleIdentifier,
            platform: (imported?.source.platform ?? subject.platform).rawValue,
            resourcesVersion: imported?.sourceVersion ?? subject.exportedVersion
        )
    }

    /// Persists the status in the container.
    func register(on operation: MigrationOperation) throws {
        let lock = try MigrationHost.forTests.wait(on: operation).lockForWriting(container)
        defer { lock.release() }
        try ContainerRecovery.recover(lock)
        do {
            let file = ImportRecordFile(in: try BookkeepingDirectory.make(in: lock.directory))
            // This status replaces any that was registered before.
            try file.remove()
            try file.write(record)
        } catch let error as SystemError {
            let message = "the import status can't be written"
            throw MigrationError(.outputFailed, message, path: lock.path, cause: error)
        }
    }
}

extension ImportRecord.Outcome {
    /// The outcome that a real import with this status would persist.
    init(_ status: MigrationStatus) {
        switch status {
        case .success: self = .success
        case .failure(let error as MigrationError) where error.code == .interrupted:
            self = .interrupted
        case .failure(let error as MigrationError): self.init(failure: error)
        case .failure(let error):
            // A host wraps an extension's error like this.
            let failure = MigrationError(.extensionFailed, "the extension failed", cause: error)
            self.init(failure: failure)
        }
    }
}
