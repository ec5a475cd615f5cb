internal import Foundation
internal import MigrationReports
internal import MigrationSystem
internal import StoreMigration

/// The flags that name the schema a store should have, and describe how to get there.
struct SchemaFlags: FlagGroup {
    /// The old and the new name of a table or column.
    private struct Rename: Sendable {
        let old: String
        let new: String
    }

    private var file: BytePath?
    private var renames: [Rename] = []
    private var drops: [String] = []

    static let topic: FlagTopic? = nil

    static let schema = Flag<Self>("schema", value: "file", as: .path, to: \.file)
        .help("The SQL that makes a new store: infer the steps that lead to it.")

    static var flags: [Flag<Self>] {
        schema
        hints
    }

    /// The flags that need a schema.
    @FlagList<Self> static var hints: [Flag<Self>] {
        Flag("rename", value: "old=new", as: rename, appendingTo: \.renames)
            .help("Give a table or column (table.column) another name.")
            .needing(schema)
        Flag("drop", value: "name", as: .text, appendingTo: \.drops)
            .help("Allow removing a table or column (table.column) with its data.")
            .needing(schema)
    }

    private static let rename = ValueReader<String>.text.map { text throws(ValueError) -> Rename in
        let names = text.split(separator: "=", omittingEmptySubsequences: false).map(String.init)
        guard names.count == 2, names.allSatisfy({ !$0.isEmpty }) else {
            throw .malformed
        }
        return Rename(old: names[0], new: names[1])
    }

    /// The goal; `nil` if no schema is given.
    var goal: SchemaGoal? {
        get throws {
            guard let file else { return nil }
            let pairs = renames.map { ($0.old, $0.new) }
            return SchemaGoal(
                schema: try StoreSchema(contentsOf: file.storeURL),
                renames: Dictionary(pairs, uniquingKeysWith: { $1 }),
                drops: Set(drops)
            )
        }
    }
}

extension BytePath {
    /// The path in the form that StoreMigration expects.
    var storeURL: URL {
        get throws {
            guard try fitsURL else {
                throw UsageError("the path \(UsageError.quoting(bytes)) is not valid UTF-8")
            }
            return URL(fileAtPath: self)
        }
    }
}
