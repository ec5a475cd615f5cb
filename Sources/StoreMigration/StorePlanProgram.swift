public import Foundation
internal import MigrationSystem

/// A program that migrates stores by its plan, for `migrate store upgrade --plan`.
///
/// ```swift
/// @main struct NotesPlan: StorePlanProgram {
///     static let plan = StoreMigrationPlan(current: 2, steps: [ /* … */ ])
///     static func store(at url: URL) -> VersionedStore {
///         VersionedStore(at: url, .sqlite(.userVersion))
///     }
/// }
/// ```
///
/// It is started with `--store <path>`, and with `--dry-run` to change nothing. It prints a line of
/// JSON for each tenth of a second of progress and one for the end, and exits with 0, or with 1
/// after a failure.
public protocol StorePlanProgram: SendableMetatype {
    /// The current version and the steps to it.
    static var plan: StoreMigrationPlan { get throws }

    /// Describes the store at a path.
    static func store(at url: URL) -> VersionedStore

    /// Called as ``StoreMigrator/init(_:afterMigration:)`` describes; `nil` by default.
    static var afterMigration: (@Sendable (URL) throws -> Void)? { get }
}

extension StorePlanProgram {
    /// There is no hook.
    public static var afterMigration: (@Sendable (URL) throws -> Void)? { nil }

    /// Runs the program.
    public static func main() {
        let arguments = CommandLine.bytePaths.dropFirst()
        guard let flag = arguments.firstIndex(of: "--store"), flag + 1 < arguments.endIndex else {
            FileHandle.standardError.write(Data("USAGE: --store <path> [--dry-run]\n".utf8))
            exit(64)
        }
        do {
            let path = arguments[flag + 1]
            guard try path.fitsURL else {
                let name = String(decoding: path.bytes, as: UTF8.self)
                throw StoreMigrationError(.failed, "the path is not valid UTF-8", at: name)
            }
            let store = store(at: URL(fileAtPath: path))
            let report = try run(on: store, isDry: arguments.contains("--dry-run"))
            StorePlanMessage.report(report).send()
        } catch {
            let failure = error as? StoreMigrationError
            let cause = failure?.cause.map { ": \($0)" } ?? ""
            let text = failure.map { $0.message + cause } ?? error.localizedDescription
            StorePlanMessage.failure(code: failure?.code.description ?? "failed", text).send()
            exit(1)
        }
    }

    private static func run(
        on store: VersionedStore,
        isDry: Bool
    ) throws -> StorePlanMessage.Report {
        let plan = try plan
        let isMissing = try plan.create != nil && store.isMissing
        let version = isMissing ? nil : try store.version
        let assessment = isMissing ? .unknownVersion : try plan.assess(store)
        var report = StorePlanMessage.Report(
            store: store.url.path,
            from: version?.text,
            to: plan.current.text,
            steps: [],
            outcome: .current
        )
        switch assessment {
        case .steps(let steps):
            report.steps = steps.map(\.description)
            report.outcome = .needed
        case .impossible: report.outcome = .impossible
        case .notInferable(let reasons):
            report.outcome = .impossible
            report.findings = reasons.map(\.message)
        case .unknownVersion: report.outcome = .unknownVersion
        case .newer: report.outcome = .newer
        case .current: break
        }
        if isMissing { report.outcome = .missing }
        if isDry { return report }
        try migrate(store, by: plan, addingTo: &report)
        return report
    }

    private static func migrate(
        _ store: VersionedStore,
        by plan: StoreMigrationPlan,
        addingTo report: inout StorePlanMessage.Report
    ) throws {
        let progress = Progress(totalUnitCount: 1)
        let reporter = ProgressReporter(progress)
        defer { reporter.stop() }
        let findings = Monitor<[String]>([])
        let outcome = try StoreMigrator(store, afterMigration: afterMigration)
            .migrate(plan, progress: progress) { finding in
                findings.withLock { $0.append(finding) }
            }
        switch outcome {
        case .current: report.outcome = .current
        case .migrated: report.outcome = .migrated
        case .completed: report.outcome = .completed
        case .created: report.outcome = .created
        }
        report.findings = findings.withLock { $0 }
    }
}

/// Sends the progress of a migration ten times a second while it changes.
private final class ProgressReporter: Sendable {
    private let isStopped = Monitor(false)

    init(_ progress: Progress) {
        // Without a thread for it, the migration continues without progress.
        try? SystemThread.start(named: "progress") { [isStopped] in
            var last: Int64 = 0
            while !isStopped.wait(atMost: 0.1, until: { $0 }) {
                let completed = Int64(
                    progress.fractionCompleted * Double(progress.totalUnitCount)
                )
                if completed == last { continue }
                last = completed
                StorePlanMessage.progress(completed: completed, total: progress.totalUnitCount)
                    .send()
            }
        }
    }

    func stop() { isStopped.withLock { $0 = true } }
}

/// A line that a plan's program prints.
package enum StorePlanMessage: Codable, Sendable {
    /// This many of the total bytes are done.
    case progress(completed: Int64, total: Int64)
    /// The program has succeeded.
    case report(Report)
    /// The program has failed, with the name of a ``StoreMigrationError/Code``.
    case failure(code: String, String)

    /// The findings and the result.
    package struct Report: Codable, Sendable {
        /// How it ended, or what a migration would have to do.
        package enum Outcome: String, Codable, Sendable {
            case completed, created, current, impossible, migrated, missing, needed, newer
            case unknownVersion
        }

        /// The path of the store.
        package let store: String
        /// The version that the store had; `nil` if it had none.
        package let from: String?
        /// The current version.
        package let to: String
        /// The steps that lead there, such as `1 to 2`.
        package internal(set) var steps: [String]
        /// How it ended.
        package internal(set) var outcome: Outcome
        /// Findings that don't prevent the migration; `nil` if nothing was checked.
        package internal(set) var findings: [String]?
    }

    /// Reads a line; `nil` for a line that isn't a message.
    package init?(line: [UInt8]) {
        // The plan's own output shares the pipe; such a line isn't an error.
        guard let message = try? JSONDecoder().decode(Self.self, from: Data(line)) else {
            return nil
        }
        self = message
    }

    fileprivate func send() {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Texts and numbers can always be encoded, and a missing reader doesn't need the line.
        guard let line = try? encoder.encode(self) else { return }
        try? FileHandle.standardOutput.write(contentsOf: line + Data("\n".utf8))
    }
}

extension CommandLine {
    /// The arguments as bytes: `arguments` replaces those that are not valid UTF-8.
    fileprivate static var bytePaths: [BytePath] {
        (0..<Int(argc)).compactMap { index in
            unsafe unsafeArgv[index].map { unsafe BytePath(cString: $0) }
        }
    }
}
