import AndroidMigration
import MigrationArchive
import Testing

/// The effect of rules on the data of an app.
struct DataLintTests {
    private func findings(_ rules: String, _ files: [String: String]) -> [String] {
        var tree = DataTree()
        for (path, content) in files {
            tree.insert(
                at: EntryPath(path),
                kind: .file(size: UInt64(content.utf8.count)),
                head: [UInt8](content.utf8)
            )
        }
        let file = """
            <data-extraction-rules>
            <cross-platform-transfer platform="ios">
            <platform-specific-params bundleId="a.b" teamId="ABCDE12345" contentVersion="1"/>
            \(rules)
            </cross-platform-transfer>
            </data-extraction-rules>
            """
        return RulesLint.check([UInt8](file.utf8), tree: tree).findings
            .filter { $0.line > 1 && $0.code != .databaseSidecarNote }
            .map { "\($0.line) \($0.code.rawValue): \($0.message)" }
    }

    @Test func `finds a rule that names nothing`() {
        let found = findings(
            "<exclude domain=\"file\" path=\"tokens\"/>",
            ["app/files/token": "x"]
        )
        #expect(
            found == [
                "4 dead-rule: the exclude of 'tokens' names nothing that is there",
                "4 rule-bytes: the rule keeps back 0 bytes",
            ]
        )
    }

    @Test func `takes a companion for what a rule names`() {
        let found = findings(
            "<exclude domain=\"sharedpref\" path=\"a\"/>",
            ["app/shared_prefs/a.xml": "four"]
        )
        #expect(found.contains("4 rule-bytes: the rule keeps back 4 bytes"))
        #expect(!found.contains { $0.contains("dead-rule") })
    }

    @Test func `counts the bytes of each rule`() {
        let found = findings(
            "<include domain=\"file\" path=\"a\"/>\n<exclude domain=\"file\" path=\"a/b\"/>",
            ["app/files/a/b/1": "12", "app/files/a/c": "123", "app/files/d": "1234"]
        )
        #expect(
            found == [
                "4 rule-bytes: the rule sends 3 bytes", "5 rule-bytes: the rule keeps back 2 bytes",
            ]
        )
    }

    @Test func `names databases and preferences that no rule names`() {
        let found = findings(
            "<exclude domain=\"database\" path=\"a.db\"/>",
            ["app/databases/a.db": "", "app/databases/b.db": "", "app/databases/b.db-wal": ""]
        )
        let unnamed = found.filter { $0.contains("unnamed-data") }
        #expect(
            unnamed == [
                "2 unnamed-data: no rule of 'cross-platform-transfer' names app/databases/b.db"
            ]
        )
    }

    @Test(arguments: [
        (
            "app/shared_prefs/s.xml",
            "<string name=\"__androidx_security_crypto_encrypted_prefs_key_keyset__\">12</string>"
        ),
        (
            "app/shared_prefs/t.xml",
            "<string name=\"master_keyset\">12a901e6d1f2a3b4c5d6e7f8a9b0c1d2e3f4</string>"
        ),
    ])
    func `finds secrets that stay on the device`(_ path: String, _ content: String) {
        let rules = "<exclude domain=\"file\" path=\"none\"/>"
        #expect(findings(rules, [path: content]).contains { $0.hasPrefix("2 device-bound-secret") })
        let excluded = "<exclude domain=\"sharedpref\"/>"
        #expect(
            !findings(excluded, [path: content]).contains { $0.contains("device-bound-secret") }
        )
    }

    @Test func `tells an encrypted database from another`() {
        var tree = DataTree()
        var generator = SystemRandomNumberGenerator()
        let salt = (0..<4096).map { _ in UInt8.random(in: 0...255, using: &generator) }
        tree.insert(at: EntryPath("app/databases/secret.db"), kind: .file(size: 4096), head: salt)
        let plain = [UInt8]("SQLite format 3\0".utf8) + salt
        tree.insert(at: EntryPath("app/databases/plain.db"), kind: .file(size: 4112), head: plain)
        let codes = RulesLint.check([UInt8](LintTests.clean.utf8), tree: tree).findings
            .filter { $0.code == .deviceBoundSecret }
        #expect(codes.count == 1, "the device's section sends it, those with an include don't")
        #expect(codes.first?.message.contains("app/databases/secret.db") ?? false)
    }
}
