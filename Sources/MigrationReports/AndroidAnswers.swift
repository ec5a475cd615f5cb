package import AndroidMigration
internal import MigrationCore
internal import MigrationSystem

/// Findings as lines for a person, each with its file, line and fix.
package struct LintLines: Sendable {
    let file: String
    let findings: [LintFinding]

    package init(file: String, findings: [LintFinding]) {
        (self.file, self.findings) = (file, findings)
    }

    package var text: String {
        findings.map { finding in
            "\(file):\(finding.line): \(finding.severity.rawValue): "
                + PrintableText.escapingRest(of: finding.message)
                + " [\(finding.code.rawValue)]\n"
                + (finding.severity == .note
                    ? "" : "    fix: \(PrintableText.escapingRest(of: finding.fix))\n")
        }.joined()
    }
}

// MARK: - Data for iOS

/// The data that an Android app hands over by its rules.
package struct PreviewAnswer: Answer, JSONObject {
    private let preview: Preview

    /// The mistakes in the rules that are errors.
    private let errors: LintLines

    package var schema: String { "migrate/android-preview/1" }

    /// Whether the rules hand data over, without mistakes.
    package var isSuccess: Bool { preview.isEligible && errors.findings.isEmpty }

    /// Previews the data in `tree` that the rules in `file`, called `name` in messages, hand over.
    package init(
        of file: RulesFile,
        named name: String,
        section: RuleSection,
        manifest: AppManifest?,
        tree: DataTree,
        canEncrypt: Bool
    ) {
        let findings = RulesLint(file, manifest: manifest, tree: tree).findings
        errors = LintLines(file: name, findings: findings.filter { $0.severity == .error })
        preview = Preview(
            file,
            section: section,
            manifest: manifest,
            tree: tree,
            canEncrypt: canEncrypt
        )
    }

    package var members: JSONMembers {
        [
            "eligible": preview.isEligible,
            "excluded": preview.excluded.map { Self.members(of: $0) },
            "findings": errors.findings,
            "included": preview.included.map {
                Self.members(of: $0) + ["iosPath": ExactName($0.iosPath.bytes)]
            },
            "reasons": preview.reasons, "section": preview.section,
        ]
    }

    private static func members(of item: Preview.Item) -> JSONMembers {
        [
            "bytes": item.bytes, "domain": item.domain, "path": ExactName(item.path.bytes),
            "rule": JSONMembers.orNull(item.rule),
        ]
    }

    package var text: String {
        var text =
            errors.text + "section   \(preview.section.rawValue)\n"
            + "eligible  \(preview.isEligible ? "yes" : "no")\n"
        for reason in preview.reasons {
            text += "          \(PrintableText.escapingRest(of: reason))\n"
        }
        text += Self.section("included", items: preview.included) { "\($0.iosPath)" }
        return text
            + Self.section("excluded", items: preview.excluded) { item in
                "\(item.domain.rawValue) \(item.path.bytes.isEmpty ? "." : item.path.description)"
            }
    }

    private static func section(
        _ title: String,
        items: [Preview.Item],
        name: (Preview.Item) -> String
    ) -> String {
        let bytes = items.reduce(into: UInt64(0)) { $0.addSaturating($1.bytes) }
        let rows = items.map { item in
            let size = "\(ByteCount(item.bytes))"
            let padding = String(repeating: " ", count: max(10 - size.count, 1))
            let rule = item.rule.map { "line \($0)" } ?? "-"
            let margin = String(repeating: " ", count: max(9 - rule.count, 1))
            return
                "\(padding)\(size)  \(rule)\(margin)\(name(item))\(item.isDirectory ? "/" : "")\n"
        }
        return "\(title): \(ByteCount(bytes))\n" + rows.joined()
    }
}

/// The manifest that accompanies data for iOS.
package struct ManifestAnswer: Answer, JSONObject {
    private let manifest: CrossPlatformManifest

    package init(_ manifest: CrossPlatformManifest) { self.manifest = manifest }

    package var members: JSONMembers {
        [
            "apps": manifest.parameters.map {
                [
                    "bundleId": $0.bundleIdentifier, "contentVersion": $0.contentVersion,
                    "teamId": $0.teamIdentifier,
                ] as JSONMembers
            },
            "package": manifest.package, "platform": manifest.platform,
            "signatures": manifest.signatures,
        ]
    }

    package var schema: String { "migrate/android-manifest/1" }

    package var text: String {
        let apps = manifest.parameters.map {
            let name = PrintableText.escaping("\($0.teamIdentifier).\($0.bundleIdentifier)")
            return ("app", "\(name), version '\(PrintableText.escaping($0.contentVersion))'")
        }
        let names = [("package", manifest.package), ("platform", manifest.platform)]
        let signatures = manifest.signatures.map { ("signature", $0) }
        let escaped = { (row: (String, String)) in (row.0, PrintableText.escaping(row.1)) }
        return Table(rows: names.map(escaped) + apps + signatures.map(escaped)).text
    }
}

// MARK: - Backups

/// The contents of an Android backup.
package struct BackupAnswer: Answer, JSONObject {
    private let backup: ArchiveName
    private let summary: BackupSummary

    package init(_ backup: ArchiveName, summary: BackupSummary) {
        (self.backup, self.summary) = (backup, summary)
    }

    package var schema: String { "migrate/android-backup/1" }

    package var members: JSONMembers {
        [
            "backup": backup.exact, "isCompressed": summary.form?.isCompressed ?? false,
            "isEncrypted": summary.form?.isEncrypted ?? false,
            "lost": summary.lost.map {
                ["path": $0.path, "reason": $0.reason] as JSONMembers
            },
            "packages": summary.packages.mapValues { amounts in
                Dictionary(uniqueKeysWithValues: amounts.map { ($0.key.rawValue, $0.value) })
            },
            "transfers": summary.manifests.map(ManifestAnswer.init),
            "version": summary.form?.version,
        ]
    }

    package var text: String {
        let form = summary.form.flatMap { form in
            form.version.map { version in
                "an Android backup, version \(version)" + (form.isCompressed ? ", compressed" : "")
                    + (form.isEncrypted ? ", encrypted" : "")
            }
        }
        var rows = [("backup", backup.sourceText), ("form", form ?? "data of an Android app")]
        for (name, domains) in summary.packages.sorted(by: { $0.key < $1.key }) {
            rows.append(("package", name.isEmpty ? "not named" : PrintableText.escaping(name)))
            for domain in StorageDomain.allCases {
                guard let amount = domains[domain] else { continue }
                let files = GroupedCount(amount.files).of("file", "files")
                rows.append(("  \(domain.rawValue)", "\(files), \(ByteCount(amount.bytes))"))
            }
        }
        rows += summary.lost.map { ("lost", "\($0.path) (\($0.reason))") }
        return Table(rows: rows).text + summary.manifests.map { ManifestAnswer($0).text }.joined()
    }
}

/// The result of a conversion.
package struct ConversionAnswer: Answer, JSONObject {
    private let archive: ArchiveName
    private let report: ConversionReport
    private let wording: Wording

    package init(_ archive: ArchiveName, report: ConversionReport, _ wording: Wording) {
        (self.archive, self.report, self.wording) = (archive, report, wording)
    }

    package var schema: String { "migrate/android-convert/1" }

    package var text: String {
        let version =
            report.header.map { ", version '\(PrintableText.escaping($0.resourcesVersion))'" } ?? ""
        return "\(archive.destinationText): \(PrintableText.escaping(report.package))\(version): "
            + "\(TotalsText(report.totals)) in \(ByteCount(report.bytes))\n"
            + (report.fingerprint.map { "fingerprint \($0)\n" } ?? "")
            + lines("left out", list: report.omitted)
            + lines("taken", list: report.inside) + salvagedLines
            + lines("lost", list: report.lost)
    }

    private var salvagedLines: String {
        // Without a loss, the number of files says that all of them were salvaged.
        let count = report.lost.count > 0 ? Int(clamping: report.totals.files) : 0
        return Listing.text(of: report.salvaged, count: count, others: "more salvaged", wording) {
            "salvaged: \($0)"
        }
    }

    private func lines(_ title: String, list: ConversionReport.List) -> String {
        Listing.text(of: list.items, count: list.count, wording) { item in
            "\(title): \(item.path) (\(PrintableText.escapingRest(of: item.reason)))"
        }
    }

    package var members: JSONMembers {
        [
            "archive": archive.exact, "bytes": report.bytes,
            "fingerprint": report.fingerprint?.description, "header": report.header,
            "inside": report.inside, "lost": report.lost, "omitted": report.omitted,
            "package": report.package, "salvaged": report.salvaged, "totals": report.totals,
        ]
    }
}

// MARK: - Mistakes in rules

/// The mistakes in rules.
package struct LintAnswer: Answer, JSONObject {
    private let file: String
    private let findings: [LintFinding]
    private let showsNotes: Bool
    private let wording: Wording

    package init(
        file: String,
        findings: [LintFinding],
        showsNotes: Bool,
        _ wording: Wording
    ) {
        (self.file, self.findings) = (file, findings)
        (self.showsNotes, self.wording) = (showsNotes, wording)
    }

    package var members: JSONMembers { ["findings": findings] }

    package var schema: String { "migrate/android-lint/1" }

    package var text: String {
        let shown = findings.filter { showsNotes || $0.severity != .note }
        return LintLines(file: file, findings: shown).text + summary + "\n"
    }

    private var summary: String {
        let errors = counted(.error, as: "error")
        let summary = "\(file): \(errors), \(counted(.warning, as: "warning"))"
        guard findings.contains(where: { $0.severity == .note }) else { return summary }
        let notes = counted(.note, as: "note")
        return summary + ", \(notes)" + (showsNotes ? "" : " (\(wording.step(.showNotes)))")
    }

    private func counted(_ severity: LintFinding.Severity, as name: String) -> String {
        let count = findings.count { $0.severity == severity }
        return "\(count) \(name)\(count == 1 ? "" : "s")"
    }

    /// The findings as workflow commands of GitHub, which shows them beside the lines.
    ///
    /// GitHub shows ten annotations of each kind, so notes that need no change are left out.
    package func annotations(titled title: String) -> String {
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
        return lines.joined() + "::notice title=\(title)::\(Self.data(summary))\n"
    }

    /// `text` as the message of a workflow command, which a line feed would end.
    private static func data(_ text: String) -> String {
        text.replacing("%", with: "%25").replacing("\r", with: "%0D").replacing("\n", with: "%0A")
    }

    /// `text` as a property of a workflow command, in which two more characters are special.
    private static func property(_ text: String) -> String {
        data(text).replacing(":", with: "%3A").replacing(",", with: "%2C")
    }
}
