package import MigrationSystem

/// Restores entries beneath a directory, each relative to its parent's descriptor and never through a link.
///
/// Directories are made as they come, open to their owner alone, and the files in them by several
/// threads behind; links follow when all files are there, and the modes and times of directories last
/// of all, the deepest first.
package final class ArchiveExtractor {
    /// What is done with links that lead out of the directory.
    package enum ExternalLinks: Sendable {
        case refuse, keep, skip
    }

    /// What is restored, and how.
    package struct Options: Sendable {
        /// What becomes of links that lead out.
        package var externalLinks = ExternalLinks.refuse
        /// Whether a path may come twice and parents may be missing, as in other programs' tar files.
        package var isLenient = false
        /// The paths to restore with everything below them; all where there are none.
        package var selection: [EntryPath] = []
        /// What is not selected but has further names that are: it is restored too, and then removed.
        package var linkTargets: Set<EntryPath> = []
        /// Names that are left out with everything below them, because they belong to the place.
        package var leftOut: [EntryPath] = []
        /// The bytes of content that there may be at most.
        package var byteLimit = UInt64.max
        /// Whose all of it is; `nil` for this process's own user.
        package var owner: FileOwner?

        package init() {}
    }

    let options: Options
    let cursor: DirectoryCursor<any RestoredDirectory>
    let mode: NewFileMode
    /// Whether files are made at all.
    private let makesFiles: Bool
    let links: RecordSpool
    let directories: RecordSpool
    var redeclared = PathHashes(of: "directories that come twice")
    var finished = PathHashes(of: "directories that come twice")
    private var found: Set<EntryPath> = []
    /// What was restored only for its further names.
    private(set) var foundTargets = PathHashes(of: "files that hard links lead to")
    /// The threads that make files, while there are any.
    private(set) var writers: FileWriters?
    /// The directory of the last entry, which is mostly that of the next one.
    var lastParent: (path: ArraySlice<UInt8>, directory: any RestoredDirectory)?
    /// Whether the file system takes names for the same that differ, once that was tried.
    var folding: NameFolding?
    /// The directories made so far, kept where another name could lead to one of them.
    var madeDirectories = PathHashes(of: "directories where names fold")
    var skippedLinks = PathHashes(of: "links that lead out")
    /// The bytes of the files restored so far that no archive holds, because they are holes.
    var holeBytes: UInt64 = 0
    /// The bytes of all files restored so far.
    var claimedBytes: UInt64 = 0
    /// The files that are counted by the first of their selected names.
    var countedFiles: Set<FileStatus.Identity> = []
    /// What marks the links that stand for those which are made later; no archive knows it.
    let reservation = ByteString(utf8: "/\(UInt64.random(in: 0...UInt64.max))")

    /// The bytes that all holes may have together.
    static let holeLimit: UInt64 = 32 << 30

    /// How much was restored so far.
    package internal(set) var totals = ArchiveTotals()

    /// What of the restored entries was left out.
    package private(set) var drops: [EntryDrop] = []

    /// How many things were left out; the first ones are in ``drops``.
    package private(set) var dropCount = 0

    /// The bytes of the paths and names in ``drops``.
    private var dropBytes = 0
    private static let dropBytesLimit = 1 << 20

    /// Restores beneath `root`.
    package convenience init(root: consuming FileDescriptor, options: Options) {
        let root = OpenFile(root)
        let mode = NewFileMode(in: root.descriptor, owner: options.owner)
        self.init(root: root, mode: mode, options: options) {
            () throws(SystemError) in try root.descriptor.openTemporary()
        }
    }

    /// Judges entries as they are judged when they are restored, and makes nothing of them.
    ///
    /// What of that does not fit into memory is kept in files that `makeFile` makes.
    package convenience init(
        restoringNothing options: Options,
        makeFile: @escaping () throws(SystemError) -> FileDescriptor
    ) {
        let tree = TreeAccount(makeFile: makeFile)
        self.init(root: tree.root, mode: nil, options: options, makeFile: makeFile)
        folding = .absent
    }

    private init(
        root: any RestoredDirectory,
        mode: NewFileMode?,
        options: Options,
        makeFile: @escaping () throws(SystemError) -> FileDescriptor
    ) {
        self.options = options
        self.mode = mode ?? NewFileMode()
        makesFiles = mode != nil
        cursor = DirectoryCursor(restoringIn: root)
        links = RecordSpool(makeFile: makeFile)
        directories = RecordSpool(makeFile: makeFile)
    }

    /// Restores what `reader` holds, and proves that it was all of it.
    package func extract(from reader: ArchiveReader, onProgress: (UInt64) -> Void) throws {
        writers = makeWriters(for: reader)
        defer {
            endWriters()
            links.close()
            directories.close()
        }
        try takeLeftOutNames()
        do {
            try restoreEntries(of: reader, onProgress)
        } catch {
            // What was handed to the writers comes before, and so do its failures.
            try settleFiles()
            throw error
        }
        try settleFiles()
        try makeDeferredLinks(reader.cancellation)
        try removeLinkTargets()
        try freeLeftOutNames()
        try checkEnds(reader.cancellation)
        try finishDirectories()
    }

    /// Makes the writers, unless no file is made, one thread is all there is, or a later entry may
    /// replace an earlier one.
    private func makeWriters(for reader: ArchiveReader) -> FileWriters? {
        guard makesFiles, !options.isLenient, reader.threadCount > 1 else { return nil }
        // Where the system gives no more threads, this one writes.
        return try? FileWriters(
            threadCount: reader.threadCount,
            mode: mode,
            cancellation: reader.cancellation
        )
    }

    private func endWriters() {
        writers?.close()
        writers = nil
    }

    /// Waits until every file is there whose entry has come.
    func settleFiles() throws { try writers?.settle() }

    private func restoreEntries(of reader: ArchiveReader, _ onProgress: (UInt64) -> Void) throws {
        while let entry = try reader.next() {
            noteDrops(of: reader)
            if options.leftOut.contains(where: entry.path.isEqual(toOrBelow:)) {
                note(EntryDrop(path: entry.path, kind: .reserved))
            } else if isSelected(entry.path) {
                try restore(entry, from: reader)
            } else if options.linkTargets.contains(entry.path) {
                try foundTargets.insert(entry.path)
                try restore(entry, from: reader)
            }
            onProgress(reader.consumedBytes)
        }
        noteDrops(of: reader)
        if let missing = options.selection.first(where: { !found.contains($0) }) {
            throw ArchiveError(.notFound, "the archive has no such entry", entry: missing)
        }
    }

    func isSelected(_ path: EntryPath) -> Bool {
        if options.selection.isEmpty { return true }
        var isSelected = false
        for selected in options.selection where path.isEqual(toOrBelow: selected) {
            found.insert(selected)
            isSelected = true
        }
        return isSelected
    }

    /// Counts what was restored, unless it is there only for its further names.
    func count(_ entry: ArchiveEntry) {
        if !options.linkTargets.contains(entry.path) { totals.count(entry) }
    }

    /// Takes back the count of what had the name of the entry at `path`, which replaces it.
    func discount(_ status: FileStatus, replacedBy path: EntryPath, wasCounted: Bool) {
        guard !options.linkTargets.contains(path) else { return }
        let isFurtherName = status.linkCount > 1 && totals.hardLinks > 0 && !wasCounted
        switch status.kind {
        case .regular where isFurtherName, .symbolicLink where isFurtherName:
            totals.hardLinks -= 1
        case .regular where totals.files > 0:
            totals.files -= 1
            totals.contentBytes -= min(totals.contentBytes, status.size)
        case .symbolicLink where totals.symbolicLinks > 0: totals.symbolicLinks -= 1
        default: break
        }
    }

    /// Notes what was read and can't be restored, of entries that somebody asked for.
    private func noteDrops(of reader: ArchiveReader) {
        for drop in reader.takeDrops()
        where isSelected(drop.path) || options.linkTargets.contains(drop.path) { note(drop) }
    }

    func note(_ drop: EntryDrop) {
        dropCount += 1
        // The first ones without a gap: what comes behind one that has no room is only counted.
        guard drops.count == dropCount - 1, drops.count < 1_000 else { return }
        guard drop.byteCount <= Self.dropBytesLimit - dropBytes else { return }
        dropBytes += drop.byteCount
        drops.append(drop)
    }

    private func restore(_ entry: ArchiveEntry, from reader: ArchiveReader) throws {
        do {
            guard options.isLenient || !skippedLinks.contains(entry.path) else {
                throw ArchiveError(.entryExists, "the path was there already", entry: entry.path)
            }
            switch entry.kind {
            case .file: try restoreFile(entry, from: reader)
            case .directory: try restoreDirectory(entry)
            case .symbolicLink(let target):
                try deferLink(entry, .symbolic, to: target, at: reader.entryOffset)
            case .hardLink(let target):
                try restoreHardLink(entry, to: target, at: reader.entryOffset)
            }
        } catch {
            throw Self.located(error, restoring: entry.path, at: reader.entryOffset)
        }
    }

    /// Names the entry at `path` and its `offset` in an error that does not do so itself.
    static func located(
        _ error: any Error,
        restoring path: EntryPath,
        at offset: UInt64
    ) -> any Error {
        switch error {
        case let error as SystemError: ArchiveError(error, restoring: path).located(at: offset)
        case let error as ArchiveError: error.about(path).located(at: offset)
        default: error
        }
    }
}
