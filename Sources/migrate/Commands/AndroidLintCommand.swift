internal import AndroidMigration
internal import MigrationArchive
internal import MigrationReports
internal import MigrationSystem

/// `migrate android lint`: finds mistakes in the backup rules of an Android app.
struct AndroidLintCommand: Command {
    private var rules: BytePath = ""
    private var manifest: BytePath?
    private var data = AndroidDataFlags()
    private var answersInAnnotations = false
    private var showsNotes = false
    var common = CommonOptions()

    static let name = "android lint"
    static let abstract = "Look for mistakes in the backup rules of an Android app."

    static var arguments: [Argument<Self>] { [.rules(to: \.rules)] }

    private static let json = Flag<Self>.json

    static var flags: [Flag<Self>] {
        Flag.androidManifest(to: \.manifest)
        AndroidDataFlags.included(at: \.data)
        Flag("notes", sets: \.showsNotes)
            .help("Show notes too, which ask for no change; JSON always has them.")
        json
        Flag("github", sets: \.answersInAnnotations)
            .help("Answer with annotations for a workflow on GitHub.")
            .about(.running)
            .excluding(json)
    }

    static let examples: Examples = [
        "Look for mistakes in backup rules.": "migrate android lint data_extraction_rules.xml",
        "Look at the app's manifest and its data, too.":
            "migrate android lint rules.xml --manifest AndroidManifest.xml --data notes",
        "Annotate a pull request on GitHub.": "migrate android lint rules.xml --github",
    ]

    var subject: String { PrintableText.escaping(rules) }

    func run(in context: CommandContext) async throws -> ExitCode {
        let lint = RulesLint.check(
            try InputFile.read(rules),
            named: RulesFile.name(of: rules),
            manifest: try manifest.map { try AppManifest(InputFile.read($0)) },
            tree: try await data.tree(on: context.console)
        )
        let answer = LintAnswer(file: subject, findings: lint.findings, showsNotes: showsNotes)
        if answersInAnnotations {
            try context.console.output.write(answer.annotations)
        } else {
            try common.answer(with: answer, on: context.console)
        }
        if lint.findings.contains(where: { $0.code == .notRulesFile }) { return .badArchive }
        return lint.hasErrors ? .findings : .success
    }
}

// MARK: - Answer

/// The answer of `migrate android lint`.
struct LintAnswer: Answer, JSONObject {
    let file: String
    let findings: [LintFinding]
    let showsNotes: Bool

    var members: JSONMembers { ["findings": findings] }

    var schema: String { "migrate/android-lint/1" }

    var text: String {
        let shown = findings.filter { showsNotes || $0.severity != .note }
        return LintLines(file: file, findings: shown).text + summary + "\n"
    }

    private var summary: String {
        let errors = counted(.error, as: "error")
        let summary = "\(file): \(errors), \(counted(.warning, as: "warning"))"
        guard findings.contains(where: { $0.severity == .note }) else { return summary }
        let notes = counted(.note, as: "note")
        return summary + ", \(notes)" + (showsNotes ? "" : " ('--notes' shows them)")
    }

    private func counted(_ severity: LintFinding.Severity, as name: String) -> String {
        let count = findings.count { $0.severity == severity }
        return "\(count) \(name)\(count == 1 ? "" : "s")"
    }

    /// The findings as workflow commands of GitHub, which shows them beside the lines.
    ///
    /// GitHub shows ten annotations of each kind, so notes that ask for no change are left out.
    var annotations: String {
        let shown = findings.filter { finding in
            finding.severity != .note || showsNotes && finding.code != .ruleBytes
        }
        let lines = shown.map { finding in
            let command =
                switch finding.severity {
                case .error: "error"
                case .warning: "warning"
                case .note: "notice"
                }
            return "::\(command) file=\(Self.property(file)),line=\(finding.line),title="
                + "\(Self.property(finding.code.rawValue))::"
                + Self.data("\(finding.message); \(finding.fix)") + "\n"
        }
        return lines.joined() + "::notice title=migrate android lint::\(Self.data(summary))\n"
    }

    /// `text` as the message of a workflow command, which a line feed would end.
    private static func data(_ text: String) -> String {
        text.replacing("%", with: "%25").replacing("\r", with: "%0D").replacing("\n", with: "%0A")
    }

    /// `text` as a property of a workflow command, in which two more characters have a meaning.
    private static func property(_ text: String) -> String {
        data(text).replacing(":", with: "%3A").replacing(",", with: "%2C")
    }
}
