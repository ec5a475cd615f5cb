internal import MigrationHosting
internal import MigrationReports
internal import MigrationSystem

/// The signs that another program's archive may be incomplete.
protocol CompletenessReport {
    var fingerprint: Fingerprint? { get }
    var lacksEndMark: Bool { get }
    var hasTrailer: Bool { get }
    var isAndroidBackup: Bool { get }
}

extension ImportReport: CompletenessReport {}
extension ArchiveInspection: CompletenessReport {}

extension Console {
    /// Warns that another program's archive can't be proved complete.
    func logMissingProof(of name: String, in report: some CompletenessReport) {
        if report.fingerprint == nil {
            tell(
                "migrate: note: \(name) carries no fingerprint: "
                    + "nothing proves that it is complete"
            )
        }
        if report.isAndroidBackup {
            log(
                "migrate: warning: \(name) is an Android backup and was read as a tar file: convert it "
                    + "with 'migrate android convert'"
            )
        }
        if report.lacksEndMark {
            log("migrate: warning: \(name) has no end mark: it may have been cut short")
        }
        if report.hasTrailer {
            log("migrate: warning: \(name) has bytes after its end mark, which were not read")
        }
    }

    /// Prints the warnings and findings about an extension, below the answer.
    func logFindings(of report: ExtensionReport?) throws {
        guard let report, !report.findings.isEmpty || !report.warnings.isEmpty else { return }
        try output.flush()
        for warning in report.warnings {
            let text = PrintableText.entitlementWarning(warning, ErrorMessage.Hint.advice)
            log("migrate: warning: \(text)")
        }
        for line in FindingLines(report.findings, ErrorMessage.Hint.advice).lines {
            log("migrate: \(line)")
        }
    }

    /// Warns about files of earlier imports that could not be removed.
    func logLeftovers(of report: ImportReport) {
        report.leftovers.forEach(warn)
    }

    /// Warns of links that an import would refuse.
    func logExternalLinks(of report: ExportReport) {
        let lines = Listing.lines(
            of: report.externalLinks,
            count: report.externalLinkCount,
            others: "more such links",
            .ofFlags
        ) { link in
            "\(link) leads out of the container: an import refuses it unless --external-links says "
                + "otherwise"
        }
        for line in lines { log("migrate: warning: \(line)") }
    }
}
