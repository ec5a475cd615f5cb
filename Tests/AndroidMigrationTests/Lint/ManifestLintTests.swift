import AndroidMigration
import Testing

/// The manifest beside the rules, and settings in it that make the rules ineffective.
struct ManifestLintTests {
    private static func manifest(_ application: String?) throws -> AppManifest {
        let element = application.map { "<application \($0)/>" } ?? ""
        return try AppManifest(
            [UInt8](
                """
                <manifest xmlns:android="http://schemas.android.com/apk/res/android">\(element)</manifest>
                """.utf8
            )
        )
    }

    private static let rules = "android:dataExtractionRules=\"@xml/rules\""

    struct Case: CustomTestStringConvertible, Sendable {
        let application: String?
        let code: LintFinding.Code?
        var isEligible = true
        var testDescription: String { application ?? "none" }
    }

    static let cases =
        [
            Case(application: nil, code: .noApplication, isEligible: false),
            Case(
                application: "android:allowBackup=\"true\"",
                code: .rulesNotNamed,
                isEligible: false
            ),
            Case(
                application: "android:dataExtractionRules=\"@xml/other\"",
                code: .rulesNotNamed,
                isEligible: false
            ),
            Case(application: rules, code: nil),
            Case(application: "android:dataExtractionRules=\"@com.x:xml/rules\"", code: nil),
            Case(
                application: rules + " android:backupAgent=\".Agent\"",
                code: .keyValueAgent,
                isEligible: false
            ),
            Case(
                application: rules
                    + " android:backupAgent=\".Agent\" android:fullBackupOnly=\"TRUE\"",
                code: nil
            ),
            Case(
                application: rules + " android:allowBackup=\"no\"",
                code: .invalidSetting,
                isEligible: false
            ),
        ]
        + ["true", "TRUE", "True"].map {
            Case(application: rules + " android:allowBackup=\"\($0)\"", code: nil)
        }
        + ["false", "FALSE", "False"].map {
            Case(
                application: rules + " android:allowBackup=\"\($0)\"",
                code: .allowBackupFalse,
                isEligible: false
            )
        }

    @Test(arguments: cases) func `decides by the manifest`(_ item: Case) throws {
        let manifest = try Self.manifest(item.application)
        let bytes = [UInt8](LintTests.clean.utf8)
        let findings = RulesLint.check(bytes, named: "rules", manifest: manifest).findings
        #expect(
            findings.filter { $0.severity == .error }.map(\.code) == (item.code.map { [$0] } ?? [])
        )
        #expect(findings.count { $0.code == .mergedManifest } == 1)
        var file = try RulesFile(bytes)
        file.name = "rules"
        let preview = Preview(
            file,
            section: .crossPlatform,
            manifest: manifest,
            tree: DataTree()
        )
        #expect(preview.isEligible == item.isEligible)
        #expect(preview.reasons.isEmpty == item.isEligible)
    }

    @Test(arguments: ["@bool/backup", "${backup}"])
    func `names a setting that only a build knows`(_ value: String) throws {
        let manifest = try Self.manifest(Self.rules + " android:allowBackup=\"\(value)\"")
        let bytes = [UInt8](LintTests.clean.utf8)
        let lint = RulesLint.check(bytes, named: "rules", manifest: manifest)
        let finding = lint.findings.first { $0.code == .unknownSetting }
        #expect(finding?.message.contains("allowBackup=\"\(value)\"") ?? false)
        #expect(!lint.hasErrors)
    }

    private static func findings(_ rules: String) -> [LintFinding] {
        RulesLint.check(
            [UInt8](
                """
                <data-extraction-rules><device-transfer>
                \(rules)
                </device-transfer></data-extraction-rules>
                """.utf8
            )
        ).findings
    }

    @Test(arguments: ["databases/", "sub/x.db", "x.db/", "./x.db"])
    func `says that a release build refuses a slash`(_ path: String) {
        for domain in ["database", "sharedpref"] {
            let findings = Self.findings("<exclude domain=\"\(domain)\" path=\"\(path)\"/>")
            let codes: [LintFinding.Code] = [.subdirectoryPathLint, .dotSlashPathLint]
            let finding = findings.first { codes.contains($0.code) }
            #expect(finding?.severity == .error)
            #expect(finding?.message.contains("release build fails") ?? false)
            #expect(!findings.contains { $0.message.contains("/-shm") || $0.fix.contains("/-shm") })
        }
        let other = Self.findings("<exclude domain=\"device_database\" path=\"\(path)\"/>")
        #expect(!other.contains { $0.code == .subdirectoryPathLint })
    }

    @Test func `says that a release build refuses an exclude outside the includes`() {
        let findings = Self.findings(
            "<include domain=\"file\" path=\"a\"/><exclude domain=\"file\" path=\"b\"/>"
        )
        let finding = findings.first { $0.code == .excludeOutsideIncludes }
        #expect(finding?.severity == .error)
        #expect(finding?.message.contains("fails the release build") ?? false)
    }

    @Test func `tells whoever excludes five domains of the other four`() {
        let five = ["root", "file", "database", "sharedpref", "external"]
        func excludes(_ domains: [String]) -> String {
            domains.map { "<exclude domain=\"\($0)\" path=\".\"/>" }.joined()
        }
        let finding = Self.findings(excludes(five)).first { $0.code == .deviceDomainsSent }
        for name in ["device_root", "device_file", "device_database", "device_sharedpref"] {
            #expect(finding?.message.contains(name) ?? false)
        }
        let all = five + ["device_root", "device_file", "device_database", "device_sharedpref"]
        #expect(!Self.findings(excludes(all)).contains { $0.code == .deviceDomainsSent })
        #expect(
            !Self.findings(excludes(Array(five.dropLast()))).contains {
                $0.code == .deviceDomainsSent
            }
        )
    }
}
