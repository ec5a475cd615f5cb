internal import Foundation
public import MigrationArchive
internal import MigrationContainers
internal import MigrationSystem

/// The effects that an import would have.
public struct ImportPreview: Sendable {
    /// The report that the import would give.
    public let report: ImportReport

    /// The bytes that the import needs beside the container, before data there is replaced.
    public let neededBytes: UInt64

    /// The bytes that are free there.
    public let availableBytes: UInt64

    /// How much the import would replace; `nil` if the container holds no data, or is missing.
    ///
    /// The import replaces the whole container, temporary files and caches too.
    public var replacedTotals: ArchiveTotals? { report.replaced?.totals }
}

extension ImportOperation {
    /// Reads the archive as an import does, and restores nothing.
    func preview() throws -> ImportPreview {
        do {
            let preview = try readArchive()
            try source.command?.finish(operation)
            return preview
        } catch {
            throw explained(error)
        }
    }

    private func readArchive() throws -> ImportPreview {
        let kept = try keptContainer()
        let isMissing = try isContainerMissing()
        let available = try availableSpace(isMissing: isMissing)
        let replaced = try isMissing ? nil : dataOfContainer()
        let input = try source.open(operation)
        operation.progress?.setTotal(Int64(clamping: input.size ?? 0))
        let reader = try openReader(input)
        if replaced != nil { try checkReplacedApp(by: reader.header) }
        try checkSpace(for: reader, available: available)
        let extractor = try read(reader, available: available)
        try checkRestored(extractor, from: reader, replacesData: replaced != nil)
        // The size of a pipe's content is known only now.
        try checkSpace(for: reader, available: available)
        operation.progress?.finish()
        let totals = extractor.totals(by: reader)
        var report = ImportReport(of: reader, restoredBy: extractor, totals: totals)
        report.replaced = replaced
        report.keptPath = replaced == nil ? nil : kept?.path.bytes
        return ImportPreview(
            report: report,
            neededBytes: totals.dataBytes,
            availableBytes: available
        )
    }

    /// Counts what the container holds; `nil` if it holds no data.
    private func dataOfContainer() throws -> ReplacedData? {
        let lock = try wait.lockForReading(container)
        defer { lock.release() }
        try ContainerRecovery.checkBookkeeping(of: lock)
        try checkStagingIsFree(lock)
        guard try holdsReplaceableData(lock.root) else { return nil }
        return try ReplacedData(in: lock.root, on: operation)
    }

    /// The free space where the import would write; this user must be allowed to write there.
    private func availableSpace(isMissing: Bool) throws -> UInt64 {
        do throws(SystemError) {
            // A new bundle is made as a whole.
            let outer = container.place.path
            let isNew = try FileDescriptor.statusIfPresent(atPath: outer) == nil
            let parent = isNew ? outer.parent : path.parent
            let place = try FileDescriptor.open(isMissing ? parent : path, .directory)
            try place.checkIsWritable()
            return try place.availableSpace()
        } catch {
            let message =
                isMissing ? "the container can't be made" : "the container can't be written"
            throw MigrationError(.outputFailed, message, path: path, cause: error)
        }
    }

    private func read(_ reader: ArchiveReader, available: UInt64) throws -> ArchiveExtractor {
        var extraction = ArchiveExtractor.Options(treating: options.externalLinks)
        extraction.isLenient = reader.header == nil
        if reader.header == nil { extraction.byteLimit = available }
        extraction.extraMetadata = options.extraMetadata
        extraction.requiresTimes = options.isStrict
        // If this user may not make files there, the import reports it.
        extraction.times = try? StorableTimes(
            in: FileDescriptor.open(container.place.path.parent, .directory)
        )
        extraction.entryHandler = options.entryHandler
        let extractor = ArchiveExtractor(restoringNothing: extraction)
        try extractor.extract(reader)
        return extractor
    }
}
