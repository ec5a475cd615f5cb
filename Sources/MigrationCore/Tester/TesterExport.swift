internal import Foundation
internal import MigrationSystem

/// One export of a tester: into an archive of its own, which is extracted.
struct TesterExport {
    private let subject: TestSubject
    private let options: ExportOptions
    private let progress: Progress?

    init<SupportedOptions>(
        _ subject: TestSubject,
        _ request: MigrationRequestWithOptions<SupportedOptions>?,
        _ progress: Progress?
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
            try await MigrationHost.forTests.exportContainer(
                subject.container,
                to: .file(path: archive.path, replacingExisting: false),
                using: subject.appExtension,
                options: options,
                progress: progress
            )
        }
        let resources = path(of: name)
        _ = try await ArchiveSource.file(path: archive.path).extract(
            toPath: resources.path,
            only: []
        )
        subject.noteExport(report)
        progress?.complete(of: Int64(clamping: report.totals.contentBytes))
        return AppMigrationTester.ResourcesExportResult(
            extractedResourcesURL: URL(directoryAtPath: resources.path),
            exportProperties: AppMigrationTester.DeviceToDeviceExportProperties(report),
            directory: subject.directory
        )
    }

    private func path(of name: String) -> PathName {
        PathName(parent: subject.directory.path.path, name: ByteString(utf8: name))
    }

    private func remove(_ archive: PathName) {
        // Where it was not written, or can't be removed, it goes with the directory.
        try? FileDescriptor.open(archive.parent, .directory).removeFile(archive.name)
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
