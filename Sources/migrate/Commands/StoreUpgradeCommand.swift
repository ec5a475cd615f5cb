internal import MigrationCore
internal import MigrationReports
internal import MigrationSystem
internal import StoreMigration

/// `migrate store upgrade`: migrates an app's store by the plan of its developer, or to a schema.
struct StoreUpgradeCommand: Command {
    private var store: BytePath = ""
    private var plan: BytePath?
    private var schema = SchemaFlags()
    private var isDry = false
    var common = CommonOptions()

    static let name = "store upgrade"
    static let abstract = "Migrate an app's store to its current version, step by step."

    static var flags: [Flag<Self>] {
        Flag.store(help: "The store, which must not be in use.", to: \.store)
        Flag("plan", value: "program", as: .path, to: \.plan)
            .help("A program made with StoreMigration. It runs unconfined: it is your own.")
            .unless(SchemaFlags.schema)
        SchemaFlags.included(at: \.schema)
        Flag.dryRun("Show the steps, and change nothing.", sets: \.isDry)
        Flag.json
        Flag.progress
    }

    static let examples: Examples = [
        "Migrate a store to its current version.":
            "migrate store upgrade --store Notes.sqlite --plan ./NotesPlan",
        "Show the steps, and change nothing.":
            "migrate store upgrade --store Notes.sqlite --plan ./NotesPlan --dry-run",
        "Bring it to a schema, by inferred steps.":
            "migrate store upgrade --store notes.db --schema notes.sql",
    ]

    var subject: String { PrintableText.escaping(store) }

    func run(in context: CommandContext) async throws -> ExitCode {
        let answer = try await answer(on: context.console)
        try common.answer(with: answer, on: context.console)
        return answer.report.isRefused ? .failure : .success
    }

    private func answer(on console: Console) async throws -> StoreUpgradeAnswer {
        guard let goal = try schema.goal else {
            let report = try await common.showingProgress(on: console) { progress in
                try await withOperation(threadCount: 1, progress: progress) { operation in
                    let run = try StorePlanRun.start(plan: plan ?? "", store: store, isDry: isDry)
                    return try run.report(on: operation) {
                        console.log("    " + PrintableText.escaping($0))
                    }
                }
            }
            return StoreUpgradeAnswer(report, nil, advice: ErrorMessage.Hint.advice)
        }
        let versioned = VersionedStore(at: try store.storeURL, .sqlite(.userVersion))
        let (report, inference) =
            try await isDry
            ? goal.preview(of: versioned)
            : common.showingProgress(on: console) { progress in
                try await goal.migrate(versioned, progress: progress)
            }
        return StoreUpgradeAnswer(report, inference, advice: ErrorMessage.Hint.advice)
    }
}
