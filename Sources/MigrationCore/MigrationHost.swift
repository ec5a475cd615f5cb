public import Foundation
package import MigrationArchive
public import MigrationContainers
public import MigrationContract
package import MigrationSystem

/// The system side of a migration: what iOS does around an app's extension.
///
/// A host locks the container, writes or reads the archive, commits in one step, and persists the outcome.
/// It moves the whole container; with the module `MigrationHosting` it lets the app's own extension choose the data.
///
///     let container = try MigrationDataContainer(
///         at: directory,
///         bundleIdentifier: "com.example.notes"
///     )
///     let report = try await MigrationHost().export(container, to: .file(archive))
///
/// The work runs on the host's own threads. Cancelling the calling task stops it: the host cleans
/// up and throws `CancellationError`.
public struct MigrationHost: Sendable {
    /// The version of this library.
    public static let version = "0.1.0"

    /// The release date of the version, for manual pages.
    package static let releaseDate = "November 23, 2026"

    /// The environment variable that names the container to an app's process.
    public static let containerVariable = MigrationDataContainer.environmentVariable

    package static let creator = "migrate \(version)"

    /// How long an operation waits for a container that another process uses; by default it
    /// doesn't.
    ///
    /// Time while the machine sleeps does not count. If the container is still in use after that,
    /// the operation throws a ``MigrationError`` of code `containerBusy`, which names the process.
    public var waitLimit = Duration.zero

    /// Called once if an operation has to wait, with the error that names the reason.
    public var waitHandler: (@Sendable (MigrationError) -> Void)?

    /// Whether an operation waits without limit for other operations of this process.
    package var queues = false

    /// Makes a host.
    public init() {}

    /// How `operation` waits for its container.
    package func wait(on operation: MigrationOperation) -> LockWait {
        LockWait(
            limit: waitLimit,
            queues: queues,
            cancellation: operation.cancellation,
            handler: waitHandler
        )
    }
}

// MARK: - Exports

extension MigrationHost {
    /// Exports a container into an archive.
    ///
    /// A failed export leaves nothing behind, and an existing archive stays as it was.
    ///
    /// - Parameters:
    ///   - container: The container, which must not be in use.
    ///   - destination: Where to write the archive. A file appears only when it is complete.
    ///   - options: How to export.
    ///   - progress: Gets the estimate of the content's bytes as its total, and what was archived.
    /// - Returns: What was archived, and what was omitted and why.
    /// - Throws: ``MigrationError`` of codes `archiveBusy`, `containerBusy`, `containerInvalid`,
    ///   `outputExists`, `outputFailed`, `outOfSpace` and `invalidOption`; `ArchiveError` of codes
    ///   `sourceChanged`, `sourceUnreadable`, `unrepresentable`, `outputFailed` and `outOfSpace`;
    ///   `SystemError` if the destination's descriptor is not open; `CancellationError`.
    @concurrent
    public func export(
        _ container: MigrationDataContainer,
        to destination: ArchiveDestination,
        options: ExportOptions = ExportOptions(),
        progress: Progress? = nil
    ) async throws -> ExportReport {
        try await run(
            container,
            for: .archive(destination),
            options: options,
            progress: progress
        )
    }

    /// Computes the fingerprint that an archive of a container would have, without writing one.
    ///
    /// Use it to compare a container with an existing archive. It reads everything that an export
    /// reads.
    ///
    /// - Parameters:
    ///   - container: The container, which must not be in use.
    ///   - options: How an export would be made; the compression does not matter.
    ///   - progress: Gets the estimate of the content's bytes as its total, and what was read.
    /// - Returns: What an export would report, without the archive's size.
    /// - Throws: The errors of ``export(_:to:options:progress:)``, except for those of the output.
    @concurrent
    public func fingerprint(
        of container: MigrationDataContainer,
        options: ExportOptions = ExportOptions(),
        progress: Progress? = nil
    ) async throws -> ExportReport {
        try await run(container, for: .fingerprint, options: options, progress: progress)
    }

    /// Finds out what an export would do, without writing anything.
    ///
    /// Use it to see what would be archived and omitted, and how large the archive would be.
    /// Everything is read and compressed as in an export, but the archive is not kept.
    ///
    /// - Parameters:
    ///   - container: The container, which must not be in use.
    ///   - destination: Where the archive would be written.
    ///   - options: How the export would be made.
    ///   - progress: Gets the estimate of the content's bytes as its total, and what was read.
    /// - Returns: What the export would report.
    /// - Throws: The errors of ``export(_:to:options:progress:)``, except for those of writing.
    @concurrent
    public func previewExport(
        of container: MigrationDataContainer,
        to destination: ArchiveDestination,
        options: ExportOptions = ExportOptions(),
        progress: Progress? = nil
    ) async throws -> ExportReport {
        try await run(
            container,
            for: .preview(destination),
            options: options,
            progress: progress
        )
    }

    /// Exports what `exporter` chooses, or everything, for `purpose`.
    @concurrent
    package func run(
        _ container: MigrationDataContainer,
        for purpose: ExportPurpose,
        by exporter: (any ContainerExporter)? = nil,
        options: ExportOptions,
        progress: Progress?
    ) async throws -> ExportReport {
        let (destination, room) = try purpose.destination()
        let report = try await withOperation(
            threadCount: options.threadCount,
            progress: progress
        ) { operation in
            try run(container, to: destination, by: exporter, options: options, on: operation)
        }
        guard case .preview(let place) = purpose, let room, report.archiveBytes > room else {
            return report
        }
        let message =
            "the archive needs \(ByteCount(report.archiveBytes)), \(ByteCount(room)) are free"
        throw MigrationError(.outOfSpace, message, path: place.path)
    }

    /// Exports what `exporter` chooses, or everything, as a part of `operation`.
    package func run(
        _ container: MigrationDataContainer,
        to destination: ArchiveDestination?,
        by exporter: (any ContainerExporter)?,
        options: ExportOptions,
        on operation: MigrationOperation
    ) throws -> ExportReport {
        try options.check()
        return try ExportOperation(
            container: container,
            destination: destination,
            options: options,
            exporter: exporter,
            creator: Self.creator,
            operation: operation,
            wait: wait(on: operation)
        ).run()
    }
}

/// What an export is made for.
package enum ExportPurpose: Sendable {
    /// To write the archive.
    case archive(ArchiveDestination)
    /// To see what an archive there would be; nothing of it is kept.
    case preview(ArchiveDestination)
    /// To know its fingerprint alone.
    case fingerprint

    /// Where the archive goes, and the bytes that are free where a preview says that it would go.
    fileprivate func destination() throws(MigrationError) -> (ArchiveDestination?, room: UInt64?) {
        switch self {
        case .archive(let place): (place, nil)
        case .preview(let place): (place.discarding, try place.checkIsUsable())
        case .fingerprint: (nil, nil)
        }
    }
}

// MARK: - Imports

extension MigrationHost {
    /// Imports an archive into a container, completely or not at all.
    ///
    /// The container keeps a record of the outcome for the app's next launch, unless the import is
    /// refused before the container is touched: the archive can't be read at all, or the container
    /// is in use, holds data or belongs to another app. A failure is recorded beside the record of the
    /// import that made the data. If there was no container, a failed import leaves none.
    ///
    /// - Parameters:
    ///   - archive: A migration archive, or the tar file of another program, compressed with zstd
    ///     or not.
    ///   - container: The container; its directory is made if it is missing.
    ///   - options: How to import.
    ///   - progress: Gets the archive's bytes as its total, and how many were read; from a pipe, the header's
    ///     estimate of its content, and how much of that was restored.
    /// - Returns: What was restored, and what was omitted and why.
    /// - Throws: ``MigrationError`` of codes `containerBusy`, `containerHoldsData`,
    ///   `containerInvalid`, `identifierMismatch`, `invalidOption`, `outOfSpace`, `outputExists` and
    ///   `outputFailed`; `ArchiveError` of codes `damaged`, `entryExists`, `inputFailed`,
    ///   `notAnArchive`, `outOfSpace`, `outputFailed`, `refused`, `truncated` and `unsupported`;
    ///   `CancellationError`.
    @concurrent
    public func `import`(
        _ archive: ArchiveSource,
        into container: MigrationDataContainer,
        options: ImportOptions = ImportOptions(),
        progress: Progress? = nil
    ) async throws -> ImportReport {
        try await run(archive, into: container, options: options, progress: progress)
    }

    /// Imports with `importer`; `nil` restores everything at its path.
    @concurrent
    package func run(
        _ archive: ArchiveSource,
        into container: MigrationDataContainer,
        by importer: (any ContainerImporter)? = nil,
        options: ImportOptions,
        progress: Progress?
    ) async throws -> ImportReport {
        try await withOperation(threadCount: options.threadCount, progress: progress) { operation in
            try run(archive, into: container, by: importer, options: options, on: operation)
        }
    }

    /// Imports with `importer` as a part of `operation`.
    package func run(
        _ archive: ArchiveSource,
        into container: MigrationDataContainer,
        by importer: (any ContainerImporter)?,
        options: ImportOptions,
        on operation: MigrationOperation
    ) throws -> ImportReport {
        try NewBundle.making(for: container) { container in
            try ImportOperation(
                source: archive,
                container: container,
                options: options,
                importer: importer,
                operation: operation,
                wait: wait(on: operation)
            ).run()
        }
    }

    /// Finds out what an import would do, and changes nothing.
    ///
    /// Use it to check before data is replaced. The archive is read completely and checked as by an
    /// import, so everything that an import would refuse is an error here.
    ///
    /// - Parameters:
    ///   - archive: The archive.
    ///   - container: The container, which need not exist.
    ///   - options: How an import would be made.
    ///   - progress: Gets the archive's bytes as its total, and how many were read.
    /// - Returns: What would be restored and replaced, and the space that it needs.
    /// - Throws: The errors of ``import(_:into:options:progress:)``, except for those of
    ///   writing.
    @concurrent
    public func previewImport(
        of archive: ArchiveSource,
        into container: MigrationDataContainer,
        options: ImportOptions = ImportOptions(),
        progress: Progress? = nil
    ) async throws -> ImportPreview {
        try await withOperation(threadCount: options.threadCount, progress: progress) { operation in
            try ImportOperation(
                source: archive,
                container: container,
                options: options,
                importer: nil,
                operation: operation,
                wait: wait(on: operation)
            ).preview()
        }
    }
}

// MARK: - Listing

extension MigrationHost {
    /// Lists what a container holds, without reading any content.
    ///
    /// - Parameters:
    ///   - container: The container, which must not change meanwhile.
    ///   - includesCaches: Whether an export would archive `Library/Caches` too.
    ///   - body: Gets each entry, and why an export would leave it out.
    /// - Throws: ``MigrationError`` of codes `containerBusy` and `containerInvalid`; `ArchiveError` of codes
    ///   `sourceChanged` and `sourceUnreadable`; errors of `body`; `CancellationError`.
    @concurrent
    package func list(
        _ container: MigrationDataContainer,
        includesCaches: Bool,
        _ body: @Sendable (ArchiveEntry, Omission.Reason?) throws -> Void
    ) async throws {
        try await withOperation { operation in
            let lock = try wait(on: operation).lockForReading(container)
            defer { lock.release() }
            try ContainerRecovery.checkBookkeeping(of: lock)
            try ContainerListing.list(
                lock.root,
                selecting: ContainerSelection(includesCaches: includesCaches, exclusions: []),
                on: operation
            ) { _, entry, omission in
                try body(entry, omission)
                return true
            }
        }
    }
}

// MARK: - Archives from other hosts

extension MigrationHost {
    /// Receives an archive from ``ArchiveDestination/remote(_:)``, and gives it its name once it is
    /// complete.
    ///
    /// The part that an interrupted transfer left, with a name that ends in `.partial`, is kept,
    /// and pieces in it that still match aren't sent again. If the archive already exists, the
    /// sender's data must be the same.
    ///
    /// - Parameters:
    ///   - path: The archive's path.
    ///   - replacesExisting: Whether to replace an archive of that name, whatever it holds.
    ///   - input: The number of the descriptor from which the sender is read.
    ///   - output: The number of the descriptor for answers to the sender.
    ///   - settingAside: Gets the new name of a `.partial` file that isn't the beginning of an
    ///     archive; such a file is never removed.
    /// - Returns: The received archive. The caller answers the sender.
    /// - Throws: ``MigrationError`` of code `commandFailed` if the sender ended too early, and of codes
    ///   `archiveBusy`, `outputExists` and `outputFailed`; `ArchiveError` of codes `outOfSpace` and
    ///   `outputFailed`, and those of damage; `CancellationError`.
    @concurrent
    package func receive(
        _ path: BytePath,
        replacesExisting: Bool,
        from input: Int32,
        to output: Int32,
        settingAside: @escaping @Sendable (BytePath) -> Void = { _ in }
    ) async throws -> ReceivedArchive {
        try await withOperation { operation in
            try ReceiveOperation(
                path: path,
                replacesExisting: replacesExisting,
                input: OpenFile(try FileDescriptor.duplicate(ofNumber: input)),
                output: OpenFile(try FileDescriptor.duplicate(ofNumber: output)),
                settingAside: settingAside,
                operation: operation
            ).run()
        }
    }
}

// MARK: - Apps in a container

extension MigrationHost {
    /// Replaces this process with an app that runs `command` while no migration uses the container.
    ///
    /// The app inherits the container's shared lock. The lock ends with the app and its child
    /// processes, so no migration starts before then. The environment tells the app its container.
    ///
    /// - Throws: ``MigrationError`` of code `containerBusy` if a migration is still running after
    /// ``waitLimit``, or if an interrupted one waits for other processes to release the container;
    ///   ``SystemError`` if the command can't be run. The method returns only by throwing.
    package func execute(
        _ command: [[UInt8]],
        in container: MigrationDataContainer
    ) throws -> Never {
        let lock = try lockWhole(container)
        try lock.directory.descriptor.passToSuccessor()
        try ProcessReplacement.execute(command, settingVariable: Self.assignment(of: container))
    }

    /// Starts an app that runs `command`, as ``execute(_:in:)`` does, as a child of this process.
    package func start(
        _ command: [[UInt8]],
        in container: MigrationDataContainer,
        signals: ForegroundProcess.Signals
    ) throws -> ForegroundProcess {
        let lock = try lockWhole(container)
        try lock.directory.descriptor.passToSuccessor()
        return try ForegroundProcess.start(
            command,
            settingVariable: Self.assignment(of: container),
            signals: signals
        )
    }

    private func lockWhole(_ container: MigrationDataContainer) throws -> ContainerLock {
        let place = container.place
        let waiting = wait(on: MigrationOperation())
        return try waiting.untilFree(place.path) { () throws(MigrationError) in
            try ContainerRecovery.lockWhole(place, for: .app)
        }
    }

    private static func assignment(of container: MigrationDataContainer) -> [UInt8] {
        [UInt8](utf8: containerVariable + "=") + container.rootPath.bytes
    }
}

// MARK: - Interrupted imports

extension MigrationHost {
    /// Finishes an interrupted import, or gives it up.
    ///
    /// Every export and import does the same before it begins; this method also reports the
    /// outcome. It gives up an import only on request.
    ///
    /// - Parameters:
    ///   - container: The container, which must not be in use.
    ///   - discards: Whether to give up an import that can't be finished, or bookkeeping that can't
    ///     be understood. Old data is moved back if nothing else has its name. All other data is
    ///     kept in the directories `.migration-kept-1` and so on in the container.
    /// - Returns: What was done, and where data was kept.
    /// - Throws: ``MigrationError`` of code `containerBusy` if someone uses the container, and of
    ///   code `containerInvalid` if the import can only be given up.
    public func recover(
        _ container: MigrationDataContainer,
        discards: Bool = false
    ) throws(MigrationError) -> RecoveryReport {
        try ContainerRecovery.recover(container, discards: discards)
    }
}
