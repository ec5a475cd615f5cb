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

// MARK: - Searching

/// A search for the entries of a selection, which finds out if one is missing.
package final class EntrySearch: Sendable {
    private struct State {
        var missing: Set<EntryPath>
        /// The indices of the patterns that matched nothing.
        var unmatched: Set<Int>
        var names: PrintedNames
    }

    let selection: EntrySelection
    /// Whether all entries are chosen.
    let isWhole: Bool
    let paths: [EntryPath]
    private let state: Monitor<State>

    package init(_ selection: EntrySelection) {
        self.selection = selection
        (paths, isWhole) = (selection.paths, selection.isWhole)
        state = Monitor(
            State(
                missing: Set(paths),
                unmatched: Set(selection.patterns.indices),
                names: PrintedNames(selection.printed)
            )
        )
    }

    /// Whether `entry` is chosen.
    package func finds(_ entry: ArchiveEntry) -> Bool {
        finds(entry.path, isDirectory: entry.kind == .directory)
    }

    /// Whether the entry at `path` is chosen.
    func finds(_ path: EntryPath, isDirectory: Bool) -> Bool {
        if isWhole { return true }
        let isMatched = matches(path, isDirectory: isDirectory)
        let found = paths.filter(path.isEqual(toOrBelow:))
        if !found.isEmpty { state.withLock { $0.missing.subtract(found) } }
        return isMatched || !found.isEmpty
    }

    /// Whether a pattern or a printed name finds the entry at `path`.
    @Sendable
    func matches(_ path: EntryPath, isDirectory: Bool) -> Bool {
        let found = selection.patterns.indices.filter {
            selection.patterns[$0].matches(path.bytes, isDirectory: isDirectory, orAbove: true)
        }
        if found.isEmpty, selection.printed.isEmpty { return false }
        return state.withLock { state in
            state.unmatched.subtract(found)
            return state.names.finds(path) || !found.isEmpty
        }
    }

    /// Whether chosen entries may be below the directory at `path`.
    func mayFind(below path: EntryPath) -> Bool {
        !selection.patterns.isEmpty || !selection.printed.isEmpty
            || paths.contains { $0.isEqual(toOrBelow: path) }
    }

    /// Throws if nothing was found at a path, for a pattern or by a printed name.
    package func checkCompleteness(
        _ message: String = "the archive has no such entry"
    ) throws(ArchiveError) {
        try checkMatches(isPartial: false)
        let missing = state.withLock { $0.missing }
        guard let path = paths.first(where: missing.contains) else { return }
        throw ArchiveError(.notFound, message, entry: path)
    }

    /// Throws if a printed name is ambiguous and, unless `isPartial`, if a pattern or name found nothing.
    func checkMatches(isPartial: Bool) throws(ArchiveError) {
        let state = state.withLock { $0 }
        if !isPartial, let index = state.unmatched.min() {
            let pattern = PrintableText.escaping(selection.patterns[index].description)
            throw ArchiveError(.notFound, "the archive has no entry that matches '\(pattern)'")
        }
        try state.names.checkCompleteness(isPartial: isPartial)
    }
}

/// Searches a stream for entries by name; a name that no entry has may be one as it is printed, with escapes.
///
/// A stream is read once, so the first entry that is found decides. If an exact match follows a match by
/// printed name, the search fails.
struct PrintedNames: Sendable {
    private struct Name {
        let exact: EntryPath
        /// The name whose printed form is the requested one.
        let twin: EntryPath
        /// The name that was found.
        var found: EntryPath?
        var isAmbiguous = false
    }

    private var names: [Name]

    /// Makes a search for those of `names` that can be printed forms.
    init(_ names: [EntryPath]) {
        self.names = names.compactMap { name in
            PrintableText.unescaping(name.bytes).map {
                Name(exact: name, twin: EntryPath(bytes: $0))
            }
        }
    }

    /// Whether the entry at `path` has one of these names, or is below one.
    mutating func finds(_ path: EntryPath) -> Bool {
        var isFound = false
        for index in names.indices {
            for form in [names[index].exact, names[index].twin]
            where path.isEqual(toOrBelow: form) {
                if names[index].found == nil { names[index].found = form }
                if names[index].found == form {
                    isFound = true
                } else if form == names[index].exact {
                    names[index].isAmbiguous = true
                }
            }
        }
        return isFound
    }

    /// Whether `path` is itself a name that was found.
    func hasFound(_ path: EntryPath) -> Bool { names.contains { $0.found == path } }

    /// Throws if a printed name matched before the exact name came and, unless `isPartial`, if a name was not
    /// found.
    func checkCompleteness(isPartial: Bool = false) throws(ArchiveError) {
        if let name = names.first(where: \.isAmbiguous) {
            let message =
                "comes behind an entry whose name is printed like this: read the archive from a file, "
                + "where the exact name is taken"
            throw ArchiveError(.refused, message, entry: name.exact)
        }
        guard !isPartial, let name = names.first(where: { $0.found == nil }) else { return }
        throw ArchiveError(.notFound, "the archive has no such entry", entry: name.exact)
    }
}
