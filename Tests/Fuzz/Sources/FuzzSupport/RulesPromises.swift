@testable internal import AndroidMigration
@testable internal import MigrationArchive

/// Promises about every file of rules, and about both kinds of manifest.
public enum RulesPromises {
    private static let linted = "rules that were read"
    private static let previewed = "transfer that sends something"
    private static let aborted = "rules that Android's parser gives up on"
    private static let manifestRead = "manifest of an app that was read"
    private static let transferRead = "manifest of a transfer that was read"

    /// The milestones that the seeds must reach.
    public static let milestones = [linted, previewed, aborted, manifestRead, transferRead]

    private static let tree: DataTree = {
        var tree = DataTree()
        for (index, path) in [
            "app/a", "app/cache/c", "app/no_backup/n", "app/files/f", "app/files/d/f",
            "app/files/d/e/f", "app/databases/x.db", "app/databases/x.db-wal",
            "app/databases/x.db-shm", "app/shared_prefs/s.xml", "device/app/files/f",
            "device/app/databases/x.db", "device/app/shared_prefs/s.xml", "external/files/f",
        ].enumerated() { tree.insert(at: EntryPath(path), kind: .file(size: 1 << index)) }
        for (path, target) in [("l", "d"), ("loop", "loop"), ("up", "../../..")] {
            tree.insert(
                at: EntryPath("app/files/\(path)"),
                kind: .link(target: [UInt8](target.utf8))
            )
        }
        return tree
    }()

    private static let treeBytes: UInt64 = (1 << 14) - 1

    /// Uses the first byte to choose the form of the rest.
    public static func check(_ bytes: [UInt8]) throws {
        let rest = [UInt8](bytes.dropFirst())
        switch (bytes.first ?? 0) & 3 {
        case 1: try checkManifest(rest)
        case 2: try checkTransfer(rest)
        default: try checkRules(rest)
        }
    }

    private static func checkRules(_ bytes: [UInt8]) throws {
        let findings = RulesLint.check(bytes, tree: tree).findings
        FuzzTarget.require(
            findings == RulesLint.check(bytes, tree: tree).findings,
            "the same file gives the same findings"
        )
        FuzzTarget.require(findings.allSatisfy { $0.line > 0 }, "every finding has a line")
        let rules: RulesFile
        do throws(AndroidMigrationError) {
            rules = try RulesFile(bytes)
        } catch {
            let codes = findings.map(\.code)
            FuzzTarget.require(codes == [.notRulesFile], "what is no rules file is called that")
            return
        }
        Milestones.reach(linted)
        if findings.contains(where: { $0.code == .parserAbort }) { Milestones.reach(aborted) }
        for section in RuleSection.allCases {
            check(Preview(rules, section: section, tree: tree))
            check(Preview(rules, section: section, tree: tree, canEncrypt: false))
        }
    }

    private static func check(_ preview: Preview) {
        let items = preview.included + preview.excluded
        let bytes = items.reduce(0) { $0 + $1.bytes }
        FuzzTarget.require(bytes == treeBytes, "every byte is sent or not: \(bytes)")
        var paths: Set<EntryPath> = []
        for item in preview.included {
            FuzzTarget.require(paths.insert(item.iosPath).inserted, "nothing is sent twice")
            FuzzTarget.require(!Selection.isNeverSent(item.iosPath), "caches stay")
            FuzzTarget.require(
                item.domain.iosPath(of: item.path) == item.iosPath,
                "a path on iOS is that of the domain and the path in it"
            )
        }
        if !paths.isEmpty { Milestones.reach(previewed) }
        FuzzTarget.require(preview.isEligible || paths.isEmpty, "who takes no part sends nothing")
    }

    private static func checkManifest(_ bytes: [UInt8]) throws {
        let manifest = try AppManifest(bytes)
        Milestones.reach(manifestRead)
        FuzzTarget.require(manifest.applicationLine ?? 1 > 0, "an element has a line")
    }

    private static func checkTransfer(_ bytes: [UInt8]) throws {
        let manifest = try CrossPlatformManifest(bytes)
        Milestones.reach(transferRead)
        let again = try? CrossPlatformManifest(manifest.encoded())
        FuzzTarget.require(
            again?.parameters == manifest.parameters && again?.package == manifest.package
                && again?.signatures.count == manifest.signatures.count,
            "a manifest is read as it was written"
        )
    }

    /// Seeds of each kind.
    public static var seeds: [[UInt8]] {
        let bodies = [
            "", "<include domain=\"file\" path=\"d\"/><exclude domain=\"file\" path=\"d/e\"/>",
            "<include domain=\"root\" path=\".\"/><exclude domain=\"database\" path=\"x.db\"/>",
            "<include domain=\"sharedpref\" path=\"s\"/><include domain=\"file\" path=\"l\"/>",
            "<exclude domain=\"device_root\"/><exclude domain=\"external\" path=\"a..b\"/>", "<x/>",
        ]
        let rules = bodies.map { body in
            "<data-extraction-rules><cloud-backup disableIfNoEncryptionCapabilities=\"true\">\(body)"
                + "</cloud-backup>\n<device-transfer>\(body)</device-transfer>\n"
                + "<cross-platform-transfer platform=\"ios\"><platform-specific-params "
                + "bundleId=\"a.b\" teamId=\"ABCDE12345\" contentVersion=\"1\"/>\(body)"
                + "</cross-platform-transfer></data-extraction-rules>"
        }
        let legacy =
            "<full-backup-content><include domain=\"file\" path=\"f\" "
            + "requireFlags=\"clientSideEncryption\"/></full-backup-content>"
        let manifest =
            "<manifest xmlns:android=\"http://schemas.android.com/apk/res/android\" package=\"p\">"
            + "<uses-sdk android:targetSdkVersion=\"36\"/>"
            + "<application android:allowBackup=\"false\"/></manifest>"
        let transfer = "1\ncom.x\nios\n1\ncom.example.app\nABCDE12345\n3\n1\nabcd\n"
        let wide = "\u{FEFF}" + rules[1]
        var seeds: [[UInt8]] = (rules + [legacy]).map { [0] + [UInt8]($0.utf8) }
        seeds.append([1] + [UInt8](manifest.utf8))
        seeds.append([2] + [UInt8](transfer.utf8))
        var utf16: [UInt8] = [0]
        for unit in wide.utf16 { utf16 += [UInt8(unit & 0xFF), UInt8(unit >> 8)] }
        seeds.append(utf16)
        return seeds
    }
}
