internal import Foundation
internal import MigrationArchive
internal import MigrationCore
internal import MigrationSystem
internal import StoreMigration

/// `migrate store upgrade`: migrates an app's store by the plan of its developer, or to a schema.
struct StoreUpgradeCommand: Command {
    private var store: BytePath = ""
    private var plan: BytePath?
    private var schema = SchemaFlags()
    private var isDry = false
    private var progressMode = ProgressMode.auto
    private var answersInJSON = false

    static let name = "store upgrade"
    static let abstract = "Migrate an app's store to its current version, step by step."

    static var flags: [Flag<Self>] {
        Flag.store(help: "The store, which nobody may use meanwhile.", to: \.store)
        Flag("plan", value: "program", as: .path, to: \.plan)
            .help("A program made with StoreMigration. It runs unconfined: it is your own.")
            .unless(SchemaFlags.schema)
        SchemaFlags.included(at: \.schema)
        Flag.dryRun("Show the steps, and change nothing.", sets: \.isDry)
        Flag.json(sets: \.answersInJSON)
        Flag.progress(to: \.progressMode)
    }

    static let examples = [
        Example(
            "Migrate a store to its current version.",
            "migrate store upgrade --store Notes.sqlite --plan ./NotesPlan"
        ),
        Example(
            "Show the steps, and change nothing.",
            "migrate store upgrade --store Notes.sqlite --plan ./NotesPlan --dry-run"
        ),
        Example(
            "Bring it to a schema, by steps that nobody wrote.",
            "migrate store upgrade --store notes.db --schema notes.sql"
        ),
    ]

    var subject: String { PrintableText.escaping(store) }

    func subject(of error: any Error) -> String {
        (error as? StoreMigrationError).map { PrintableText.escaping($0.path) } ?? subject
    }

    func run(in context: CommandContext) async throws -> ExitCode {
        guard let plan else { return try await infer(on: context.console) }
        let console = context.console
        let report = try await ProgressDisplay.showing(progressMode, on: console) { progress in
            try await withOperation(threadCount: 1, progress: progress) { operation in
                let run = try PlanRun.start(plan: plan, store: store, isDry: isDry)
                return try run.report(on: operation) {
                    console.log("    " + PrintableText.escaping($0))
                }
            }
        }
        let answer = StoreUpgradeAnswer(report: report)
        try context.console.output.write(answer, inJSON: answersInJSON)
        return answer.isRefused ? .failure : .success
    }

    /// Migrates the store to a schema.
    private func infer(on console: Console) async throws -> ExitCode {
        guard let goal = try schema.goal else { return .success }
        let store = VersionedStore(at: try store.storeURL, .sqlite(.userVersion))
        if isDry {
            let inference = try SchemaInference(
                of: store,
                to: goal.schema,
                renames: goal.renames,
                drops: goal.drops
            )
            let answer = try StoreUpgradeAnswer(of: store, to: goal.schema, inference, .needed)
            try console.output.write(answer, inJSON: answersInJSON)
            return answer.isRefused ? .failure : .success
        }
        let plan = StoreMigrationPlan(
            inferredFrom: goal.schema,
            renames: goal.renames,
            drops: goal.drops
        )
        let (version, found) = (try store.version, Monitor<SchemaInference?>(nil))
        let told = Monitor<[String]>([])
        let outcome = try await ProgressDisplay.showing(progressMode, on: console) { progress in
            try await StoreMigrator(
                store,
                inferred: { inference in
                    found.withLock { $0 = inference }
                }
            ).migrateInBackground(plan, progress: progress) { finding in
                told.withLock { $0.append(finding) }
            }
        }
        var answer = try StoreUpgradeAnswer(
            of: store,
            to: goal.schema,
            found.withLock { $0 },
            outcome == .current ? .current : outcome == .completed ? .completed : .migrated,
            from: version
        )
        answer.findings = told.withLock { $0.isEmpty ? nil : $0 }
        try console.output.write(answer, inJSON: answersInJSON)
        return .success
    }
}

// MARK: - The plan's program

/// A run of a plan's program, which is ended with this process.
private final class PlanRun {
    private let process: ChildProcess
    private let store: String
    private var line: [UInt8] = []
    private var report: StorePlanMessage.Report?
    private var failure: StoreMigrationError?

    private init(_ process: ChildProcess, on store: String) {
        self.process = process
        self.store = store
    }

    /// Starts the program.
    static func start(plan: BytePath, store: BytePath, isDry: Bool) throws -> PlanRun {
        let name = PrintableText.escaping(store)
        // A plan may make a missing store, so only the directory must exist.
        let path = try resolving("can't reach the store", .missing, at: name) {
            () throws(SystemError) in try BytePath(resolving: store)
        }
        guard try path.fitsURL else {
            let message = "the path is not valid UTF-8, which a plan can't take"
            throw StoreMigrationError(.failed, message, at: name)
        }
        let message = "the plan \(PrintableText.escaping(plan)) can't be run"
        let program = try resolving(message, .failed, at: name) { () throws(SystemError) in
            try BytePath(resolvingWhole: plan)
        }
        let words = [program.bytes, [UInt8](utf8: "--store"), path.bytes]
        let configuration = ChildProcess.Configuration(
            executable: program,
            arguments: isDry ? words + [[UInt8](utf8: "--dry-run")] : words,
            environment: Environment.assignments,
            workingDirectory: ".",
            sandbox: nil
        )
        do {
            return PlanRun(try ChildProcess.start(configuration), on: name)
        } catch {
            throw StoreMigrationError(.failed, message, at: name, cause: error)
        }
    }

    private static func resolving(
        _ message: String,
        _ code: StoreMigrationError.Code,
        at store: String,
        _ body: () throws(SystemError) -> BytePath
    ) throws -> BytePath {
        do {
            return try body()
        } catch {
            throw StoreMigrationError(code, message, at: store, cause: error)
        }
    }

    /// Waits for the program's end; `log` gets the lines that are not messages.
    func report(
        on operation: MigrationOperation,
        log: ([UInt8]) -> Void
    ) throws -> StorePlanMessage.Report {
        let event = try CancellationEvent(of: operation.cancellation)
        while try wait(for: .output, event, operation) {
            var buffer = [UInt8](repeating: 0, count: 64 * 1024)
            let count = try process.output.descriptor.read(
                into: &buffer,
                from: 0,
                count: buffer.count
            )
            if count == 0 { break }
            for byte in buffer[..<count] {
                if byte == UInt8(ascii: "\n") {
                    take(operation.progress, log)
                } else {
                    line.append(byte)
                }
            }
        }
        if !line.isEmpty { take(operation.progress, log) }
        _ = try wait(for: .exit, event, operation)
        let ending = try process.terminate()
        if let failure { throw failure }
        guard let report, ending == .exited(0) else {
            let message =
                switch ending {
                case .exited(let code): "the plan exited with \(code) and did not say what it did"
                case .signaled(let signal): "signal \(signal) ended the plan"
                }
            throw StoreMigrationError(.failed, message, at: store)
        }
        return report
    }

    /// Waits for an event, as long as a migration takes.
    private func wait(
        for events: ChildProcess.Events,
        _ event: CancellationEvent,
        _ operation: MigrationOperation
    ) throws -> Bool {
        while true {
            let seen = try process.wait(for: events, timeout: .seconds(3600), or: event)
            if !seen.isEmpty { return true }
            guard operation.isCancelled else { continue }
            try process.terminate()
            throw CancellationError()
        }
    }

    private func take(_ progress: Progress?, _ log: ([UInt8]) -> Void) {
        defer { line.removeAll(keepingCapacity: true) }
        switch StorePlanMessage(line: line) {
        case .progress(let completed, let total):
            progress?.totalUnitCount = total
            progress?.completedUnitCount = completed
        case .report(let report): self.report = report
        case .failure(let code, let message):
            let code = StoreMigrationError.Code(named: code) ?? .failed
            failure = StoreMigrationError(code, message, at: store)
        case nil: log(line)
        }
    }
}

// MARK: - Answer

/// The answer of `migrate store upgrade`.
struct StoreUpgradeAnswer: Answer {
    let schema = "migrate/store-upgrade/1"
    var findings: [String]?
    let from: String?
    private(set) var migration: SchemaAnswer?
    let outcome: String
    let steps: [String]
    let store: String
    let to: String

    init(report: StorePlanMessage.Report) {
        findings = report.findings.flatMap { $0.isEmpty ? nil : $0 }
        from = report.from
        outcome = report.outcome.rawValue
        steps = report.steps
        store = report.store
        to = report.to
        isRefused = [.impossible, .newer, .unknownVersion].contains(report.outcome)
    }

    /// Describes what was done, or would be done, to reach a schema.
    init(
        of store: VersionedStore,
        to goal: StoreSchema,
        _ inference: SchemaInference?,
        _ outcome: StorePlanMessage.Report.Outcome,
        from version: StoreVersion? = nil
    ) throws {
        let now = try version ?? store.version
        from = now?.text
        to = goal.userVersion.map { "\($0)" } ?? now?.text ?? "0"
        migration = inference.map { SchemaAnswer($0) }
        steps = inference?.steps.map(\.description) ?? []
        self.store = store.url.path
        let verdict = inference?.verdict ?? .current
        isRefused = verdict == .impossible || verdict == .newer
        let result: StorePlanMessage.Report.Outcome =
            switch verdict {
            case .impossible: .impossible
            case .newer: .newer
            case .current where outcome == .needed: .current
            case .current, .inferred: outcome
            }
        self.outcome = result.rawValue
    }

    private enum CodingKeys: String, CodingKey {
        case schema, findings, from, migration, outcome, steps, store, to
    }

    /// Whether the plan can't migrate the store, as a dry run finds out.
    let isRefused: Bool

    var text: String {
        let version = from.map { "version \($0)" } ?? "no version"
        let sentence =
            switch outcome {
            case "current": "the store is current (version \(to))"
            case "completed": "completed an interrupted migration to version \(to)"
            case "created": "made a store of version \(to)"
            case "missing": "a store of version \(to) would be made"
            case "migrated" where from == to: "migrated to the schema (version \(to) stays)"
            case "needed" where from == to: "the store would get the schema (version \(to) stays)"
            case "migrated": "migrated from \(version) to version \(to)"
            case "needed": "\(version) would become version \(to)"
            case "newer": "\(version) was made by a newer program than version \(to)"
            case "impossible" where migration != nil: "no steps lead to the schema"
            case "impossible": "no steps lead from \(version) to version \(to)"
            default: "\(version) is unknown to the plan, which leads to version \(to)"
            }
        let reasons = migration?.reasons.map { "  reason: \($0.message)" } ?? []
        let isInferred = migration?.verdict == .inferred
        let way = isInferred ? migration.map { "  the steps work \($0.wayInWords)" } : nil
        // A migration also finds what its steps note.
        let notes = outcome == "needed" ? migration?.notes ?? [] : []
        let lines =
            [sentence] + reasons + steps.map { "  step \($0)" } + (way.map { [$0] } ?? [])
            + notes.map { "  note: \($0)" } + (findings ?? []).map { "  found: \($0)" }
        return lines.map { PrintableText.escaping($0) + "\n" }.joined()
    }
}
