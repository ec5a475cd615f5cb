internal import Foundation
internal import MigrationArchive
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
            .help("Let a table or column (table.column) go with its data.")
            .needing(schema)
    }

    private static let rename = ValueReader<String>.text.map { text throws(ValueError) -> Rename in
        let names = text.split(separator: "=", omittingEmptySubsequences: false).map(String.init)
        guard names.count == 2, names.allSatisfy({ !$0.isEmpty }) else {
            throw .malformed
        }
        return Rename(old: names[0], new: names[1])
    }

    var isGiven: Bool { file != nil }

    /// The command line's instructions on how to reach the schema.
    var goal: (schema: StoreSchema, renames: [String: String], drops: Set<String>)? {
        get throws {
            guard let file else { return nil }
            let pairs = renames.map { ($0.old, $0.new) }
            let schema = try StoreSchema(contentsOf: file.storeURL)
            return (schema, Dictionary(pairs, uniquingKeysWith: { $1 }), Set(drops))
        }
    }
}

extension BytePath {
    /// The path in the form that the library for stores takes.
    var storeURL: URL {
        get throws {
            guard try fitsURL else {
                throw UsageError("the path \(UsageError.quoting(bytes)) is not valid UTF-8")
            }
            return URL(fileAtPath: self)
        }
    }
}

// MARK: - Answer

/// How a schema relates to a store, as answers show it.
struct SchemaAnswer: Encodable, Sendable {
    struct Step: Encodable, Sendable {
        let kind: String
        let object: String
        let sql: String
    }

    struct Reason: Encodable, Sendable {
        let code: String
        let message: String
        let object: String
    }

    let bytesNeeded: Int64?
    let notes: [String]?
    let reasons: [Reason]
    let steps: [Step]
    let verdict: SchemaInference.Verdict
    let way: String?
    private let lines: [String]

    init(_ inference: SchemaInference) {
        verdict = inference.verdict
        let isInferred = verdict == .inferred
        way = isInferred ? (inference.isInPlace ? "inPlace" : "copy") : nil
        bytesNeeded = isInferred && !inference.isInPlace ? inference.bytesNeeded : nil
        notes = inference.notes.isEmpty ? nil : inference.notes
        reasons = inference.reasons.map {
            let hint = $0.remedy.flatMap { ErrorMessage.Hint($0) }
            let message = $0.message + (hint.map { "; " + $0.advice } ?? "")
            return Reason(code: $0.code.rawValue, message: message, object: $0.object)
        }
        steps = inference.steps.map {
            Step(kind: $0.kind.rawValue, object: $0.object, sql: $0.sql)
        }
        lines =
            inference.steps.map { "step: \($0)" }
            + reasons.map { "reason: \($0.message)" }
            + inference.notes.map { "note: \($0)" }
    }

    private enum CodingKeys: String, CodingKey {
        case bytesNeeded, notes, reasons, steps, verdict, way
    }

    /// The verdict in words.
    var summary: String {
        switch verdict {
        case .current: "current: the store has this schema"
        case .inferred: "inferred: the steps work \(wayInWords)"
        case .impossible: "impossible"
        case .newer: "newer: a newer program made the store"
        }
    }

    /// The way that the steps take, and the room that they need.
    var wayInWords: String {
        guard let bytesNeeded else { return "in the store itself" }
        return "on a copy, which needs \(ByteCount(UInt64(clamping: bytesNeeded)))"
    }

    /// Steps, reasons and notes, a line each.
    var details: String {
        lines.map { "  " + PrintableText.escaping($0) + "\n" }.joined()
    }
}
