internal import MigrationArchive
internal import MigrationSystem

/// A search in a stream for entries by their exact names or, if there is no such entry, by their printed names.
///
/// A stream is read once, so the first entry that is found decides. If an exact match follows a match by
/// printed name, the search fails.
final class PrintedNameSearch: Sendable {
    private struct Name {
        let exact: EntryPath
        /// The name whose printed form is the requested one.
        let twin: EntryPath
        /// The name that was found.
        var found: EntryPath?
        var isAmbiguous = false
    }

    private let names: Monitor<[Name]>

    /// Makes a search for those of `names` that can be printed forms.
    init(_ names: [EntryPath]) {
        self.names = Monitor(
            names.compactMap { name in
                PrintableText.unescaping(name.bytes).map {
                    Name(exact: name, twin: EntryPath(bytes: $0))
                }
            }
        )
    }

    /// Whether the entry at `path` has one of these names, or is below one.
    func finds(_ path: EntryPath) -> Bool {
        names.withLock { names in
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
    }

    /// Whether `path` is itself a name that was found.
    func hasFound(_ path: EntryPath) -> Bool {
        names.withLock { $0.contains { $0.found == path } }
    }

    /// Throws if a printed name matched before the exact name came and, unless `isPartial`, if a name was not
    /// found.
    func checkCompleteness(isPartial: Bool = false) throws(ArchiveError) {
        let names = names.withLock { $0 }
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
