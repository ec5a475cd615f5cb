import MigrationArchive
import MigrationCore

/// The mistakes that a session came upon, a line each.
struct FindingLines: Sendable {
    let lines: [String]

    init(_ findings: [ExtensionFinding]) {
        lines = findings.map { finding in
            "finding: \(finding.code.rawValue): "
                + PrintableText.escapingRest(of: "\(finding.message); \(finding.fix)")
        }
    }
}
