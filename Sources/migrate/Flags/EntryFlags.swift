internal import Foundation
internal import MigrationCore
internal import MigrationReports
internal import MigrationSystem

extension EntrySelection: FlagGroup {
    static var topic: FlagTopic? { .archive }

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
                "An entry by its 'pathBase64' in JSON, for a name that isn't text; may be repeated."
            )
    }

    /// The words that name entries, for a command that keeps them at `path`.
    static func argument<Owner>(at path: Property<Owner, Self>) -> Argument<Owner> {
        Argument("path", count: .any, as: .entryPath) { $0[keyPath: path].named.append($1) }
            .help("An entry, with everything below it; without any, all entries.")
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
