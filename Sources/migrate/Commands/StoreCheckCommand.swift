internal import Foundation
internal import MigrationReports
internal import MigrationSystem
internal import StoreMigration

/// `migrate store check`: shows what an app's store is, and whether a model or a schema fits it.
struct StoreCheckCommand: Command {
    private var store: BytePath = ""
    private var model: BytePath?
    private var key = "version"
    private var schema = SchemaFlags()
    var common = CommonOptions()

    static let name = "store check"
    static let abstract = "Show what an app's store is made of, and which model can open it."

    static var flags: [Flag<Self>] {
        Flag.store(help: "The store: a SQLite file, a JSON document or a directory.", to: \.store)
        Flag("model", value: "momd", as: .path, to: \.model)
            .help("A compiled Core Data model: say whether it can open the store.")
        Flag("key", value: "key", as: .text, to: \.key)
            .help("The key that has the version of a JSON document; 'version' by default.")
        SchemaFlags.included(at: \.schema)
        Flag.json
    }

    static let examples: Examples = [
        "Show what a store is made of.": "migrate store check --store Notes.sqlite",
        "See whether a Core Data model can open it.":
            "migrate store check --store Notes.sqlite --model Notes.momd",
        "See whether the steps to a schema can be inferred.":
            "migrate store check --store notes.db --schema notes.sql",
    ]

    var onlyAnswers: Bool { true }

    var subject: String { PrintableText.escaping(store) }

    func run(in context: CommandContext) async throws -> ExitCode {
        let url = try store.storeURL
        let goal = try schema.goal
        let facts = try StoreFacts(of: url, key: key)
        let model = try model.map { try CoreDataModel(at: $0.storeURL) }
        let verdict = try model.map {
            try CoreDataStoreInspector(store: url).verdict(for: $0)
        }
        let inference = try goal?.inference(of: VersionedStore(at: url, .sqlite(.userVersion)))
        let answer = StoreCheckAnswer(
            facts,
            model: verdict,
            inference,
            advice: ErrorMessage.Hint.advice
        )
        try common.answer(with: answer, on: context.console)
        return answer.isReady ? .success : .findings
    }
}

extension Flag {
    static func store(help: String, to path: Property<Owner, BytePath>) -> Flag {
        Flag("store", value: "path", as: .path, to: path).help(help).required
    }
}
