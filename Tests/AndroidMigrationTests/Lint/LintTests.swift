import AndroidMigration
import MigrationArchive
import Testing

/// Each trap of the rules as a finding, with the place that documents Android's behavior.
struct LintTests {
    /// The rules of a device without a mistake.
    static let clean = """
        <data-extraction-rules>
        <cloud-backup><include domain="file" path="notes"/></cloud-backup>
        <device-transfer><exclude domain="file" path="logs"/></device-transfer>
        <cross-platform-transfer platform="ios">
        <platform-specific-params bundleId="com.example.app" teamId="ABCDE12345" contentVersion="1"/>
        <include domain="file" path="notes"/>
        </cross-platform-transfer>
        </data-extraction-rules>
        """

    struct Trap: CustomTestStringConvertible, Sendable {
        let name: String
        let source: String
        let rules: String
        let expected: [String]
        var testDescription: String { "\(name) (\(source))" }

        init(_ name: String, _ source: String, cross rules: String, _ expected: [String]) {
            self.name = name
            self.source = source
            self.expected = expected
            self.rules = """
                <data-extraction-rules>
                <cloud-backup><include domain="file" path="notes"/></cloud-backup>
                <device-transfer><include domain="file" path="notes"/></device-transfer>
                <cross-platform-transfer platform="ios">
                <platform-specific-params bundleId="a.b" teamId="ABCDE12345" contentVersion="1"/>
                \(rules)
                </cross-platform-transfer>
                </data-extraction-rules>
                """
        }

        init(_ name: String, _ source: String, file rules: String, _ expected: [String]) {
            self.name = name
            self.source = source
            self.expected = expected
            self.rules = rules
        }
    }

    static let nineExcludes = [
        "root", "file", "database", "sharedpref", "external", "device_root", "device_file",
        "device_database", "device_sharedpref",
    ].map { "<exclude domain=\"\($0)\" path=\".\"/>" }.joined(separator: "\n")

    static let traps: [Trap] = [
        Trap("nothing is wrong", "data-extraction-rules, guide", file: clean, []),
        Trap("deny all", "guide: nine domains", cross: nineExcludes, []),
        Trap(
            "an empty section",
            "FullBackup: no include is everything",
            cross: "",
            ["error 4 empty-section"]
        ),
        Trap(
            "an unknown domain",
            "FullBackup.getDirectoryForCriteriaDomain",
            cross: "<include domain=\"file\" path=\"a\"/>\n<exclude domain=\"files\" path=\"b\"/>",
            ["error 7 unknown-domain"]
        ),
        Trap(
            "device_external",
            "FullBackup: nine domains",
            cross: "<exclude domain=\"device_external\" path=\".\"/>",
            ["error 6 device-external-domain"]
        ),
        Trap(
            "two dots anywhere",
            "FullBackup.extractCanonicalFile",
            cross: "<exclude domain=\"file\" path=\"a..b\"/>",
            ["error 6 invalid-path"]
        ),
        Trap(
            "two slashes",
            "FullBackup.extractCanonicalFile",
            cross: "<exclude domain=\"file\" path=\"a//b\"/>",
            ["error 6 invalid-path"]
        ),
        Trap(
            "a slash at the start is valid",
            "FullBackupTest",
            cross: "<exclude domain=\"file\" path=\"/a\"/>",
            []
        ),
        Trap(
            "the only include is invalid",
            "FullBackup: an include that is dropped is none",
            cross: "<include domain=\"file\" path=\"../a\"/>",
            ["error 6 only-include-invalid", "error 6 invalid-path"]
        ),
        Trap(
            "a wildcard",
            "guide: no wildcards",
            cross: "<exclude domain=\"file\" path=\"*.tmp\"/>",
            ["error 6 wildcard-path"]
        ),
        Trap(
            "a rule for the cache",
            "guide: cache is never sent",
            cross: "<exclude domain=\"root\" path=\"cache/pages\"/>",
            ["warning 6 dead-rule"]
        ),
        Trap(
            "include of the root",
            "BackupAgent.onFullBackup: other domains are pruned",
            cross: "<include domain=\"root\" path=\".\"/>",
            ["error 6 root-include-misunderstood"]
        ),
        Trap(
            "include of files in the root",
            "BackupAgent.onFullBackup",
            cross: "<include domain=\"root\" path=\"files\"/>",
            ["error 6 root-include-misunderstood"]
        ),
        Trap(
            "include below files in the root",
            "BackupAgent.onFullBackup: sent with token r",
            cross: "<include domain=\"root\" path=\"files/a\"/>",
            []
        ),
        Trap(
            "exclude of the root",
            "BackupAgent.onFullBackup",
            cross: "<exclude domain=\"root\"/>",
            ["error 6 root-exclude-misunderstood"]
        ),
        Trap(
            "exclude of a domain through the root",
            "BackupAgent: excludes are one set of paths",
            cross: "<exclude domain=\"root\" path=\"databases\"/>",
            []
        ),
        Trap(
            "exclude of the root and the three by their paths",
            "one set of paths",
            cross: """
                <exclude domain="root"/><exclude domain="root" path="files"/>
                <exclude domain="root" path="databases"/><exclude domain="sharedpref"/>
                """,
            []
        ),
        Trap(
            "a rule without a domain",
            "FullBackup.getDirectoryForCriteriaDomain",
            cross: "<exclude path=\"a\"/>",
            ["error 6 missing-attribute"]
        ),
        Trap(
            "a path that is missing",
            "FullBackup.extractCanonicalFile: the whole domain",
            cross: "<exclude domain=\"external\"/>",
            []
        ),
        Trap(
            "requireFlags in the new format",
            "guide: full-backup-content alone",
            cross: "<include domain=\"file\" path=\"a\" requireFlags=\"clientSideEncryption\"/>",
            ["warning 6 require-flags-ignored"]
        ),
        Trap(
            "requireFlags at an exclude",
            "FullBackup.validateInnerTagContents: at most two",
            cross: "<exclude domain=\"file\" path=\"a\" requireFlags=\"clientSideEncryption\"/>",
            ["error 6 parser-abort", "warning 6 require-flags-ignored"]
        ),
        Trap(
            "a fourth attribute",
            "FullBackup.validateInnerTagContents: at most three",
            cross: "<include domain=\"file\" path=\"a\" requireFlags=\"\" other=\"\"/>",
            ["error 6 parser-abort", "warning 6 require-flags-ignored"]
        ),
        Trap(
            "attributes of the tools do not count",
            "aapt2 takes them out",
            cross: """
                <exclude xmlns:tools="http://schemas.android.com/tools" tools:a="" tools:b=""
                domain="file" path="a"/>
                """,
            []
        ),
        Trap(
            "another element",
            "FullBackup.validateInnerTagContents",
            cross: "<exclude domain=\"file\" path=\"a\"/>\n<keep/>",
            ["error 7 parser-abort"]
        ),
        Trap(
            "a fourth attribute of the parameters",
            "PlatformConfigParser's test",
            file: clean.replacing("teamId=", with: "x=\"\" teamId="),
            ["error 5 parser-abort"]
        ),
        Trap(
            "preferences without .xml",
            "FullBackup: sharedpref adds .xml",
            cross: "<exclude domain=\"sharedpref\" path=\"settings\"/>",
            ["note 6 sharedpref-without-xml"]
        ),
        Trap(
            "preferences of the device without .xml",
            "FullBackupTest: no companions",
            cross: "<exclude domain=\"device_sharedpref\" path=\"settings\"/>",
            ["error 6 sharedpref-without-xml"]
        ),
        Trap(
            "./ in a database's path",
            "FullBackupContentDetector",
            cross: "<include domain=\"database\" path=\"./\"/>",
            ["error 6 dot-slash-path-lint"]
        ),
        Trap(
            "a dot for the whole domain",
            "FullBackupContentDetectorTest",
            cross: "<include domain=\"database\" path=\".\"/>",
            []
        ),
        Trap(
            "a database without its -shm",
            "FullBackup: companions are -journal and -wal",
            cross: "<exclude domain=\"database\" path=\"x.db\"/>",
            ["note 6 database-sidecar-note"]
        ),
        Trap(
            "a database with its -shm",
            "FullBackup",
            cross: """
                <exclude domain="database" path="x.db"/><exclude domain="database" path="x.db-shm"/>
                """,
            []
        ),
        Trap(
            "a database of the device, its -journal and -wal given",
            "FullBackupTest",
            cross: """
                <exclude domain="device_database" path="x.db"/>
                <exclude domain="device_database" path="x.db-wal"/>
                <exclude domain="device_database" path="x.db-journal"/>
                """,
            ["note 6 database-sidecar-note"]
        ),
        Trap(
            "an exclude outside of the includes",
            "FullBackupContentDetectorTest",
            cross: "<include domain=\"file\" path=\"a\"/>\n<exclude domain=\"file\" path=\"b\"/>",
            ["error 7 exclude-outside-includes"]
        ),
        Trap(
            "an exclude within an include",
            "FullBackupContentDetectorTest",
            cross: "<include domain=\"file\" path=\"a\"/>\n<exclude domain=\"file\" path=\"a/b\"/>",
            []
        ),
        Trap(
            "an include below an exclude",
            "BackupAgent: the walk starts beneath it",
            cross: "<exclude domain=\"file\" path=\"a\"/>\n<include domain=\"file\" path=\"a/b\"/>",
            ["error 7 exclude-parent-of-include"]
        ),
        Trap(
            "the same in both lists",
            "FullBackupContentDetectorTest",
            cross: "<include domain=\"file\" path=\"a\"/>\n<exclude domain=\"file\" path=\"a/\"/>",
            ["error 6 exclude-parent-of-include"]
        ),
        Trap(
            "a section of another name",
            "FullBackup: only its own name is looked for",
            file: clean.replacing("device-transfer", with: "device-to-device"),
            ["warning 1 missing-section", "error 3 unknown-section"]
        ),
        Trap(
            "a section that is missing",
            "FullBackup: everything between devices",
            file: clean.replacing("<cloud-backup>", with: "<!--")
                .replacing("</cloud-backup>", with: "-->"),
            ["warning 1 missing-section"]
        ),
        Trap(
            "no section for other platforms",
            "BackupEligibilityRules",
            file: """
                <data-extraction-rules>
                <cloud-backup><include domain="file" path="a"/></cloud-backup>
                <device-transfer><include domain="file" path="a"/></device-transfer>
                </data-extraction-rules>
                """,
            ["warning 1 no-cross-platform-section"]
        ),
        Trap(
            "a section twice",
            "FullBackup: rules add up",
            file: clean.replacing(
                "</data-extraction-rules>",
                with: "<cloud-backup><exclude domain=\"file\" path=\"notes/b\"/></cloud-backup>"
                    + "</data-extraction-rules>"
            ),
            ["warning 8 duplicate-section"]
        ),
        Trap(
            "no platform",
            "PlatformConfigParser",
            file: clean.replacing(" platform=\"ios\"", with: ""),
            ["error 4 missing-platform"]
        ),
        Trap(
            "a platform in capitals",
            "PlatformConfigParser: exactly 'ios'",
            file: clean.replacing("\"ios\"", with: "\"iOS\""),
            ["error 4 unknown-platform"]
        ),
        Trap(
            "no parameters",
            "BackupEligibilityRules: a non-empty list",
            file: clean.replacing("<platform-specific-params", with: "<!--")
                .replacing("contentVersion=\"1\"/>", with: "-->"),
            ["error 4 missing-params"]
        ),
        Trap(
            "no team",
            "guide: all three are required",
            file: clean.replacing("teamId=\"ABCDE12345\"", with: ""),
            ["error 5 missing-attribute"]
        ),
        Trap(
            "the older format",
            "FullBackup, full-backup-content",
            file: """
                <full-backup-content>
                <include domain="file" path="a" requireFlags="clientSideEncryption"/>
                <include domain="file" path="b" requireFlags="clientSideEncyption"/>
                </full-backup-content>
                """,
            ["note 1 no-cross-platform-section", "error 3 require-flags-ignored"]
        ),
        Trap(
            "identifiers that no app can have",
            "BackupManagerService: compared letter by letter",
            file: clean.replacing("teamId=\"ABCDE12345\"", with: "teamId=\"ABC\"")
                .replacing("com.example.app", with: "com.example/app"),
            ["error 5 invalid-identifier", "error 5 invalid-identifier"]
        ),
        Trap(
            "attributes that are empty",
            "PlatformConfigParser takes a missing one for empty",
            file: clean.replacing("contentVersion=\"1\"", with: "contentVersion=\"\"")
                .replacing("ABCDE12345", with: ""),
            ["error 5 missing-attribute", "error 5 missing-attribute"]
        ),
        Trap(
            "no rules",
            "FullBackup.verifyTopLevelTag",
            file: "<manifest/>",
            ["error 1 not-rules-file"]
        ),
    ]

    @Test(arguments: traps) func `finds`(_ trap: Trap) {
        let lint = RulesLint.check([UInt8](trap.rules.utf8))
        let found = lint.findings.map { "\($0.severity.rawValue) \($0.line) \($0.code.rawValue)" }
        #expect(found == trap.expected)
        #expect(lint.hasErrors == trap.expected.contains { $0.hasPrefix("error") })
    }

    /// The rules that a project generates for an app, with later additions, for old and new
    /// devices.
    @Test func `reads rules as projects have them`() throws {
        let rules = """
            <?xml version="1.0" encoding="utf-8"?>
            <!--
               Sample data extraction rules file; uncomment and customize as necessary.
            -->
            <data-extraction-rules xmlns:tools="http://schemas.android.com/tools">
                <cloud-backup disableIfNoEncryptionCapabilities="true">
                    <exclude domain="sharedpref" path="secrets.xml" tools:ignore="all" />
                    <exclude domain="database" path="cache.db" />
                    <exclude domain="database" path="cache.db-shm" />
                </cloud-backup>
                <!--
                <device-transfer>
                    <include .../>
                </device-transfer>
                -->
                <device-transfer>
                    <exclude domain="sharedpref" path="secrets.xml" />
                    <exclude domain="root" path="app_webview" />
                </device-transfer>
                <cross-platform-transfer platform="ios">
                    <platform-specific-params
                        bundleId="com.example.app"
                        teamId="ABCDE12345"
                        contentVersion="2" />
                    <include domain="database" path="notes.db" />
                    <include domain="sharedpref" path="settings.xml" />
                    <include domain="file" path="attachments/" />
                    <exclude domain="file" path="attachments/thumbnails" />
                </cross-platform-transfer>
            </data-extraction-rules>
            """
        #expect(RulesLint.check([UInt8](rules.utf8)).findings.isEmpty)
        var tree = DataTree()
        for path in [
            "app/databases/notes.db", "app/databases/notes.db-wal", "app/databases/cache.db",
            "app/databases/cache.db-wal", "app/shared_prefs/settings.xml",
            "app/shared_prefs/secrets.xml", "app/files/attachments/1.jpg", "app/files/log",
            "app/files/attachments/thumbnails/1.jpg", "app/app_webview/Cookies",
        ] { tree.insert(at: EntryPath(path), kind: .file(size: 1)) }
        let file = try RulesFile([UInt8](rules.utf8))
        func sent(_ section: RuleSection) -> [String] {
            Preview(file, section: section, tree: tree).included.filter { !$0.isDirectory }
                .map(\.iosPath.description)
        }
        #expect(
            sent(.crossPlatform) == [
                "app/files/attachments/1.jpg", "app/databases/notes.db",
                "app/databases/notes.db-wal", "app/shared_prefs/settings.xml",
            ]
        )
        #expect(!sent(.cloud).contains("app/databases/cache.db-wal"))
        #expect(sent(.cloud).count == 7)
        #expect(!sent(.device).contains("app/app_webview/Cookies"))
        #expect(sent(.device).count == 8)

        let legacy = """
            <?xml version="1.0" encoding="utf-8"?>
            <full-backup-content>
                <include domain="file" path="attachments" requireFlags="clientSideEncryption" />
                <include domain="database" path="notes.db" />
                <exclude domain="file" path="attachments/thumbnails" />
            </full-backup-content>
            """
        #expect(
            RulesLint.check([UInt8](legacy.utf8)).findings.map(\.code) == [.noCrossPlatformSection]
        )
        let older = Preview(try RulesFile([UInt8](legacy.utf8)), section: .legacy, tree: tree)
        #expect(
            older.included.filter { !$0.isDirectory }.map(\.iosPath.description) == [
                "app/files/attachments/1.jpg", "app/databases/notes.db",
                "app/databases/notes.db-wal",
            ]
        )
    }

    @Test func `finds an app that allows no backup`() throws {
        let manifest = try AppManifest(
            [UInt8](
                """
                <manifest xmlns:android="http://schemas.android.com/apk/res/android">
                <application android:allowBackup="false" android:dataExtractionRules="@xml/r"/>
                </manifest>
                """.utf8
            )
        )
        let lint = RulesLint.check([UInt8](Self.clean.utf8), manifest: manifest)
        #expect(Set(lint.findings.map(\.code)) == [.mergedManifest, .allowBackupFalse])
        #expect(lint.hasErrors)
    }

    @Test func `looks at each of many rules once`() throws {
        let paths = (0..<3_000).map { "d\($0)/" + String(repeating: "x/", count: 50) }
        let rules =
            paths.map { "<include domain=\"file\" path=\"\($0)\"/>" }
            + paths.map { "<exclude domain=\"file\" path=\"\($0)y\"/>" }
            + [
                "<exclude domain=\"database\" path=\"z\"/><include domain=\"file\" path=\"d1/x/y\"/>"
            ]
        let text =
            "<full-backup-content>\n" + rules.joined(separator: "\n") + "</full-backup-content>"
        let findings = RulesLint.check([UInt8](text.utf8)).findings
        let codes = findings.map(\.code.rawValue).filter { $0.contains("exclude") }
        #expect(codes == ["exclude-outside-includes"], "\(codes.prefix(5))")
    }
}
