package import MigrationArchive
internal import MigrationSystem

/// The entries of an archive that a person chooses, each with everything below it; none means all.
package struct EntrySelection: Sendable {
    /// The words that name entries by their paths.
    package var named: [EntryPath] = []

    /// The patterns for further entries.
    package var patterns: [PathPattern] = []

    /// The words that name entries of a stream; they may be names in printed form.
    package private(set) var printed: [EntryPath] = []

    /// Makes a selection of all entries.
    package init() {}

    init(_ named: [EntryPath]) { self.named = named }

    /// The paths of entries; none means all, as does the root.
    package var paths: [EntryPath] { named.contains(EntryPath("")) ? [] : named }

    /// The entries that a reader can look up; none means all.
    package var guidingPaths: [EntryPath] { patterns.isEmpty && printed.isEmpty ? paths : [] }

    /// Whether all entries are chosen.
    var isWhole: Bool { paths.isEmpty && patterns.isEmpty && printed.isEmpty }

    /// The same selection, with the paths as the archive has them.
    ///
    /// A word that isn't the path of an entry may be a path as it is printed, with escapes. In a stream, a
    /// search looks for these words.
    package func resolved(in source: ArchiveSource) async throws -> EntrySelection {
        var resolved = self
        resolved.named = paths
        let printed = paths.filter { PrintableText.unescaping($0.bytes) != nil }
        guard !printed.isEmpty else { return resolved }
        guard let file = source.path,
            try FileDescriptor.statusIfPresent(atPath: file)?.kind == .regular
        else {
            resolved.named.removeAll { printed.contains($0) }
            resolved.printed = printed
            return resolved
        }
        let exact: Set<EntryPath>
        do {
            exact = try await source.paths(among: printed)
        } catch is ArchiveError {
            // The archive is read again for its entries, and that reports what is wrong with it.
            return resolved
        }
        resolved.named = paths.map { path in
            guard !exact.contains(path), let bytes = PrintableText.unescaping(path.bytes) else {
                return path
            }
            return EntryPath(bytes: bytes)
        }
        return resolved
    }
}

extension ArchiveSource {
    /// The paths among `paths` at which, or below which, an archive in a file has entries.
    @concurrent
    fileprivate func paths(among paths: [EntryPath]) async throws -> Set<EntryPath> {
        try await withOperation(threadCount: 1) { operation in
            let reader = try ArchiveReader(open(operation), at: paths, orAllBy: .selective)
            var found: Set<EntryPath> = []
            while found.count < paths.count, let entry = try reader.next() {
                try operation.check()
                found.formUnion(paths.filter(entry.path.isEqual(toOrBelow:)))
            }
            return found
        }
    }
}

/// A search for the entries of a selection, which finds out if one is missing.
package final class EntrySearch: Sendable {
    let selection: EntrySelection
    let patterns: PatternSearch
    private let names: PrintedNameSearch
    private let paths: [EntryPath]
    private let missing: Monitor<Set<EntryPath>>
    private let isWhole: Bool

    package init(_ selection: EntrySelection) {
        self.selection = selection
        patterns = PatternSearch(selection.patterns)
        names = PrintedNameSearch(selection.printed)
        (paths, isWhole) = (selection.paths, selection.isWhole)
        missing = Monitor(Set(paths))
    }

    /// Whether `entry` is chosen.
    package func finds(_ entry: ArchiveEntry) -> Bool {
        if isWhole { return true }
        let isMatched = matches(entry.path, isDirectory: entry.kind == .directory)
        let found = paths.filter(entry.path.isEqual(toOrBelow:))
        if !found.isEmpty { missing.withLock { $0.subtract(found) } }
        return isMatched || !found.isEmpty
    }

    /// Whether a pattern or a printed name finds the entry at `path`.
    @Sendable
    func matches(_ path: EntryPath, isDirectory: Bool) -> Bool {
        let isMatched = patterns.finds(path, isDirectory: isDirectory)
        return names.finds(path) || isMatched
    }

    /// Throws if nothing was found at a path, for a pattern or by a printed name.
    package func checkCompleteness() throws(ArchiveError) {
        try checkMatches(isPartial: false)
        let missing = missing.withLock { $0 }
        guard let path = paths.first(where: missing.contains) else { return }
        throw ArchiveError(.notFound, "the archive has no such entry", entry: path)
    }

    /// Throws if a printed name is ambiguous and, unless `isPartial`, if a pattern or name found nothing.
    func checkMatches(isPartial: Bool) throws(ArchiveError) {
        if !isPartial { try patterns.checkCompleteness() }
        try names.checkCompleteness(isPartial: isPartial)
    }
}
