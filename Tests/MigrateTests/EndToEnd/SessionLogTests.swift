import Foundation
import TestSupport
import Testing

/// `--session-log` and `--report` of exports and imports, and the page about a session.
@Suite(.scratchDirectory)
struct SessionLogTests {
    private let stage: ExtensionStage

    init() throws {
        stage = try ExtensionStage()
    }

    private var place: Workplace { stage.place }

    private func timeline(_ name: String) throws -> [String: any Sendable] {
        let bytes = try place.bytes(of: name)
        #expect(try AnswerSchemas.problem(of: bytes, areLines: false) == nil)
        let document = try JSONSerialization.jsonObject(with: Data(bytes))
        let members = try #require(document as? [String: any Sendable])
        return try #require(members["timeline"] as? [String: any Sendable])
    }

    @Test func `tells the appends and the silences of an export`() throws {
        try stage.script("append Documents\nsleep 700\nfill tmp:large 5000\nappend tmp:large")
        let log = place.path("log")
        let result = try stage.run(
            "export",
            "--out",
            place.path("archive"),
            "--session-log",
            log,
            "--hang-timeout",
            "9"
        )
        #expect(result.exitCode == 0, "\(result.errors)")
        let timeline = try timeline("log")
        #expect(timeline["name"] as? String == "ScriptedExtensionProgram")
        #expect(timeline["appendCount"] as? Int == 2)
        #expect(timeline["appendedBytes"] as? Int == 5007)
        let appends = try #require(timeline["appends"] as? [[String: any Sendable]])
        #expect(appends.map { $0["bytes"] as? Int } == [7, 5000])
        let starts = appends.compactMap { $0["start"] as? Double }
        try #require(starts.count == 2)
        #expect(starts[1] - starts[0] >= 0.7)
        let waits = try #require(timeline["waits"] as? [[String: any Sendable]])
        let lengths = waits.map { ($0["end"] as? Double ?? 0) - ($0["start"] as? Double ?? 0) }
        #expect((lengths.max() ?? 0) >= 0.69)
        let limits = timeline["limits"] as? [String: any Sendable]
        #expect(limits?["hangTimeout"] as? Double == 9)
    }

    @Test func `joins neighbors of a long session, and loses none`() throws {
        let lines = (0..<3000).map { "append Documents/note as many/\($0)" }
        try stage.script(lines.joined(separator: "\n"))
        let result = try stage.run(
            "export",
            "--out",
            place.path("archive"),
            "--session-log",
            place.path("log")
        )
        #expect(result.exitCode == 0, "\(result.errors)")
        let timeline = try timeline("log")
        let appends = try #require(timeline["appends"] as? [[String: any Sendable]])
        #expect(appends.count <= 1000 && appends.count >= 400)
        #expect(appends.reduce(0) { $0 + ($1["count"] as? Int ?? 0) } == 3000)
        #expect(appends.reduce(0) { $0 + ($1["bytes"] as? Int ?? 0) } == 21_000)
        #expect(timeline["appendCount"] as? Int == 3000)
    }

    @Test func `tells the progress of an import`() throws {
        try stage.script("append Documents\nappend import as script")
        try stage.write("progress 10 20\nprogress 20 20", to: "import")
        let (archive, log) = (place.path("archive"), place.path("log"))
        try #require(try stage.run("export", "--out", archive).exitCode == 0)
        let result = try stage.run(
            ["import", archive, "--session-log", log, "--report", place.path("page")],
            container: "destination"
        )
        #expect(result.exitCode == 0, "\(result.errors)")
        let steps = try #require(timeline("log")["progress"] as? [[String: any Sendable]])
        #expect(steps.last?["completed"] as? Int == 20)
        let page = String(decoding: try place.bytes(of: "page"), as: UTF8.self)
        #expect(page.contains("Import of \(archive)"))
        #expect(page.contains("The session with ScriptedExtensionProgram"))
    }

    @Test func `is written for a session that fails, with the error`() throws {
        try stage.script("append Documents/note\nthrow domain 3 <b>no</b>")
        let (log, page) = (place.path("log"), place.path("page"))
        let result = try stage.run(
            "export",
            "--out",
            place.path("archive"),
            "--session-log",
            log,
            "--report",
            page
        )
        #expect(result.exitCode == 1)
        #expect(try timeline("log")["appendCount"] as? Int == 1)
        #expect(!place.exists("page"))
        let shown = try place.shell("$migrate report --session log --container source")
        #expect(shown.exitCode == 0, "\(shown.errors)")
        #expect(shown.output.contains(#"<p id="failure">scripted-extension failed: &lt;b&gt;no"#))
        #expect(!shown.output.contains("<b>"))
        #expect(shown.output.contains("appended note, 7 B"))
    }

    @Test func `shows what an export omits and leaves behind on its page`() throws {
        try place.shell(
            "cd source && mkdir -p Documents/rest && head -c 9000 /dev/zero >Documents/rest/left"
        )
        try stage.script("append Documents/note\nsleep 100")
        let result = try stage.run(
            "export",
            "--out",
            place.path("archive"),
            "--report",
            place.path("page")
        )
        #expect(result.exitCode == 0, "\(result.errors)")
        let page = String(decoding: try place.bytes(of: "page"), as: UTF8.self)
        #expect(page.contains(#""s":"left behind""#))
        #expect(
            page.contains(
                ">Documents/rest</a></td><td class=\"number\" data-number=\"9000.0\">9.0 kB</td>"
            )
        )
        #expect(page.components(separatedBy: ">Documents/rest</a>").count == 2)
        #expect(page.contains("resourcesSizeEstimate was 0 bytes"))
        let plain = try place.shell(
            "mkdir -p plain/tmp plain/Documents && head -c 70 /dev/zero >plain/tmp/x && echo 1 >plain/Documents/f && $migrate export -c plain -o b --report p2 && cat p2"
        )
        #expect(plain.output.contains(#""s":"omitted""#))
        #expect(plain.output.contains(">tmp</a></td><td>70 B, by default</td>"))
        let none = try place.shell("$migrate export -c plain -o c --report none/page")
        none.expectFailure(73)
        #expect(!place.exists("c"))
    }

    @Test func `shows a container alone, with what an export leaves out`() throws {
        try place.shell("mkdir -p source/Library/Caches source/tmp && echo 12345 >source/tmp/a")
        try place.shell("head -c 4000 /dev/zero >source/Library/Caches/page.jpg")
        let page = try place.shell("$migrate report -c source")
        #expect(page.exitCode == 0, "\(page.errors)")
        let row =
            "<tr><td>jpg</td><td class=\"number\" data-number=\"1.0\">1</td>"
            + "<td class=\"number\" data-number=\"4000.0\">4.0 kB</td></tr>"
        #expect(!page.output.contains(row), "types are those of what moves")
        #expect(page.output.contains(#"{"b":4000,"c":[{"b":4000,"n":"page.jpg","s":"omitted""#))
        let all = try place.shell("$migrate report -c source --include-caches")
        #expect(all.output.contains(row))
        #expect(!all.output.contains(#""n":"page.jpg","s":"omitted""#))
    }

    @Test(
        arguments: [
            "", "archive --container source", "--session note --against source",
            "--container source --against source", "--session none", "--session script",
            "--session foreign", "archive --include-caches",
        ]
    )
    func `refuses what makes no page`(_ words: String) throws {
        try place.shell(
            """
            $migrate export -c source -o archive -q; echo text >script
            printf '{"schema":"migrate/export/1","timeline":{}}' >foreign
            """
        )
        let result = try place.shell("$migrate report \(words)")
        #expect(result.exitCode == (words == "--session none" ? 1 : 64), "\(result.errors)")
        #expect(result.output.isEmpty)
    }

    @Test(.enabled(if: Machine.has("chromium"), "chromium is not installed"))
    func `draws the lanes of a session in a browser, whatever the log says`() throws {
        try stage.script("append Documents/note\nsleep 300\nappend script")
        let made = try stage.run(
            "export",
            "--out",
            place.path("archive"),
            "--session-log",
            place.path("log"),
            "--report",
            place.path("both.html"),
            "--hang-timeout",
            "1"
        )
        try #require(made.exitCode == 0, "\(made.errors)")
        let result = try place.shell(
            #"""
            $migrate report --session log --out session.html &&
            sed -e 's/"end":[0-9.e-]*/"end":-1e300/g;s/"seconds":[0-9.e-]*/"seconds":0/' \
                -e 's/"name":"[^"]*"/"name":"<\/script><img src=x>\\u202E"/g' \
                -e 's/"hangTimeout" *: *[0-9]*/"hangTimeout":1e308/' log >odd &&
            $migrate report archive --session odd --out odd.html || exit
            for page in session both odd; do
                chromium --headless --no-sandbox --disable-gpu --user-data-dir="$PWD/profile" \
                    --virtual-time-budget=5000 --dump-dom "file://$PWD/$page.html" >$page.dom || exit
            done
            python3 - <<'END'
            import re
            for name in ["session", "both", "odd"]:
                dom = open(name + ".dom", encoding="utf-8").read()
                bars = lambda kind: len(re.findall(f'<div class="{kind}"', dom))
                assert "<img" not in dom
                print(name, bars("append"), bars("amount"), bars("wait") + bars("long") > 0,
                      dom.count("<button") > 0, "\u202e" in dom)
            END
            """#
        )
        #expect(result.exitCode == 0, "\(result.errors)")
        #expect(
            result.output == """
                session 2 2 True False False
                both 2 2 True True False
                odd 2 2 True True False

                """
        )
    }
}
