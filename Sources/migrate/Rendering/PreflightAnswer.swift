import MigrationArchive
import MigrationCore

/// What `migrate preflight` answers.
struct PreflightAnswer: Answer {
    let report: PreflightReport

    init(_ report: PreflightReport) {
        self.report = report
    }

    var text: String {
        let rows = wasStarted ? sessionRows : [("entitlement", "not in order: it was not started")]
        let name = [("extension", PrintableText.escaping(report.name))]
        return Table(rows: name + rows + groupRows + rehearsalRows).text
            + report.warnings.reduce("") {
                $0 + "warning: \(PrintableText.escapingRest(of: $1))\n"
            }
            + FindingLines(report.findings).lines.reduce("") { $0 + $1 + "\n" }
    }

    func encode(to encoder: any Encoder) throws {
        try report.encode(to: encoder)
    }

    /// Whether the entitlement let the extension run.
    private var wasStarted: Bool { report.entitlement != nil }

    private var sessionRows: [(String, String)] {
        let gaps = Self.rows("not confined", report.confinement.gaps)
        let user = report.confinement.user.map { [("runs as", $0)] } ?? []
        let bounds = Self.rows("bounded", report.confinement.bounds)
        let paths = PreflightText.paths(report.paths).map { [("paths", $0)] } ?? []
        return [
            ("entitlement", PrintableText.escaping(report.entitlement ?? "")),
            ("exports", report.exports.map(PreflightText.version) ?? "no"),
            ("imports", report.imports ? "yes" : "no"),
        ] + exportRows + user + [("confined", PreflightText.confinement(report.confinement))] + gaps
            + bounds + paths
    }

    /// A row for each phrase, the first of which has the title.
    private static func rows(_ title: String, _ phrases: [String]) -> [(String, String)] {
        phrases.enumerated().map { index, phrase in (index == 0 ? title : "", phrase) }
    }

    private var groupRows: [(String, String)] {
        PreflightText.groups(report).enumerated().map { index, group in
            (index == 0 ? "app groups" : "", group)
        }
    }

    private var rehearsalRows: [(String, String)] {
        guard let rehearsed = report.rehearsedVersion else { return [] }
        let result = rehearsed.refusal.map { "refused: \(PrintableText.escaping($0))" }
        let version = PrintableText.escaping(rehearsed.version)
        return [("rehearsal", "version \(version): \(result ?? "imported all the same")")]
    }

    private var exportRows: [(String, String)] {
        guard let exports = report.exports else { return [] }
        return [
            ("options", exports.options.isEmpty ? "none" : PreflightText.options(exports)),
            ("size", PreflightText.space(report, includingEstimate: true)),
        ]
    }
}
