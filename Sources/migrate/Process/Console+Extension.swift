import MigrationArchive
import MigrationCore

extension ExtensionOptions {
    /// What an extension is run for.
    enum Purpose: Sendable {
        case export
        case `import`
        case preflight
    }

    /// The extension, whose messages go to `console`, and before its work what it says of itself.
    func hosted(on console: Console, to purpose: Purpose) -> MigrationExtension {
        var hosted = appExtension
        hosted.outputHandler = { [name] line in
            console.log(line.isEmpty ? "\(name):" : "\(name): \(line)")
        }
        guard purpose != .preflight else { return hosted }
        hosted.preflightHandler = { report in
            let text = PreflightText(report: report, isOfExport: purpose == .export)
            console.log(text.lines.map { "migrate: \($0)" }.joined(separator: "\n"))
        }
        return hosted
    }
}

extension Console {
    /// Says what a session found wrong with the extension, or strange, below the answer.
    func logFindings(of report: ExtensionReport?) throws {
        guard let report, !report.findings.isEmpty || !report.warnings.isEmpty else { return }
        try output.flush()
        for warning in report.warnings {
            log("migrate: warning: \(PrintableText.escapingRest(of: warning))")
        }
        for line in FindingLines(report.findings).lines { log("migrate: \(line)") }
    }
}
