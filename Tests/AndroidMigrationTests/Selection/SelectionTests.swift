import AndroidMigration
import MigrationArchive
import Testing

/// The selection of Android's backup agent; each rule names its source.
struct SelectionTests {
    private static let files = [
        "app/a", "app/cache/c", "app/code_cache/c", "app/no_backup/n", "app/lib/l.so",
        "app/own/o", "app/files/f", "app/files/d/f", "app/files/d/e/f", "app/databases/x.db",
        "app/databases/x.db-journal", "app/databases/x.db-wal", "app/databases/x.db-shm",
        "app/shared_prefs/s.xml", "device/app/a", "device/app/cache/c", "device/app/files/f",
        "device/app/databases/x.db", "device/app/databases/x.db-wal",
        "device/app/shared_prefs/s.xml", "external/files/f",
    ]

    private func tree(links: [String: String] = [:]) -> DataTree {
        var tree = DataTree()
        for path in Self.files { tree.insert(at: EntryPath(path), kind: .file(size: 1)) }
        for (path, target) in links {
            tree.insert(at: EntryPath(path), kind: .link(target: [UInt8](target.utf8)))
        }
        return tree
    }

    private func preview(
        _ rules: String,
        links: [String: String] = [:]
    ) throws -> Preview {
        let file = """
            <data-extraction-rules><cross-platform-transfer platform="ios">
            <platform-specific-params bundleId="a.b" teamId="ABCDE12345" contentVersion="1"/>
            \(rules)
            </cross-platform-transfer></data-extraction-rules>
            """
        return Preview(
            try RulesFile([UInt8](file.utf8)),
            section: .crossPlatform,
            tree: tree(links: links)
        )
    }

    private func sent(_ rules: String, links: [String: String] = [:]) throws -> [String] {
        try preview(rules, links: links).included.filter { !$0.isDirectory }
            .map(\.iosPath.description)
    }

    struct Case: CustomTestStringConvertible, Sendable {
        let source: String
        let rules: String
        let expected: [String]
        var testDescription: String { "\(source): \(rules)" }

        init(_ source: String, _ rules: String, _ expected: [String]) {
            self.source = source
            self.rules = rules
            self.expected = expected
        }
    }

    static let cases: [Case] = [
        Case(
            "BackupAgent.onFullBackup: no include is every domain, in this order",
            "",
            [
                "app/a", "app/own/o", "device/app/a", "app/files/d/e/f", "app/files/d/f",
                "app/files/f", "device/app/files/f", "app/databases/x.db",
                "app/databases/x.db-journal", "app/databases/x.db-shm", "app/databases/x.db-wal",
                "device/app/databases/x.db", "device/app/databases/x.db-wal",
                "app/shared_prefs/s.xml", "device/app/shared_prefs/s.xml", "external/files/f",
            ]
        ),
        Case(
            "BackupAgent.applyXmlFilters: a domain without an include gives nothing",
            #"<include domain="file" path="f"/>"#,
            ["app/files/f"]
        ),
        Case(
            "a valid include that names nothing keeps the rest out",
            #"<include domain="file" path="none"/>"#,
            []
        ),
        Case(
            "an invalid include is no include",
            #"<include domain="file" path="x..y"/><exclude domain="root"/>"#
                + [
                    "device_root", "database", "device_file", "device_database", "sharedpref",
                    "device_sharedpref", "external",
                ].map { "<exclude domain=\"\($0)\"/>" }.joined(),
            ["app/files/d/e/f", "app/files/d/f", "app/files/f"]
        ),
        Case(
            "a directory covers all below",
            #"<include domain="file" path="d"/>"#,
            ["app/files/d/e/f", "app/files/d/f"]
        ),
        Case(
            "exclude wins",
            #"<include domain="file" path="."/><exclude domain="file" path="d/e"/>"#,
            ["app/files/d/f", "app/files/f"]
        ),
        Case(
            "the walk starts beneath the excluded directory",
            #"<include domain="file" path="d/e"/><exclude domain="file" path="d"/>"#,
            ["app/files/d/e/f"]
        ),
        Case(
            "excludes are one set for all domains",
            #"<include domain="file" path="."/><exclude domain="root" path="files/d"/>"#,
            ["app/files/f"]
        ),
        Case(
            "the root leaves the other domains and the caches out",
            #"<include domain="root" path="."/>"#,
            ["app/a", "app/own/o"]
        ),
        Case(
            "the root with the name of a domain gives nothing",
            #"<include domain="root" path="files"/>"#,
            []
        ),
        Case(
            "the root with a path in a domain sends it",
            #"<include domain="root" path="files/d/f"/>"#,
            ["app/files/d/f"]
        ),
        Case(
            "BackupAgent.fullBackupFileTree: a cache is left out, what a rule names below it is sent",
            #"<include domain="root" path="cache/c"/><include domain="root" path="no_backup"/>"#,
            ["app/cache/c"]
        ),
        Case(
            "FullBackup: a database brings its -journal and -wal, not its -shm",
            #"<include domain="database" path="x.db"/>"#,
            ["app/databases/x.db", "app/databases/x.db-journal", "app/databases/x.db-wal"]
        ),
        Case(
            "FullBackupTest: a database of the device brings nothing",
            #"<include domain="device_database" path="x.db"/>"#,
            ["device/app/databases/x.db"]
        ),
        Case(
            "a whole domain brings -shm too",
            #"<include domain="database"/>"#,
            [
                "app/databases/x.db", "app/databases/x.db-journal", "app/databases/x.db-shm",
                "app/databases/x.db-wal",
            ]
        ),
        Case(
            "an excluded database leaves its -shm",
            #"<include domain="database"/><exclude domain="database" path="x.db"/>"#,
            ["app/databases/x.db-shm"]
        ),
        Case(
            "FullBackup: preferences get .xml",
            #"<include domain="sharedpref" path="s"/>"#,
            ["app/shared_prefs/s.xml"]
        ),
        Case(
            "FullBackupTest: preferences of the device do not",
            #"<include domain="device_sharedpref" path="s"/>"#,
            []
        ),
        Case("no wildcards", #"<include domain="file" path="*"/>"#, []),
        Case("names are case-sensitive", #"<include domain="file" path="F"/>"#, []),
        Case(
            "a slash at the start is below the domain",
            #"<include domain="file" path="/f"/>"#,
            ["app/files/f"]
        ),
        Case(
            "./ and . are the whole domain",
            #"<include domain="external" path="./"/>"#,
            ["external/files/f"]
        ),
        Case(
            "FullBackup.extractCanonicalFile: an empty path is the whole domain",
            #"<include domain="external" path=""/>"#,
            ["external/files/f"]
        ),
        Case(
            "FullBackup.parseRules: an exclude with '//' is dropped",
            #"<include domain="file"/><exclude domain="file" path="d//e"/>"#,
            ["app/files/d/e/f", "app/files/d/f", "app/files/f"]
        ),
        Case(
            "FullBackup.parseRules: an exclude of an unknown domain is dropped",
            #"<include domain="file" path="f"/><exclude domain="File" path="f"/>"#,
            ["app/files/f"]
        ),
        Case(
            "FullBackup.getRequiredFlagsForRule: requireFlags is no condition in the newer format",
            #"<include domain="file" path="f" requireFlags="clientSideEncryption"/>"#,
            ["app/files/f"]
        ),
        Case(
            "FullBackup: preferences with .xml get no other",
            #"<include domain="sharedpref" path="s.xml"/>"#,
            ["app/shared_prefs/s.xml"]
        ),
        Case(
            "FullBackup: an excluded file of preferences takes its .xml along",
            #"<include domain="sharedpref"/><exclude domain="sharedpref" path="s"/>"#,
            []
        ),
        Case(
            "BackupAgent.onFullBackup: excluding the root leaves the domains in it",
            #"<include domain="file" path="f"/><include domain="root"/><exclude domain="root"/>"#,
            ["app/files/f"]
        ),
    ]

    @Test(arguments: cases) func `sends`(_ example: Case) throws {
        #expect(try sent(example.rules) == example.expected)
    }

    @Test func `skips links in a walk and follows those that a rule names`() throws {
        let links = ["app/files/link": "d/f", "app/files/out": "/data/data/a.b/files/f"]
        let whole = try sent(#"<include domain="file"/>"#, links: links)
        #expect(whole == ["app/files/d/e/f", "app/files/d/f", "app/files/f"])
        #expect(
            try sent(#"<include domain="file" path="link"/>"#, links: links) == ["app/files/d/f"]
        )
        #expect(try sent(#"<include domain="file" path="out"/>"#, links: links) == ["app/files/f"])
        let excluded = #"<include domain="file"/><exclude domain="file" path="out"/>"#
        #expect(try sent(excluded, links: links) == ["app/files/d/e/f", "app/files/d/f"])
    }

    @Test func `sends directories, but not that of a domain, and no special files`() throws {
        var tree = tree()
        tree.insert(at: EntryPath("app/files/pipe"), kind: .other)
        tree.insert(at: EntryPath("app/files/empty"), kind: .directory)
        let file = #"""
            <data-extraction-rules><device-transfer><include domain="file"/></device-transfer>
            </data-extraction-rules>
            """#
        let rules = try RulesFile([UInt8](file.utf8))
        let preview = Preview(rules, section: .device, tree: tree)
        #expect(
            preview.included.filter(\.isDirectory).map(\.iosPath.description) == [
                "app/files/d", "app/files/d/e", "app/files/empty",
            ]
        )
        #expect(!preview.included.contains { $0.iosPath.description == "app/files/pipe" })
    }

    @Test func `gives a directory no companions`() throws {
        var tree = tree()
        tree.insert(at: EntryPath("app/databases/d/x"), kind: .file(size: 1))
        tree.insert(at: EntryPath("app/databases/d-wal"), kind: .file(size: 1))
        let file = #"""
            <data-extraction-rules><device-transfer><include domain="database" path="d"/>
            </device-transfer></data-extraction-rules>
            """#
        let rules = try RulesFile([UInt8](file.utf8))
        let preview = Preview(rules, section: .device, tree: tree)
        #expect(
            preview.included.map(\.iosPath.description) == ["app/databases/d", "app/databases/d/x"]
        )
    }

    @Test func `ends on links in a circle`() throws {
        let links = ["app/files/l1": "l2", "app/files/l2": "l1"]
        #expect(try sent(#"<include domain="file" path="l1"/>"#, links: links) == [])
    }

    @Test func `names the rule, the bytes and the place on iOS`() throws {
        let preview = try preview(
            "<include domain=\"file\" path=\"d\"/>\n<exclude domain=\"file\" path=\"d/e\"/>"
        )
        let file = try #require(preview.included.first { !$0.isDirectory })
        #expect(file.domain == .file)
        #expect(file.path.description == "d/f")
        #expect(file.iosPath.description == "app/files/d/f")
        #expect((file.bytes, file.rule ?? 0) == (1, 3))
        let excluded = try #require(preview.excluded.first { $0.rule != nil })
        #expect(excluded.iosPath.description == "app/files/d/e")
        #expect((excluded.bytes, excluded.rule ?? 0) == (1, 4))
        #expect(preview.excluded.contains { $0.iosPath.description == "app/databases" })
    }

    @Test func `counts every byte once`() throws {
        for example in Self.cases {
            let preview = try preview(example.rules)
            let bytes = (preview.included + preview.excluded).reduce(0) { $0 + $1.bytes }
            #expect(bytes == UInt64(Self.files.count), "\(example.testDescription)")
        }
    }

    @Test(arguments: [
        (RuleSection.device, "<device-transfer/>", true), (.cloud, "<cloud-backup/>", true),
        (.crossPlatform, "<cross-platform-transfer platform=\"ios\"/>", false),
        (.crossPlatform, "<cross-platform-transfer/>", false),
        (.crossPlatform, "", false), (.legacy, "", false),
        (.cloud, "<cloud-backup disableIfNoEncryptionCapabilities=\"true\"/>", false),
    ])
    func `says whether the app takes part`(
        _ section: RuleSection,
        _ body: String,
        _ isEligible: Bool
    ) throws {
        let file = "<data-extraction-rules>\(body)</data-extraction-rules>"
        let preview = Preview(
            try RulesFile([UInt8](file.utf8)),
            section: section,
            tree: tree(),
            canEncrypt: false
        )
        #expect(preview.isEligible == isEligible)
        #expect(preview.reasons.isEmpty == isEligible)
        #expect(preview.included.isEmpty != isEligible)
        #expect(
            isEligible || preview.excluded.reduce(0) { $0 + $1.bytes } == UInt64(Self.files.count)
        )
    }

    @Test(arguments: [
        (RuleSection.crossPlatform, "36", false), (.cloud, "36", false), (.device, "36", true),
        (.device, "30", false),
    ])
    func `heeds allowBackup where Android does`(
        _ section: RuleSection,
        _ target: String,
        _ isEligible: Bool
    ) throws {
        let manifest = """
            <manifest xmlns:android="http://schemas.android.com/apk/res/android">
            <uses-sdk android:targetSdkVersion="\(target)"/>
            <application android:allowBackup="false" android:dataExtractionRules="@xml/r"/>
            </manifest>
            """
        let preview = Preview(
            try RulesFile([UInt8](LintTests.clean.utf8)),
            section: section,
            manifest: try AppManifest([UInt8](manifest.utf8)),
            tree: tree()
        )
        #expect(preview.isEligible == isEligible)
    }

    struct Eligibility: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let section: RuleSection
        let file: String
        /// The files that are sent; `nil` if the app takes no part.
        let sent: [String]?

        init(_ source: String, _ section: RuleSection, _ file: String, _ sent: [String]?) {
            testDescription = source
            self.section = section
            self.file = file
            self.sent = sent
        }
    }

    private static let parameters =
        #"<platform-specific-params bundleId="a.b" teamId="ABCDE12345" contentVersion="1"/>"#
    private static let one = #"<include domain="file" path="f"/>"#

    static let eligibilities: [Eligibility] = [
        Eligibility(
            "BackupEligibilityRules: parameters without a version do",
            .crossPlatform,
            #"<cross-platform-transfer platform="ios">"#
                + #"<platform-specific-params bundleId="a.b" teamId="ABCDE12345"/>"#
                + "\(one)</cross-platform-transfer>",
            ["app/files/f"]
        ),
        Eligibility(
            "CrossPlatformManifest: one of the apps must match",
            .crossPlatform,
            #"<cross-platform-transfer platform="ios">"#
                + #"<platform-specific-params teamId="ABCDE12345" contentVersion="1"/>"#
                + "\(one)</cross-platform-transfer>",
            nil
        ),
        Eligibility(
            "PlatformConfigParser: parameters are the section's own children",
            .crossPlatform,
            #"<cross-platform-transfer platform="ios"><include domain="file" path="f">"#
                + "\(parameters)</include></cross-platform-transfer>",
            nil
        ),
        Eligibility(
            "PlatformConfigParser: the platform is exactly 'ios'",
            .crossPlatform,
            "<cross-platform-transfer platform=\"ios \">\(parameters)</cross-platform-transfer>",
            nil
        ),
        Eligibility(
            "FullBackup: sections of a kind add up",
            .crossPlatform,
            "<cross-platform-transfer platform=\"ios\">\(parameters)\(one)</cross-platform-transfer>"
                + #"<cross-platform-transfer platform="ios"><include domain="external"/>"#
                + "</cross-platform-transfer>",
            ["app/files/f", "external/files/f"]
        ),
        Eligibility(
            "FullBackup: only the destination's own section is validated",
            .crossPlatform,
            "<cloud-backup><broken/></cloud-backup>"
                + "<cross-platform-transfer platform=\"ios\">\(parameters)\(one)"
                + "</cross-platform-transfer>",
            ["app/files/f"]
        ),
        Eligibility(
            "FullBackup: its rules are those of no other section",
            .cloud,
            "<cloud-backup><include domain=\"external\"/></cloud-backup>"
                + "<device-transfer>\(one)</device-transfer>",
            ["external/files/f"]
        ),
        Eligibility(
            "FullBackup: a transport that encrypts satisfies the cloud's condition",
            .cloud,
            "<cloud-backup disableIfNoEncryptionCapabilities=\"true\">\(one)</cloud-backup>",
            ["app/files/f"]
        ),
    ]

    @Test(arguments: eligibilities) func `heeds`(_ example: Eligibility) throws {
        let file = "<data-extraction-rules>\(example.file)</data-extraction-rules>"
        let preview = Preview(
            try RulesFile([UInt8](file.utf8)),
            section: example.section,
            tree: tree()
        )
        #expect(preview.isEligible == (example.sent != nil))
        #expect(preview.included.map(\.iosPath.description) == example.sent ?? [])
    }

    @Test(arguments: [RuleSection.device, .cloud])
    func `sends everything where a section is missing, and says so`(_ section: RuleSection) throws {
        let preview = Preview(
            try RulesFile([UInt8]("<data-extraction-rules/>".utf8)),
            section: section,
            tree: tree()
        )
        #expect(preview.isEligible)
        #expect(preview.reasons.first?.contains("so everything is sent") ?? false)
        #expect(preview.included.count { !$0.isDirectory } == 16)
    }

    @Test func `takes the older format for no transfer to iOS`() throws {
        let rules = try RulesFile([UInt8]("<full-backup-content/>".utf8))
        let preview = Preview(rules, section: .crossPlatform, tree: tree())
        #expect(!preview.isEligible)
        #expect(Preview(rules, section: .legacy, tree: tree()).isEligible)
    }

    @Test func `sends nothing where the parser gives up, and says so`() throws {
        let preview = try preview("<keep/>")
        #expect(preview.isEligible)
        #expect(preview.included.isEmpty)
        #expect(preview.reasons.first?.contains("Android's parser gives up at line 3") ?? false)
    }

    @Test func `takes the conditions of the older format`() throws {
        let file = """
            <full-backup-content>
            <include domain="file" path="f" requireFlags="clientSideEncryption"/>
            <include domain="file" path="d/f" requireFlags="deviceToDeviceTransfer|clientSideEncryption"/>
            <include domain="external" requireFlags="misspelt"/>
            <include domain="root" path="a" requireFlags="fakeClientSideEncryption"/>
            </full-backup-content>
            """
        let rules = try RulesFile([UInt8](file.utf8))
        let encrypting = Preview(rules, section: .legacy, tree: tree())
        #expect(
            encrypting.included.map(\.iosPath.description) == ["app/files/f", "external/files/f"]
        )
        let plain = Preview(rules, section: .legacy, tree: tree(), canEncrypt: false)
        #expect(plain.included.map(\.iosPath.description) == ["external/files/f"])
    }
}
