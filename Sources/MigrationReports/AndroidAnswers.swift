package import AndroidMigration
internal import MigrationCore
internal import MigrationSystem

/// Findings as lines for a person, each with its place and its fix.
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

// MARK: - What an app hands over

/// The data that an Android app hands over by its rules.
package struct PreviewAnswer: Answer, JSONObject {
    private let preview: Preview

    /// The mistakes in the rules that are errors.
    private let errors: LintLines

    package var schema: String { "migrate/android-preview/1" }

    package init(_ preview: Preview, errors: LintLines) {
        (self.preview, self.errors) = (preview, errors)
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

/// What an Android backup holds.
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
