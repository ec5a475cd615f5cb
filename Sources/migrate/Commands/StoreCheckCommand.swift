internal import Foundation
internal import MigrationArchive
internal import MigrationSystem
internal import StoreMigration

/// `migrate store check`: shows what an app's store is, and whether a model or a schema fits it.
struct StoreCheckCommand: Command {
    private var store: BytePath = ""
    private var model: BytePath?
    private var key = "version"
    private var schema = SchemaFlags()
    private var answersInJSON = false

    static let name = "store check"
    static let abstract = "Show what an app's store is made of, and which model can open it."

    static var flags: [Flag<Self>] {
        Flag.store(help: "The store: a SQLite file, a JSON document or a directory.", to: \.store)
        Flag("model", value: "momd", as: .path, to: \.model)
            .help("A compiled Core Data model: say whether it can open the store.")
        Flag("key", value: "key", as: .text, to: \.key)
            .help("The key that has the version of a JSON document; 'version' by default.")
        SchemaFlags.included(at: \.schema)
        Flag.json(sets: \.answersInJSON)
    }

    static let examples = [
        Example("Show what a store is made of.", "migrate store check --store Notes.sqlite"),
        Example(
            "See whether a Core Data model can open it.",
            "migrate store check --store Notes.sqlite --model Notes.momd"
        ),
        Example(
            "See whether the steps to a schema can be inferred.",
            "migrate store check --store notes.db --schema notes.sql"
        ),
    ]

    var onlyAnswers: Bool { true }

    var subject: String { PrintableText.escaping(store) }

    func subject(of error: any Error) -> String {
        (error as? StoreMigrationError).map { PrintableText.escaping($0.path) } ?? subject
    }

    func run(in context: CommandContext) async throws -> ExitCode {
        let url = try store.storeURL
        let goal = try schema.goal
        let facts = try StoreFacts(of: url, key: key)
        let model = try model.map { try CoreDataModel(at: $0.storeURL) }
        let verdict = try model.map {
            ModelAnswer(try CoreDataStoreInspector(store: url).verdict(for: $0))
        }
        let inference = try goal.map {
            let store = VersionedStore(at: url, .sqlite(.userVersion))
            return try SchemaInference(
                of: store,
                to: $0.schema,
                renames: $0.renames,
                drops: $0.drops
            )
        }
        let answer = StoreCheckAnswer(facts, model: verdict, inference.map { SchemaAnswer($0) })
        try context.console.output.write(answer, inJSON: answersInJSON)
        let opens = verdict?.canOpen ?? true
        let canMigrate = facts.damage == nil && !facts.isInterrupted && facts.nameCount == 1
        let leadsThere = [nil, .current, .inferred].contains(inference?.verdict)
        return canMigrate && opens && leadsThere ? .success : .findings
    }
}

// MARK: - Answer

/// The answer of `migrate store check`.
struct StoreCheckAnswer: Answer {
    let schema = "migrate/store-check/1"
    let bytes: Int64
    let damage: String?
    let entities: [String]?
    let findings: [String]?
    let interrupted: Bool
    let kind: StoreFacts.Kind
    let logBytes: Int64
    let migration: SchemaAnswer?
    let model: ModelAnswer?
    let modelIdentifiers: [String]?
    let names: Int?
    let notChecked: [String]?
    let userVersion: Int?
    let version: String?

    init(_ facts: StoreFacts, model: ModelAnswer?, _ migration: SchemaAnswer? = nil) {
        bytes = facts.bytes
        damage = facts.damage.map { PrintableText.escaping($0) }
        entities = facts.coreData?.entityVersionHashes.keys.sorted()
        findings = Self.escaping(facts.findings)
        interrupted = facts.isInterrupted
        kind = facts.kind
        logBytes = facts.logBytes
        self.model = model
        self.migration = migration
        modelIdentifiers = facts.coreData?.versionIdentifiers
        names = facts.nameCount > 1 ? facts.nameCount : nil
        notChecked = Self.escaping(facts.notChecked)
        userVersion = facts.userVersion
        version = facts.documentVersion
    }

    private static func escaping(_ texts: [String]) -> [String]? {
        texts.isEmpty ? nil : texts.map { PrintableText.escaping($0) }
    }

    var text: String {
        let rows: [(String, String?)] = [
            ("kind", kind.rawValue), ("size", "\(ByteCount(UInt64(clamping: bytes)))"),
            ("user_version", userVersion.map { "\($0)" }), ("version", version),
            ("log", logBytes > 0 ? "\(ByteCount(UInt64(clamping: logBytes))) in -wal" : nil),
            ("damage", damage), ("findings", findings?.joined(separator: "; ")),
            ("not checked", notChecked?.joined(separator: "; ")),
            ("names", names.map { "\($0) (hard links): an upgrade refuses the store" }),
            ("entities", entities?.joined(separator: ", ")),
            ("identifiers", modelIdentifiers?.joined(separator: ", ")),
            ("model", model?.text),
            ("schema", migration?.summary),
            ("migration", interrupted ? "interrupted; the next one completes it" : nil),
        ]
        let known = rows.compactMap { name, value in
            value.map { (name: name, value: PrintableText.escapingRest(of: $0)) }
        }
        return Table(rows: known).text + (migration?.details ?? "")
    }
}

/// How a Core Data model relates to the store.
struct ModelAnswer: Encodable, Sendable {
    private(set) var canOpen = false
    private(set) var differing: [String]?
    let verdict: String
    private(set) var version: String?

    init(_ verdict: CoreDataStoreInspector.Verdict) {
        switch verdict {
        case .opens: (self.verdict, canOpen) = ("opens", true)
        case .needsMigration(let version):
            (self.verdict, self.version) = ("needs-migration", version)
        case .hasPart(let version): (self.verdict, self.version) = ("has-part", version)
        case .isOfOtherModel(let differing):
            (self.verdict, self.differing) = ("other-model", differing)
        }
    }

    var text: String {
        switch verdict {
        case "opens": "opens the store"
        case "needs-migration":
            "its version '\(version ?? "")' made the store: Core Data must migrate it"
        case "has-part":
            "the store has some entities of its version '\(version ?? "")': a configuration of "
                + "exactly these opens it"
        default:
            "did not make the store; entities differ: " + (differing ?? []).joined(separator: ", ")
        }
    }
}

extension Flag {
    static func store(help: String, to path: Property<Owner, BytePath>) -> Flag {
        Flag("store", value: "path", as: .path, to: path).help(help).required
    }
}
