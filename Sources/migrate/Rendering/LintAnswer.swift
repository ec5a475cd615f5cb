import AndroidMigration
import MigrationArchive

/// What `migrate android lint` answers.
struct LintAnswer: Answer {
    let schema = "migrate/android-lint/1"
    let findings: [LintFinding]
    private let file: String

    init(file: String, _ findings: [LintFinding]) {
        self.file = file
        self.findings = findings
    }

    private enum CodingKeys: String, CodingKey {
        case schema, findings
    }

    var text: String {
        findings.reduce("") { text, finding in
            text + "\(file):\(finding.line): \(finding.severity.rawValue): "
                + PrintableText.escapingRest(of: finding.message)
                + " [\(finding.code.rawValue)]\n"
                + (finding.severity == .note
                    ? "" : "    fix: \(PrintableText.escapingRest(of: finding.fix))\n")
        } + summary
    }

    private var summary: String {
        let errors = findings.count { $0.severity == .error }
        let warnings = findings.count { $0.severity == .warning }
        return "\(file): \(errors) errors, \(warnings) warnings\n"
    }

    /// The findings as GitHub's workflow commands, which show them beside the lines.
    var annotations: String {
        findings.reduce("") { text, finding in
            let command =
                switch finding.severity {
                case .error: "error"
                case .warning: "warning"
                case .note: "notice"
                }
            return text + "::\(command) file=\(Self.property(file)),line=\(finding.line),title="
                + "\(Self.property(finding.code.rawValue))::"
                + Self.data("\(finding.message); \(finding.fix)") + "\n"
        }
    }

    /// Text in a command's end, where a line would end the command.
    private static func data(_ text: String) -> String {
        text.replacing("%", with: "%25").replacing("\r", with: "%0D").replacing("\n", with: "%0A")
    }

    /// Text in a command's list of properties, where two more characters have a meaning.
    private static func property(_ text: String) -> String {
        data(text).replacing(":", with: "%3A").replacing(",", with: "%2C")
    }
}
