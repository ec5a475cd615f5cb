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
        var search = LinkTargetSearch(for: search, on: operation)
        repeat {
            let scan =
                try isConfined
                ? reader : ArchiveReader(source.open(operation.alone), access: .selective)
            try search.scan(scan)
            if isConfined { _ = try reader.select(paths + search.targets) }
        } while search.hasGrown
        return search.targets
    }

    private func restore(
        _ reader: ArchiveReader,
        linkTargets: Set<EntryPath>,
        into root: OpenFile
    ) throws -> ImportReport {
        let staging = try makeStaging(in: root)
        // Best effort; the caller needs the first error.
        var isMovedIn = false
        defer { if !isMovedIn { try? root.descriptor.removeTree(StagedPlacement.stagingName) } }
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
        try moveIn(staging, to: root)
        isMovedIn = true
        return ImportReport(of: reader, restoredBy: extractor, totals: extractor.tally.totals)
    }

    private func makeStaging(in root: OpenFile) throws(MigrationError) -> OpenFile {
        do throws(SystemError) {
            try StagingDirectory.removeLeftover(StagedPlacement.stagingName, in: root)
            try root.descriptor.makeDirectory(StagedPlacement.stagingName, permissions: 0o700)
            do {
                return try openStaging(in: root)
            } catch {
                // Best effort; the caller needs the first error.
                if !error.isBusy {
                    try? root.descriptor.removeDirectory(StagedPlacement.stagingName)
                }
                throw error
            }
        } catch {
            if error.isBusy {
                let message = "another extraction into this directory is running"
                throw MigrationError(.containerBusy, message, path: directory)
            }
            let code: MigrationError.Code = error.isOutOfSpace ? .outOfSpace : .outputFailed
            throw MigrationError(code, "can't be written to", path: directory, cause: error)
        }
    }

    private func openStaging(in root: OpenFile) throws(SystemError) -> OpenFile {
        let staging = OpenFile(try root.descriptor.open(StagedPlacement.stagingName, .directory))
        try staging.descriptor.lock(.exclusive)
        // Another extraction may have removed it as a leftover before it was locked.
        let named = try root.descriptor.status(of: StagedPlacement.stagingName).identity
        guard try staging.descriptor.status().identity == named else { throw .busy }
        return staging
    }

    /// Moves all restored items to their destinations.
    private func moveIn(_ staging: OpenFile, to root: OpenFile) throws {
        let placement = StagedPlacement(
            of: staging,
            in: root,
            called: directory,
            policy: policy,
            on: operation
        )
        try placement.run()
        do throws(SystemError) {
            try root.descriptor.removeTree(StagedPlacement.stagingName)
        } catch {
            placement.undo()
            let message = "the temporary directory of the extraction can't be removed"
            let path = directory / StagedPlacement.stagingName
            throw MigrationError(.outputFailed, message, path: path, cause: error)
        }
    }
}

/// Finds unselected files that selected hard links refer to.
private struct LinkTargetSearch {
    /// The longest chain of hard links to follow; each link needs a scan of the whole archive.
    private static let depthLimit = 8
    /// The limit for the bytes of paths in memory.
    private static let byteLimit = 16 << 20
    /// The approximate overhead of a path in memory.
    private static let pathOverhead = 128

    private let search: EntrySearch
    private let operation: MigrationOperation
    private var depth = 0
    private var byteCount = 0

    /// The targets found so far.
    private(set) var targets: Set<EntryPath> = []

    /// Whether the last scan found a target, which may itself be a hard link.
    private(set) var hasGrown = false

    init(for search: EntrySearch, on operation: MigrationOperation) {
        (self.search, self.operation) = (search, operation)
    }

    /// Scans the entries of `reader` once.
    mutating func scan(_ reader: ArchiveReader) throws {
        let known = targets
        while let entry = try reader.next() {
            try operation.check()
            guard case .hardLink(let target) = entry.kind, !isSelected(target),
                isSelected(entry.path) || known.contains(entry.path)
            else { continue }
            try add(target, of: entry.path)
        }
        hasGrown = targets.count > known.count
        depth += 1
    }

    private func isSelected(_ path: EntryPath) -> Bool {
        search.paths.contains(where: path.isEqual(toOrBelow:))
            || search.matches(path, isDirectory: false)
    }

    private mutating func add(_ target: EntryPath, of path: EntryPath) throws(ArchiveError) {
        guard targets.insert(target).inserted else { return }
        byteCount += target.bytes.count + Self.pathOverhead
        guard depth <= Self.depthLimit, byteCount <= Self.byteLimit else {
            let message = "too many hard links to files that are not selected"
            throw ArchiveError(.refused, message, entry: path)
        }
    }
}
