public import Foundation
public import MigrationArchive
internal import MigrationContainers
internal import MigrationSystem

extension ArchiveSource {
    /// Restores entries in a directory, without the rules of containers.
    ///
    /// Nothing is written outside the directory, and nothing in it is replaced. Entries are
    /// restored in a hidden directory first and moved once they are complete, so a failure leaves
    /// nothing behind.
    ///
    /// - Parameters:
    ///   - directory: The directory; it is made if it is missing.
    ///   - paths: The entries to restore, each with everything below it; an empty list means all.
    ///   - options: How to treat links that lead out, the expected fingerprint, the extra metadata, the map
    ///     of owners, the handler of entries, and the number of threads if all entries are restored; the other options don't apply.
    ///   - progress: Gets the archive's bytes as its total, and how many were read.
    /// - Returns: What was restored, and what was omitted and why.
    /// - Throws: ``MigrationError`` of code `fingerprintMismatch` if the archive is not the expected one;
    ///   `ArchiveError` of code `notFound` for a path that is not in the archive, and of
    ///   the other codes of an import; ``MigrationError`` of code `outputExists` if an item of that
    ///   name exists, of `containerBusy` if another extraction into the directory is running, and
    ///   of codes `invalidOption`, `outOfSpace` and `outputFailed`; `CancellationError`.
    public func extract(
        to directory: URL,
        only paths: [EntryPath] = [],
        options: ImportOptions = ImportOptions(),
        progress: Progress? = nil
    ) async throws -> ImportReport {
        try await extract(
            toPath: BytePath(of: directory),
            selecting: EntrySelection(paths),
            options: options,
            progress: progress
        )
    }

    /// Restores entries in the directory at a path of any bytes.
    @concurrent
    package func extract(
        toPath directory: BytePath,
        selecting selection: EntrySelection = EntrySelection(),
        keepsGoing: Bool = false,
        policy: StagedPlacement.Policy = .separate,
        options: ImportOptions = ImportOptions(),
        progress: Progress? = nil
    ) async throws -> ImportReport {
        try await withOperation(threadCount: options.threadCount, progress: progress) { operation in
            try Extraction(
                source: self,
                directory: directory,
                search: EntrySearch(selection),
                keepsGoing: keepsGoing,
                policy: policy,
                options: options,
                operation: operation
            ).run()
        }
    }
}

/// One extraction: entries restored in a directory of their own, then moved in one by one.
struct Extraction {
    /// The longest chain of hard links to follow; each link needs a scan of the whole archive.
    private static let linkDepthLimit = 8
    /// The limit for the bytes of the paths that links lead to, in memory.
    private static let targetByteLimit = 16 << 20
    /// The approximate overhead of a path in memory.
    private static let pathOverhead = 128

    let source: ArchiveSource
    let directory: BytePath
    let search: EntrySearch
    /// Whether damaged entries are omitted, instead of failing everything.
    let keepsGoing: Bool
    /// The way to treat entries that already exist.
    let policy: StagedPlacement.Policy
    let options: ImportOptions
    let operation: MigrationOperation

    private var selection: EntrySelection { search.selection }

    func run() throws -> ImportReport {
        for path in selection.named {
            guard let violation = path.violation else { continue }
            let message = "no archive can hold such a path: \(violation)"
            throw ArchiveError(.notFound, message, entry: path)
        }
        let isWhole = selection.isWhole && !keepsGoing
        let input = try source.open(isWhole ? operation : operation.alone)
        let reader = try ArchiveReader(
            input,
            access: isWhole ? .whole : .selective,
            toleratingDamage: keepsGoing,
            foreignMetadata: options.extraMetadata
        )
        try options.checkExtraMetadata(of: reader.header, restoredTo: directory)
        // A pipe has no fingerprint before it is read to its end.
        if input.size != nil { try options.expectedFingerprint?.check(reader.fingerprint) }
        let linkTargets =
            input.size == nil || isWhole || keepsGoing || !selection.printed.isEmpty
            ? [] : try select(in: reader)
        operation.progress?.setTotal(Int64(clamping: input.size ?? 0))
        let (root, wasMade) = try openDirectory()
        do {
            return try restore(reader, linkTargets: linkTargets, into: root)
        } catch {
            if wasMade { removeDirectory() }
            throw error
        }
    }

    private func openDirectory() throws(MigrationError) -> (OpenFile, wasMade: Bool) {
        do throws(SystemError) {
            let path = try BytePath(resolving: directory)
            do {
                return (OpenFile(try FileDescriptor.open(path, .directory)), false)
            } catch {
                guard error.isMissing else { throw error }
            }
            try FileDescriptor.open(path.parent, .directory)
                .makeDirectory(path.lastComponent, permissions: 0o755)
            return (OpenFile(try FileDescriptor.open(path, .directory)), true)
        } catch {
            if error.isNotDirectory {
                let message = "it is a file or a link, not a directory"
                throw MigrationError(.outputFailed, message, path: directory)
            }
            let message = "the directory can't be used"
            throw MigrationError(.outputFailed, message, path: directory, cause: error)
        }
    }

    private func removeDirectory() {
        // Best effort; the caller needs the first error.
        guard let path = try? BytePath(resolving: directory) else { return }
        try? FileDescriptor.open(path.parent, .directory).removeDirectory(path.lastComponent)
    }

    /// Limits `reader` to the selection, if it can seek, and finds unselected files that selected
    /// hard links refer to.
    private func select(in reader: ArchiveReader) throws -> Set<EntryPath> {
        let paths = selection.paths
        let isConfined = try selection.patterns.isEmpty && reader.select(paths)
        if reader.totals?.hardLinks == 0 { return [] }
        var targets: Set<EntryPath> = []
        var known: Set<EntryPath> = []
        var (depth, byteCount) = (0, 0)
        repeat {
            known = targets
            let scan =
                try isConfined
                ? reader : ArchiveReader(source.open(operation.alone), access: .selective)
            while let entry = try scan.next() {
                try operation.check()
                // The last scan may have found a target that is itself a hard link.
                guard case .hardLink(let target) = entry.kind, !isSelected(target),
                    isSelected(entry.path) || known.contains(entry.path),
                    targets.insert(target).inserted
                else { continue }
                byteCount += target.bytes.count + Self.pathOverhead
                guard depth <= Self.linkDepthLimit, byteCount <= Self.targetByteLimit else {
                    let message = "too many hard links to files that are not selected"
                    throw ArchiveError(.refused, message, entry: entry.path)
                }
            }
            if isConfined { _ = try reader.select(paths + targets) }
            depth += 1
        } while targets.count > known.count
        return targets
    }

    private func isSelected(_ path: EntryPath) -> Bool {
        search.paths.contains(where: path.isEqual(toOrBelow:))
            || search.matches(path, isDirectory: false)
    }

    private func restore(
        _ reader: ArchiveReader,
        linkTargets: Set<EntryPath>,
        into root: OpenFile
    ) throws -> ImportReport {
        let placement = try StagedPlacement(
            in: root,
            at: directory,
            policy: policy,
            on: operation
        )
        var isMovedIn = false
        defer { if !isMovedIn { placement.discard() } }
        let staging = placement.directory
        var extraction = try ArchiveExtractor.Options(options, for: reader, in: staging)
        extraction.selection = selection.paths
        if !selection.patterns.isEmpty || !selection.printed.isEmpty {
            extraction.selects = search.matches
        }
        if keepsGoing {
            extraction.passesOverDamage = true
            // A link that leads out is omitted like a damaged entry.
            if options.externalLinks == .refuse { extraction.externalLinks = .skip }
        }
        extraction.linkTargets = linkTargets
        let extractor = try ArchiveExtractor.restore(reader, in: staging, options: extraction)
        try options.expectedFingerprint?.check(reader.fingerprint)
        try search.checkMatches(isPartial: extractor.tally.isIncomplete)
        try placement.run()
        isMovedIn = true
        return ImportReport(of: reader, restoredBy: extractor, totals: extractor.tally.totals)
    }
}
