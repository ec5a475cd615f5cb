public import Foundation
public import MigrationArchive
internal import MigrationContainers
internal import MigrationSystem

// MARK: - Options and report

/// How to make an export.
public struct ExportOptions: Sendable {
    /// The app that the archive names; `nil` means that of the container, if it is known.
    public var bundleIdentifier: String?

    /// Whether to export a directory that isn't a container but holds several.
    public var takesAnyDirectory = false

    /// The platform of the data; `nil` means that of the container.
    public var platform: MigrationPlatform?

    /// The platform that receives the data; an app's extension gets it in its request.
    public var destinationPlatform = MigrationPlatform.android

    /// The options of the destination, by name, for an app's extension.
    public var destinationOptions: [String: Data] = [:]

    /// The version of the data's format for the importing app.
    ///
    /// An app's extension supplies its own.
    public var resourcesVersion = "1.0"

    /// Whether to compress the content; `false` stores it.
    ///
    /// An app's extension decides this itself.
    public var isCompressible = true

    /// What the person was doing in the app; `nil` means what an app's extension says.
    public var activity: ResumeActivity?

    /// The zstd compression level, from 1 to 19.
    public var compressionLevel = 3

    /// Whether to archive `Library/Caches` too.
    ///
    /// An app's extension decides this itself.
    public var includesCaches = false

    /// Patterns of files to omit.
    ///
    /// An app's extension decides this itself.
    public var exclusions: [PathPattern] = []

    /// The extra metadata to archive.
    ///
    /// With owners, root archives all files, not only those that the container's owner can read.
    public var extraMetadata: ExtraMetadata = []

    /// Whether the export fails if it finds something that the archive can't hold.
    ///
    /// That is a socket, a FIFO, a device, or, unless ``extraMetadata`` includes it, an access
    /// control list or an attribute outside `user.*`. Otherwise it is an omission.
    public var isStrict = false

    /// Whether the export fails if an app's extension leaves something behind in the container or
    /// in an app group.
    ///
    /// `Library/Caches` and `tmp` don't count. If `false`, the report only lists it.
    public var expectsComplete = false

    /// The number of threads that compress, from 1 to 64; `nil` means one per processor.
    public var threadCount: Int?

    /// Receives each entry once it is in the archive, on the thread that writes it.
    public var entryHandler: (@Sendable (ArchiveEntry) -> Void)?

    /// Makes the default options.
    public init() {}
}

extension ExportOptions {
    func check() throws(MigrationError) {
        guard (1...19).contains(compressionLevel) else {
            throw MigrationError(.invalidOption, "the compression level must be from 1 to 19")
        }
    }
}

/// The result of an export.
public struct ExportReport: Sendable {
    /// The header of the archive.
    public let header: ArchiveHeader

    /// How much was archived.
    public let totals: ArchiveTotals

    /// The archive's size in bytes.
    public let archiveBytes: UInt64

    /// The bytes of the tar stream: the content and the entries' headers.
    public let streamBytes: UInt64

    /// The bytes of the compressed stream, without the archive's own index and headers.
    ///
    /// It is never more than the stream, because pieces that compression would enlarge are stored.
    public let compressedStreamBytes: UInt64

    /// The bytes of frames of an interrupted export that were kept in the archive; `nil` if the
    /// export didn't resume one.
    public let resumedBytes: UInt64?

    /// The hash that identifies the content.
    public let fingerprint: Fingerprint

    /// The omissions: data of the container that the archive does not hold.
    public let omissions: OmissionList

    /// Archived symbolic links that lead out of the container, at most 1,000 of them.
    public let externalLinks: [ExternalLink]

    /// How many symbolic links lead out of the container.
    public let externalLinkCount: Int

    /// The report of the session with an app's extension; `nil` for a whole container.
    package let sessionReport: (any Sendable)?
}

extension ExportReport {
    fileprivate init(
        header: ArchiveHeader,
        summary: ArchiveWriter.Summary,
        resumes: Bool,
        archiver: ItemArchiver,
        export: any ContainerExport
    ) {
        var omissions = archiver.omissions
        for omission in export.omissions { omissions.append(omission) }
        self.init(
            header: header,
            totals: summary.totals,
            archiveBytes: summary.archiveBytes,
            streamBytes: summary.streamBytes,
            compressedStreamBytes: summary.compressedStreamBytes,
            resumedBytes: resumes ? summary.keptBytes : nil,
            fingerprint: summary.fingerprint,
            omissions: omissions,
            externalLinks: archiver.externalLinks,
            externalLinkCount: archiver.externalLinkCount,
            sessionReport: export.report(on: summary.totals)
        )
    }
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

/// One export: locks the container, asks the exporter, writes the archive and commits it.
struct ExportOperation {
    let container: MigrationDataContainer
    /// `nil` if only the fingerprint is wanted.
    let destination: ArchiveDestination?
    let options: ExportOptions
    /// Chooses what is exported; `nil` exports the whole container.
    let exporter: (any ContainerExporter)?
    /// The program that the archive names.
    let creator: String
    let operation: MigrationOperation
    let wait: LockWait

    func run() throws -> ExportReport {
        let lock = try wait.lockForReading(container)
        defer { lock.release() }
        try ContainerRecovery.checkBookkeeping(of: lock)
        if options.bundleIdentifier == nil { try container.checkIdentity() }
        if !options.takesAnyDirectory {
            try ContainerContents.checkIsContainer(lock.root, at: container.rootPath)
        }
        let export =
            try exporter?.beginExport(of: container, options: options, on: operation)
            ?? WholeContainerExport(
                container: container,
                root: lock.root,
                options: options,
                operation: operation
            )
        defer { export.end() }
        return try write(export, root: lock.root)
    }

    private func write(_ export: any ContainerExport, root: OpenFile) throws -> ExportReport {
        guard let destination else {
            return try write(export, properties(of: export), to: nil, root: root)
        }
        let early = destination.needsEstimate ? try properties(of: export) : nil
        return try ArchiveFile.write(
            to: destination,
            sizeEstimate: early?.sizeEstimate ?? 0,
            on: operation
        ) { file in
            let properties =
                try early ?? properties(of: export, availableSpace: file.availableSpace)
            try checkSpace(for: properties, available: file.availableSpace)
            return try write(
                export,
                properties,
                to: file.output,
                goingOnFrom: file.beginning,
                root: root
            )
        }
    }

    private func properties(
        of export: any ContainerExport,
        availableSpace: UInt64? = nil
    ) throws -> ExportProperties {
        let properties = try export.properties(availableSpace: availableSpace)
        operation.progress?.setTotal(Int64(clamping: properties.sizeEstimate))
        return properties
    }

    /// Throws if the archive can't fit even if it compresses well.
    private func checkSpace(for properties: ExportProperties, available: UInt64?) throws {
        guard let available else { return }
        let content = properties.allocatedBytes ?? properties.sizeEstimate
        let needed = properties.isCompressible ? content / 4 : content
        guard needed > available else { return }
        let message =
            "the archive needs at least about \(ByteCount(needed)), "
            + "\(ByteCount(available)) are free"
        throw MigrationError(.outOfSpace, message, path: destination?.path)
    }

    private func write(
        _ export: any ContainerExport,
        _ properties: ExportProperties,
        to output: ArchiveOutput?,
        goingOnFrom beginning: ArchiveBeginning? = nil,
        root: OpenFile
    ) throws -> ExportReport {
        let header = header(properties, of: export.container)
        let writer = try ArchiveWriter(
            writingTo: output,
            goingOnFrom: beginning,
            header: header,
            level: options.compressionLevel,
            on: operation
        )
        defer { writer.abandon() }
        writer.entryHandler = options.entryHandler
        let archiver = ItemArchiver(
            writingTo: writer,
            outputIdentity: output?.identity,
            holding: options.extraMetadata,
            isStrict: options.isStrict,
            on: operation
        )
        if !options.extraMetadata.contains(.owners) {
            let owner = try FileOwner(servedIn: root.descriptor)
            archiver.reader = owner.map(UserIdentity.init)
        }
        try export.exportResources(to: archiver)
        let summary = try writer.finish()
        return ExportReport(
            header: header,
            summary: summary,
            resumes: beginning != nil,
            archiver: archiver,
            export: export
        )
    }

    private func header(
        _ properties: ExportProperties,
        of container: MigrationDataContainer
    ) -> ArchiveHeader {
        ArchiveHeader(
            bundleIdentifier: options.bundleIdentifier ?? container.exportedIdentifier,
            platform: (options.platform ?? container.platform).rawValue,
            resourcesVersion: properties.resourcesVersion,
            sizeEstimate: properties.sizeEstimate,
            isCompressible: properties.isCompressible,
            creator: creator,
            activity: (options.activity ?? properties.activity)?.encoded,
            extraMetadata: options.extraMetadata
        )
    }
}
