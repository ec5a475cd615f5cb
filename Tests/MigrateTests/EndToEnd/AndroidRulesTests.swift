import Foundation
import TestSupport
import Testing

/// `migrate android lint` and `preview`, as a person and a workflow call them.
@Suite(.scratchDirectory) struct AndroidRulesTests {
    private let place: Workplace

    init() throws {
        place = try Workplace()
    }

    private func write(_ body: String) throws {
        let text = """
            <data-extraction-rules>
            <cloud-backup><include domain="file" path="a"/></cloud-backup>
            <device-transfer><include domain="file" path="a"/></device-transfer>
            <cross-platform-transfer platform="ios">
            <platform-specific-params bundleId="a.b" teamId="ABCDE12345" contentVersion="1"/>
            \(body)
            </cross-platform-transfer>
            </data-extraction-rules>
            """
        try place.write([UInt8](text.utf8), to: "rules.xml")
    }

    @Test func `ends with 0, 1 or 65 by what it finds`() throws {
        try write("<include domain=\"file\" path=\"a\"/>")
        let clean = try place.migrate("android", "lint", place.path("rules.xml"))
        #expect(clean.exitCode == 0)
        #expect(clean.output.hasSuffix("rules.xml: 0 errors, 0 warnings\n"))
        try write("<exclude domain=\"fil\" path=\"a\"/>")
        let wrong = try place.migrate("android", "lint", place.path("rules.xml"))
        #expect(wrong.exitCode == 1)
        #expect(wrong.output.contains("rules.xml:6: error: 'fil' is no domain"))
        try place.write([UInt8]("<manifest/>".utf8), to: "rules.xml")
        let other = try place.migrate("android", "lint", place.path("rules.xml"))
        #expect(other.exitCode == 65)
        #expect(other.output.contains("[not-rules-file]"))
    }

    @Test func `answers in JSON of its schema`() throws {
        try write("<exclude domain=\"file\" path=\"*\"/>")
        let result = try place.migrate("android", "lint", place.path("rules.xml"), "--json")
        let document = try JSONSerialization.jsonObject(with: Data(result.standardOutput))
        let answer = try #require(document as? [String: Any])
        #expect(answer["schema"] as? String == "migrate/android-lint/1")
        let finding = try #require((answer["findings"] as? [[String: Any]])?.first)
        #expect(finding.keys.sorted() == ["code", "fix", "line", "message", "severity"])
        #expect(finding["code"] as? String == "wildcard-path")
        #expect(finding["line"] as? Int == 6)
    }

    @Test func `prints annotations that nothing in a file can break`() throws {
        try write("<exclude domain=\"fi&#10;::warning::%le\" path=\"a\"/>")
        let result = try place.migrate("android", "lint", place.path("rules.xml"), "--github")
        let lines = result.output.split(separator: "\n")
        let line = try #require(lines.first)
        #expect(lines.count == 2)
        let summary = "::notice title=migrate android lint::"
        #expect(lines.last?.hasPrefix(summary) == true)
        #expect(lines.last?.hasSuffix(": 1 error, 0 warnings") == true)
        #expect(line.hasPrefix("::error file="))
        #expect(line.contains(",line=6,title=unknown-domain::'fi"))
        #expect(line.contains("%25le"))
    }

    @Test func `shows what is handed over, and where it arrives`() throws {
        try write("<include domain=\"file\" path=\"a\"/>")
        try place.shell("mkdir -p data/files && echo one > data/files/a && echo two > data/files/b")
        let words = ["android", "preview", place.path("rules.xml"), "--data", place.path("data")]
        let text = try MigrateCommand.run(words)
        #expect(text.exitCode == 0)
        #expect(text.output.contains("4 B  line 6   app/files/a\n"))
        #expect(text.output.contains("4 B  -        file b\n"))
        let json = try MigrateCommand.run(words + ["--json"])
        let document = try JSONSerialization.jsonObject(with: Data(json.standardOutput))
        let answer = try #require(document as? [String: Any])
        #expect(answer["schema"] as? String == "migrate/android-preview/1")
        #expect(answer["section"] as? String == "cross-platform")
        #expect(answer["eligible"] as? Bool == true)
        let included = try #require(answer["included"] as? [[String: Any]])
        #expect(included.count == 1)
        #expect(included[0]["iosPath"] as? String == "app/files/a")
        #expect(included[0]["rule"] as? Int == 6)
        let excluded = try #require(answer["excluded"] as? [[String: Any]])
        #expect(excluded[0]["path"] as? String == "b")
        #expect(excluded[0]["rule"] is NSNull)
    }

    @Test(.enabled(if: Machine.isRoot, "needs root to mount a file system"))
    func `previews files that claim more than there are numbers`() throws {
        try write("<include domain=\"file\" path=\"a\"/>")
        let result = try place.shell(
            """
            mkdir data && mount -t tmpfs none data || exit 99
            mkdir -p data/files/a && truncate -s 7E data/files/a/1 data/files/a/2 data/files/a/3
            $migrate android preview rules.xml --data data; code=$?
            umount data; exit $code
            """
        )
        if result.exitCode == 99 { try Test.cancel("mounting is not allowed here") }
        #expect(result.exitCode == 0, "\(result.errors)")
        #expect(result.output.contains("18.4 EB"), "\(result.output)")
    }

    @Test func `previews nothing by rules that no app on iOS matches, after the mistakes`() throws {
        try write("<include domain=\"file\" path=\"a\"/>")
        let rules = String(decoding: try place.bytes(of: "rules.xml"), as: UTF8.self)
        try place.shell("mkdir -p data/files && echo one > data/files/a")
        for (params, code) in [
            (" teamId=\"ABCDE12345\"", "missing-attribute"),
            (" bundleId=\"a.b\" teamId=\"ABC\"", "invalid-identifier"),
        ] {
            let wrong = rules.replacing(" bundleId=\"a.b\" teamId=\"ABCDE12345\"", with: params)
            try place.write([UInt8](wrong.utf8), to: "rules.xml")
            let words = [place.path("rules.xml"), "--data", place.path("data")]
            let lint = try MigrateCommand.run(["android", "lint"] + words)
            #expect(lint.exitCode == 1)
            let preview = try MigrateCommand.run(["android", "preview"] + words)
            #expect(preview.exitCode == 1)
            #expect(preview.output.contains("rules.xml:5: error: "))
            #expect(preview.output.contains("[\(code)]\n    fix: "))
            #expect(preview.output.contains("eligible  no\n          no app on iOS matches"))
            #expect(preview.output.contains("included: 0 B\n"))
        }
    }

    @Test func `previews what is sent by rules with another mistake, and ends with 1`() throws {
        try write("<include domain=\"file\" path=\"a\"/>\n<exclude domain=\"fil\" path=\"b\"/>")
        try place.shell("mkdir -p data/files && echo one > data/files/a")
        let words = ["android", "preview", place.path("rules.xml"), "--data", place.path("data")]
        let text = try MigrateCommand.run(words)
        #expect(text.exitCode == 1)
        let first = try #require(text.output.firstRange(of: "rules.xml:7: error: 'fil'"))
        let second = try #require(text.output.firstRange(of: "eligible  yes\n"))
        #expect(first.lowerBound < second.lowerBound)
        let json = try MigrateCommand.run(words + ["--json"])
        let document = try JSONSerialization.jsonObject(with: Data(json.standardOutput))
        let answer = try #require(document as? [String: Any])
        let findings = try #require(answer["findings"] as? [[String: Any]])
        #expect(findings.map { $0["code"] as? String } == ["unknown-domain"])
    }

    @Test func `shows notes on request`() throws {
        try write("<include domain=\"file\" path=\"a\"/>")
        try place.shell("mkdir -p data/files && echo one > data/files/a")
        let words = ["android", "lint", place.path("rules.xml"), "--data", place.path("data")]
        let short = try MigrateCommand.run(words)
        #expect(!short.output.contains(": note: "))
        #expect(short.output.hasSuffix(": 0 errors, 0 warnings, 3 notes ('--notes' shows them)\n"))
        let long = try MigrateCommand.run(words + ["--notes"])
        #expect(long.output.contains("rules.xml:6: note: the rule sends 4 bytes [rule-bytes]\n"))
        #expect(long.output.hasSuffix(": 0 errors, 0 warnings, 3 notes\n"))
    }

    @Test func `ends with 1 where the app takes no part`() throws {
        try write("")
        let manifest = """
            <manifest xmlns:android="http://schemas.android.com/apk/res/android">
            <application android:allowBackup="false"/></manifest>
            """
        try place.write([UInt8](manifest.utf8), to: "AndroidManifest.xml")
        try place.shell("mkdir -p data/files")
        let result = try place.migrate(
            "android",
            "preview",
            place.path("rules.xml"),
            "--data",
            place.path("data"),
            "--manifest",
            place.path("AndroidManifest.xml")
        )
        #expect(result.exitCode == 1)
        #expect(result.output.contains("eligible  no\n"))
        #expect(result.output.contains("allowBackup"))
    }

    @Test func `explains a command line that is wrong`() throws {
        for (words, message) in [
            (["android"], "a subcommand is missing"),
            (["android", "lnt"], "unknown subcommand 'lnt'; did you mean 'lint'?"),
            (["android", "lint"], "argument '<rules>' is missing"),
        ] {
            let result = try MigrateCommand.run(words)
            #expect(result.exitCode == 64)
            #expect(result.errors.contains(message))
        }
        #expect(try place.migrate("help", "android", "lint").output.hasPrefix("OVERVIEW: Look"))
        #expect(try place.migrate("android", "--help").output.contains("One of: lint"))
        let missing = try place.migrate("android", "lint", place.path("none.xml"))
        missing.expectFailure(1)
        #expect(missing.errors.contains("No such file"))
    }
}
