internal import MigrationCore
package import MigrationHosting
package import MigrationSystem

/// The summary of a preflight, printed before the messages of an export or an import.
package struct PreflightText {
    private let report: PreflightReport
    private let isOfExport: Bool
    private let isVerbose: Bool
    private let advice: Advice

    /// - Parameters:
    ///   - report: The result of the preflight.
    ///   - isOfExport: Whether the extension is about to export.
    ///   - isVerbose: Whether the gaps of the confinement are listed.
    ///   - advice: How the program words remedies.
    package init(
        report: PreflightReport,
        isOfExport: Bool,
        isVerbose: Bool,
        advice: @escaping Advice
    ) {
        (self.report, self.isOfExport, self.isVerbose) = (report, isOfExport, isVerbose)
        self.advice = advice
    }

    package var lines: [String] {
        let identifier = PrintableText.escaping(report.entitlement ?? "")
        let skills = [
            report.exports.map(Self.exports),
            report.imports ? "imports" : nil,
        ]
        let space = Self.space(report, includingEstimate: isOfExport)
        return [
            "\(PrintableText.escaping(report.name)) of \(identifier) "
                + skills.compactMap(\.self).joined(separator: " and "),
            report.groups.isEmpty
                ? nil : "app groups: \(Self.groups(report).joined(separator: "; "))",
            space.isEmpty ? nil : space,
            report.confinement.user.map { "runs as: \($0)" },
            report.confinement.isConfined
                ? "confined: \(Self.confinement(report.confinement))" : nil,
            isVerbose ? "not confined: \(gaps.joined(separator: "; "))" : nil,
            report.confinement.bounds.isEmpty
                ? nil : "bounded: \(report.confinement.bounds.joined(separator: "; "))",
            Self.paths(report.paths).map { "paths: \($0)" },
        ].compactMap(\.self)
    }

    private var gaps: [String] { Self.gaps(report.confinement, advice) }
}

// MARK: - Phrases

extension PreflightText {
    static func version(_ exports: PreflightReport.Exports) -> String {
        "version \(PrintableText.escaping(exports.resourcesVersion))"
            + (exports.isCompressible ? "" : ", stored uncompressed")
    }

    private static func exports(_ exports: PreflightReport.Exports) -> String {
        let options = exports.options.isEmpty ? "" : " (options: \(options(exports)))"
        return "exports \(version(exports))\(options)"
    }

    static func options(_ exports: PreflightReport.Exports) -> String {
        exports.options.map { PrintableText.escaping($0) }.joined(separator: ", ")
    }

    static func space(_ report: PreflightReport, includingEstimate: Bool) -> String {
        let estimate = report.exports.map { ByteCount(UInt64(max(0, $0.sizeEstimate))) }
        return [
            includingEstimate ? estimate.map { "estimate \($0)" } : nil,
            report.availableSpace.map { "\(ByteCount($0)) free" },
        ].compactMap(\.self).joined(separator: ", ")
    }

    /// The way in which the extension sees its paths; `nil` if they are unchanged.
    static func paths(_ paths: ExtensionPaths) -> String? {
        switch paths {
        case .unchanged: nil
        case .mounted: "not the real ones, which a URL would have to encode (private mounts)"
        case .linked: "not the real ones, which a URL would have to encode (symbolic links)"
        }
    }

    /// Each app group with its directory.
    static func groups(_ report: PreflightReport) -> [String] {
        report.groups.map { group in
            let place = group.isLeftOut ? "left out" : group.directory ?? "no directory"
            return "\(PrintableText.escaping(group.identifier)): \(place)"
        }
    }

    /// The gaps of the confinement, with advice.
    static func gaps(_ report: ConfinementReport, _ advice: Advice) -> [String] {
        report.gaps.map { gap in
            let isOfMemory = gap == ConfinementReport.memoryGap
            return gap + (isOfMemory ? advice(.limitMemory).map { ": \($0)" } ?? "" : "")
        }
    }

    static func confinement(_ report: ConfinementReport) -> String {
        guard report.isConfined else { return "nothing" }
        return "files (Landlock \(report.landlockVersion)), system calls (a filter)"
            + (report.hidesOtherFiles ? ", sight of other files (a root of its own)" : "")
    }
}

// MARK: - Answer

/// The result of a preflight.
package struct PreflightAnswer: Answer {
    private let report: PreflightReport
    private let advice: Advice

    package init(_ report: PreflightReport, advice: @escaping Advice) {
        (self.report, self.advice) = (report, advice)
    }

    package var schema: String { "migrate/preflight/1" }

    package var text: String {
        let rows =
            wasStarted
            ? sessionRows : [("entitlement", "not valid: the extension was not started")]
        let name = [("extension", PrintableText.escaping(report.name))]
        return Table(rows: name + rows + groupRows + rehearsalRows).text
            + report.warnings.reduce("") {
                $0 + "warning: \(PrintableText.entitlementWarning($1, advice))\n"
            }
            + FindingLines(report.findings, advice).lines.reduce("") { $0 + $1 + "\n" }
    }

    package func encode(to encoder: any Encoder) throws {
        try report.encode(to: encoder)
    }

    /// Whether the entitlements let the extension run.
    private var wasStarted: Bool { report.entitlement != nil }

    private var sessionRows: [(String, String)] {
        let gaps = Self.rows(
            "not confined",
            phrases: PreflightText.gaps(report.confinement, advice)
        )
        let user = report.confinement.user.map { [("runs as", $0)] } ?? []
        let bounds = Self.rows("bounded", phrases: report.confinement.bounds)
        let paths = PreflightText.paths(report.paths).map { [("paths", $0)] } ?? []
        return [
            ("entitlement", PrintableText.escaping(report.entitlement ?? "")),
            ("exports", report.exports.map(PreflightText.version) ?? "no"),
            ("imports", report.imports ? "yes" : "no"),
        ] + exportRows + user + [("confined", PreflightText.confinement(report.confinement))] + gaps
            + bounds + paths
    }

    /// One row per phrase; the first one has the title.
    private static func rows(_ title: String, phrases: [String]) -> [(String, String)] {
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
        return [("rehearsal", "version \(version): \(result ?? "imported anyway")")]
    }

    private var exportRows: [(String, String)] {
        guard let exports = report.exports else { return [] }
        return [
            ("options", exports.options.isEmpty ? "none" : PreflightText.options(exports)),
            ("size", PreflightText.space(report, includingEstimate: true)),
        ]
    }
}

/// The mistakes that were found in an extension, one per line.
package struct FindingLines: Sendable {
    package let lines: [String]

    package init(_ findings: [ExtensionFinding], _ advice: Advice) {
        lines = findings.map { finding in
            let words = finding.remedy.flatMap(advice)
            let parts = [finding.message, finding.fix, words].compactMap(\.self)
            return "finding: \(finding.code.rawValue): "
                + PrintableText.escapingRest(of: parts.joined(separator: "; "))
        }
    }
}

extension PrintableText {
    /// A warning about an extension's entitlement, with the advice to name the app.
    package static func entitlementWarning(_ warning: String, _ advice: Advice) -> String {
        escapingRest(of: warning) + (advice(.nameContainerApp).map { "; " + $0 } ?? "")
    }
}
