internal import MigrationArchive
internal import MigrationCore
internal import MigrationHosting
internal import MigrationSystem

/// The summary of a preflight, printed before the messages of an export or an import.
struct PreflightText {
    let report: PreflightReport

    /// Whether the extension is about to export.
    let isOfExport: Bool

    /// Whether the gaps of the confinement are listed.
    let isVerbose: Bool

    var lines: [String] {
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
            isVerbose
                ? "not confined: \(Self.gaps(report.confinement).joined(separator: "; "))" : nil,
            report.confinement.bounds.isEmpty
                ? nil : "bounded: \(report.confinement.bounds.joined(separator: "; "))",
            Self.paths(report.paths).map { "paths: \($0)" },
        ].compactMap(\.self)
    }
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

    /// What isn't confined, with the flag that helps.
    static func gaps(_ report: ConfinementReport) -> [String] {
        report.gaps.map { gap in
            let isOfMemory = gap == ConfinementReport.memoryGap
            let hint = isOfMemory ? ErrorMessage.Hint(.limitMemory) : nil
            return gap + (hint.map { ": \($0.advice)" } ?? "")
        }
    }

    static func confinement(_ report: ConfinementReport) -> String {
        guard report.isConfined else { return "nothing" }
        return "files (Landlock \(report.landlockVersion)), system calls (a filter)"
            + (report.hidesOtherFiles ? ", sight of other files (a root of its own)" : "")
    }
}
