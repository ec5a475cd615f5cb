public import Foundation
public import MigrationArchive
internal import MigrationSystem

extension MigrationHost {
    /// Exports a container into an archive.
    ///
    /// Of an export that fails nothing is left, and an archive that was there stays as it was.
    ///
    /// - Parameters:
    ///   - container: The container, which nobody else may be using.
    ///   - destination: Where the archive goes. A file appears only when it is whole.
    ///   - appExtension: The app's own extension, which says what is exported; `nil` exports everything.
    ///   - options: What is exported, and how.
    ///   - progress: Gets the estimate of the content's bytes as its total, and what was archived.
    /// - Returns: What was archived, what was left out and why.
    /// - Throws: ``MigrationError`` of codes `containerBusy`, `containerInvalid`, `outputExists`,
    ///   `outputFailed`, `outOfSpace` and `invalidOption`; `ArchiveError` of codes `sourceChanged`,
    ///   `sourceUnreadable`, `unrepresentable`, `outputFailed` and `outOfSpace`; `SystemError` where the
    ///   destination's descriptor is not open; `CancellationError`.
    ///   With an extension, ``MigrationError`` also of codes `cancellationIgnored`,
    ///   `confinementUnavailable`, `entitlementInvalid`, `exportIncomplete`, `extensionCrashed`,
    ///   `extensionFailed`, `extensionHung`, `extensionUnsuitable` and `sessionFailed`.
    @concurrent
    public func exportContainer(
        _ container: MigrationDataContainer,
        to destination: ArchiveDestination,
        using appExtension: MigrationExtension? = nil,
        options: ExportOptions = ExportOptions(),
        progress: Progress? = nil
    ) async throws -> ExportReport {
        try options.check()
        return try await withOperationThread { cancellation in
            let operation = ExportOperation(
                container: container,
                destination: destination,
                options: options,
                appExtension: appExtension,
                progress: progress,
                cancellation: cancellation,
                wait: wait(cancellation)
            )
            return try operation.run()
        }
    }
}

// MARK: - Options and report

/// How an export is made.
public struct ExportOptions: Sendable {
    /// The platform that the data comes from; `nil` takes that of the container.
    public var platform: MigrationPlatform?

    /// The platform that the data goes to, which an app's extension is told.
    public var destinationPlatform = MigrationPlatform.android

    /// The options of the destination that an app's extension gets, by name.
    public var destinationOptions: [String: Data] = [:]

    /// The version of the data's format, for the importing app to read; an app's extension says its own.
    public var resourcesVersion = "1.0"

    /// Whether the content is worth compressing, where no extension says it; `false` stores it.
    public var isCompressible = true

    /// The zstd compression level, from 1 to 19.
    public var compressionLevel = 3

    /// Whether `Library/Caches` is archived too, where no extension of the app's decides.
    public var includesCaches = false

    /// Patterns of what is left out, as ``ExclusionPattern`` reads them, where no extension decides.
    public var exclusions: [ExclusionPattern] = []

    /// Whether the export fails where something is of a kind that no archive holds: a socket, a FIFO,
    /// a device, an access control list or an attribute outside `user.*`; otherwise the report says so.
    public var isStrict = false

    /// Whether the export fails where an app's extension leaves something behind, in the container or in an
    /// app group, outside of `Library/Caches` and `tmp`; otherwise the report says so.
    public var expectsComplete = false

    /// The number of threads that compress, from 1 to 64; `nil` takes one a core, three at most.
    public var threadCount: Int?

    /// Makes the default options.
    public init() {}
}

extension ExportOptions {
    fileprivate func check() throws(MigrationError) {
        guard (1...19).contains(compressionLevel) else {
            throw MigrationError(.invalidOption, "the compression level must be from 1 to 19")
        }
        try ThreadCount.check(threadCount)
    }
}

/// What an export did.
public struct ExportReport: Sendable {
    /// What the archive says of itself.
    public let header: ArchiveHeader

    /// How much was archived.
    public let totals: ArchiveTotals

    /// The archive's size in bytes.
    public let archiveBytes: UInt64

    /// The bytes of the tar stream: the content, and what stands before each entry.
    public let streamBytes: UInt64

    /// What compression made of the stream, without what the archive puts around it.
    ///
    /// It is never more than the stream: a piece that compression makes no smaller counts as it is.
    public let compressedStreamBytes: UInt64

    /// The hash that stands for the archive.
    public let fingerprint: Fingerprint

    /// What the container holds and the archive does not.
    public let omissions: OmissionList

    /// Symbolic links that were archived but lead out of the container, at most 1,000 of them, printable.
    public let externalLinks: [String]

    /// How many symbolic links lead out of the container.
    public let externalLinkCount: Int

    /// What the container and the app groups hold and the app's extension did not append; `nil` where the
    /// whole container was exported.
    public let leftBehind: LeftBehind?

    /// What the session with the app's extension showed; `nil` where the whole container was exported.
    public let appExtension: ExtensionReport?
}

extension ArchiveStatement {
    /// Makes the statement about an archive that was just written.
    ///
    /// - Parameter report: The report of its export.
    public init(_ report: ExportReport) {
        self.init(header: report.header, fingerprint: report.fingerprint)
    }
}

// MARK: - The operation

/// One export: the container locked, an extension asked, an archive written and committed.
struct ExportOperation {
    let container: MigrationDataContainer
    let destination: ArchiveDestination
    let options: ExportOptions
    let appExtension: MigrationExtension?
    let progress: Progress?
    let cancellation: CancellationFlag
    let wait: LockWait

    func run() throws -> ExportReport {
        let lock = try wait.lock(container.rootPath)
        defer { lock.release() }
        try ContainerRecovery.recover(container.rootPath, root: lock.root)
        let hosted = try hostedExtension(root: lock.root)
        defer { hosted.end() }
        let file = try ArchiveFile.make(at: destination, cancellation: cancellation)
        let report: ExportReport
        do {
            let properties = try hosted.properties(availableSpace: file.availableSpace)
            progress?.setTotal(Int64(clamping: properties.sizeEstimate))
            try checkSpace(for: properties, available: file.availableSpace)
            report = try write(hosted, properties, to: file.output, file.identity, root: lock.root)
        } catch {
            file.discard()
            throw error
        }
        try file.commit()
        return report
    }

    private func hostedExtension(root: OpenFile) throws -> any ExportingExtension {
        guard let appExtension else {
            return WholeContainerExtension(
                container,
                root: root,
                options: options,
                cancellation: cancellation
            )
        }
        let host = try AppExtensionHost.begin(
            .exporting,
            appExtension,
            in: container,
            cancellation: cancellation
        )
        let call = ExportCall(
            platform: options.destinationPlatform,
            options: options.destinationOptions
        )
        return AppExtensionExport(host: host, call: call)
    }

    /// Throws where the archive can't fit, whatever compression makes of the content.
    private func checkSpace(for properties: ExportProperties, available: UInt64?) throws {
        guard let available else { return }
        let content = properties.allocatedBytes ?? properties.sizeEstimate
        let needed = properties.isCompressible ? content / 4 : content
        guard needed > available else { return }
        let message =
            "the archive needs about \(needed) bytes or more, and \(available) are free"
        throw MigrationError(.outOfSpace, message, path: destination.path)
    }

    private func write(
        _ hosted: any ExportingExtension,
        _ properties: ExportProperties,
        to output: ArchiveOutput,
        _ identity: FileStatus.Identity?,
        root: OpenFile
    ) throws -> ExportReport {
        let header = header(properties, of: hosted.container)
        let writer = try ArchiveWriter(
            writingTo: output,
            header: header,
            level: options.compressionLevel,
            threadCount: threadCount,
            cancellation: cancellation
        )
        let archiver = ItemArchiver(
            writingTo: writer,
            outputIdentity: identity,
            progress: progress,
            threadCount: threadCount - 1,
            isStrict: options.isStrict,
            cancellation: cancellation
        )
        archiver.entries.reader = try FileOwner(servedIn: root.descriptor).map { UserIdentity($0) }
        do {
            try hosted.exportResources(to: archiver)
            let left = try hosted.leftBehind(by: archiver)
            if options.expectsComplete, let failure = left?.failure {
                throw failure
            }
            let summary = try writer.finish()
            return report(header, summary, of: archiver, hosted, left)
        } catch {
            writer.abandon()
            throw error
        }
    }

    private var threadCount: Int {
        ThreadCount.resolve(options.threadCount, compressionLevel: options.compressionLevel)
    }

    private func report(
        _ header: ArchiveHeader,
        _ summary: ArchiveWriter.Summary,
        of archiver: ItemArchiver,
        _ hosted: any ExportingExtension,
        _ left: LeftBehind?
    ) -> ExportReport {
        ExportReport(
            header: header,
            totals: summary.totals,
            archiveBytes: summary.archiveBytes,
            streamBytes: summary.streamBytes,
            compressedStreamBytes: summary.compressedStreamBytes,
            fingerprint: summary.fingerprint,
            omissions: omissions(of: archiver),
            externalLinks: archiver.entries.externalLinks,
            externalLinkCount: archiver.entries.externalLinkCount,
            leftBehind: left,
            appExtension: hosted.report(of: summary.totals)
        )
    }

    private func omissions(of archiver: ItemArchiver) -> OmissionList {
        var omissions = archiver.entries.omissions
        for omission in appExtension?.groupOmissions ?? [] { omissions.append(omission) }
        return omissions
    }

    private func header(
        _ properties: ExportProperties,
        of container: MigrationDataContainer
    ) -> ArchiveHeader {
        ArchiveHeader(
            bundleIdentifier: container.bundleIdentifier,
            platform: (options.platform ?? container.platform).rawValue,
            resourcesVersion: properties.resourcesVersion,
            sizeEstimate: properties.sizeEstimate,
            isCompressible: properties.isCompressible,
            creator: MigrationHost.creator
        )
    }
}
