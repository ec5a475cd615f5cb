internal import MigrationArchive
internal import MigrationSystem

/// Finds what is not selected but has further names that are.
struct LinkTargetSearch {
    /// The hard links in a row that are followed; each takes a look at the whole archive.
    private static let depthLimit = 8
    /// The bytes that are kept in memory.
    private static let byteLimit = 16 << 20
    /// About the bytes that a path takes besides its own.
    private static let pathOverhead = 128

    private let selection: [EntryPath]
    private let cancellation: CancellationFlag
    private var depth = 0
    private var byteCount = 0

    /// What was found so far.
    private(set) var targets: Set<EntryPath> = []

    /// Whether the last look found something, which may itself be a hard link to something else.
    private(set) var hasGrown = false

    init(for selection: [EntryPath], cancellation: CancellationFlag) {
        self.selection = selection
        self.cancellation = cancellation
    }

    /// Looks at the entries of `reader` once.
    mutating func scan(_ reader: ArchiveReader) throws {
        let known = targets
        while let entry = try reader.next() {
            try cancellation.check()
            guard case .hardLink(let target) = entry.kind, !isSelected(target),
                isSelected(entry.path) || known.contains(entry.path)
            else { continue }
            try add(target, of: entry.path)
        }
        hasGrown = targets.count > known.count
        depth += 1
    }

    private func isSelected(_ path: EntryPath) -> Bool {
        selection.contains(where: path.isEqual(toOrBelow:))
    }

    private mutating func add(_ target: EntryPath, of path: EntryPath) throws(ArchiveError) {
        guard targets.insert(target).inserted else { return }
        byteCount += target.bytes.count + Self.pathOverhead
        guard depth <= Self.depthLimit, byteCount <= Self.byteLimit else {
            let message = "too many hard links to follow to what is not selected"
            throw ArchiveError(.refused, message, entry: path)
        }
    }
}
