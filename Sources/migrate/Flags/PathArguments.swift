internal import Foundation
internal import MigrationCore
internal import MigrationReports
internal import MigrationSystem

/// The entries that a command line names, each with everything below it.
struct PathArguments: FlagGroup {
    private var named: [EntryPath] = []
    private(set) var patterns: [PathPattern] = []
    /// The words that name entries of a stream; they may be names in printed form.
    private var printed: [EntryPath] = []

    static let topic: FlagTopic? = .archive

    static let pattern = Flag<Self>(
        "glob",
        value: "pattern",
        as: .pathPattern,
        appendingTo: \.patterns
    )
    .help(
        "Entries that match the pattern, such as '*.jpg' or 'Documents/**/*.pdf', with everything "
            + "below them; may be repeated."
    )

    static var flags: [Flag<Self>] {
        Flag("path-base64", value: "base64", as: .encodedEntryPath, appendingTo: \.named)
            .help(
                "An entry by its 'pathBase64' in JSON, for a name that is no text; may be repeated."
            )
    }

    /// The words that name entries, for a command that keeps them at `path`.
    static func argument<Owner>(at path: Property<Owner, Self>) -> Argument<Owner> {
        Argument("path", count: .any, as: .entryPath) { $0[keyPath: path].named.append($1) }
            .help("An entry, with everything below it; without any, all entries.")
    }

    /// Removes the first word, which names something other than an entry.
    mutating func takeFirst() -> BytePath {
        let path = named.removeFirst()
        return path.bytes.isEmpty ? "." : BytePath(path.bytes)
    }

    /// The entries; none means all.
    var paths: [EntryPath] { named.contains(EntryPath("")) ? [] : named }

    /// The same, with the paths as the archive has them.
    ///
    /// A word that isn't the path of an entry may be a path as it is printed, with escapes. In a stream,
    /// ``names()`` looks for these words.
    func resolved(in source: ArchiveSource, called name: ArchiveName) async throws -> PathArguments
    {
        let printed = named.filter { PrintableText.unescaping($0.bytes) != nil }
        guard !printed.isEmpty else { return self }
        var resolved = self
        guard !name.isStream,
            try FileDescriptor.statusIfPresent(atPath: name.path)?.kind == .regular
        else {
            resolved.named.removeAll { printed.contains($0) }
            resolved.printed = printed
            return resolved
        }
        let exact: Set<EntryPath>
        do {
            exact = try await source.paths(among: printed)
        } catch is ArchiveError {
            // The command reads the archive too, and reports what is wrong with it.
            return self
        }
        resolved.named = named.map { path in
            guard !exact.contains(path), let bytes = PrintableText.unescaping(path.bytes) else {
                return path
            }
            return EntryPath(bytes: bytes)
        }
        return resolved
    }

    /// Makes a search for the entries.
    func search() -> PathSearch { PathSearch(paths, patterns, names()) }

    /// Makes a search for the entries of a stream whose names may be in printed form.
    func names() -> PrintedNameSearch { PrintedNameSearch(printed) }

    /// The entries that a reader can look up; none means all.
    var guidingPaths: [EntryPath] { patterns.isEmpty && printed.isEmpty ? paths : [] }

    /// Whether a name may be in printed form.
    var hasPrintedNames: Bool { !printed.isEmpty }

    /// The word that names the only entry.
    var onlyName: EntryPath { (named + printed)[0] }
}

/// A search for entries by paths and patterns, which finds out if one is missing.
final class PathSearch: Sendable {
    private let paths: [EntryPath]
    private let missing: Monitor<Set<EntryPath>>
    private let patterns: PatternSearch
    private let names: PrintedNameSearch

    fileprivate init(
        _ paths: [EntryPath],
        _ patterns: [PathPattern],
        _ names: PrintedNameSearch
    ) {
        self.paths = paths
        self.names = names
        self.patterns = PatternSearch(patterns)
        missing = Monitor(Set(paths))
    }

    /// Whether `entry` is one of them or lies below one.
    func finds(_ entry: ArchiveEntry) -> Bool {
        if paths.isEmpty, patterns.isEmpty, names.isEmpty { return true }
        let path = entry.path
        let isMatched = patterns.finds(path, isDirectory: entry.kind == .directory)
        let found = paths.filter(path.isEqual(toOrBelow:))
        if !found.isEmpty { missing.withLock { $0.subtract(found) } }
        return names.finds(path) || isMatched || !found.isEmpty
    }

    /// Throws if nothing was found at one of the paths.
    func checkCompleteness() throws(ArchiveError) {
        try patterns.checkCompleteness()
        try names.checkCompleteness()
        let missing = missing.withLock { $0 }
        guard let path = paths.first(where: missing.contains) else { return }
        throw ArchiveError(.notFound, "the archive has no such entry", entry: path)
    }
}

extension ValueReader where Value == EntryPath {
    /// A path as people type it: `./Documents/` is `Documents`, and `.` is everything.
    fileprivate static var entryPath: Self {
        ValueReader<BytePath>.path.map { path in
            let (dot, slash) = (UInt8(ascii: "."), UInt8(ascii: "/"))
            var rest = path.trimmed.bytes[...]
            while rest.starts(with: [dot, slash]) { rest = rest.dropFirst(2).drop { $0 == slash } }
            return EntryPath(bytes: rest.elementsEqual([dot]) ? [] : Array(rest))
        }
    }

    /// A path in Base64, taken as it is.
    fileprivate static var encodedEntryPath: Self {
        ValueReader<String>.text.map { (text) throws(ValueError) in
            guard let path = Data(base64Encoded: text), !path.isEmpty else {
                throw .invalid("is not the Base64 form of a path")
            }
            return EntryPath(bytes: [UInt8](path))
        }
    }
}

extension ValueReader where Value == PathPattern {
    /// A pattern for paths.
    static var pathPattern: Self {
        ValueReader<String>.text.map { (pattern) throws(ValueError) in
            do throws(MigrationError) {
                return try PathPattern(pattern)
            } catch {
                throw .refused("\(error)")
            }
        }
    }
}
