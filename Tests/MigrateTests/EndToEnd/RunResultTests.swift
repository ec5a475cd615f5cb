import Foundation
import TestSupport
import Testing

/// The lines that commands append about their runs, and the report on them.
@Suite(.scratchDirectory)
struct RunResultTests {
    private let place: Workplace

    init() throws {
        place = try Workplace()
        try place.makeContainer()
    }

    private func lines() throws -> [[String: Any]] {
        try place.bytes(of: "results").split(separator: UInt8(ascii: "\n")).map { line in
            let text = String(decoding: line, as: UTF8.self)
            let problem = try AnswerSchemas.problem(of: Array(line), areLines: true)
            #expect(problem == nil, "\(text)")
            let value = try JSONSerialization.jsonObject(with: Data(line))
            return try #require(value as? [String: Any])
        }
    }

    @Test func `appends a line about every run, whatever becomes of it`() throws {
        let result = try place.shell(
            """
            $migrate export --container source --out archive --result results
            $migrate export --container source --out archive --result results
            $migrate export --container source --out archive --if-exists keep --result results
            $migrate import archive --container copy --bundle-id source --result results
            $migrate import archive --container copy --bundle-id source --skip-if-imported --result results
            $migrate import --in-command 'exit 7' --container other --result results
            """
        )
        #expect(result.exitCode == 74)
        let lines = try lines()
        #expect(lines.map { $0["exitCode"] as? Int } == [0, 73, 0, 0, 0, 74])
        #expect(lines.map { $0["isSkipped"] as? Bool } == [false, false, true, false, true, false])
        #expect(
            lines.map { $0["error"] as? String } == [
                nil, "outputExists", nil, nil, nil, "commandFailed",
            ]
        )
        #expect(lines[0]["fingerprint"] as? String == lines[3]["fingerprint"] as? String)
        #expect(lines[0]["bytes"] as? Int == lines[3]["bytes"] as? Int)
        #expect(lines[0]["archiveBytes"] as? Int == (try place.bytes(of: "archive").count))
        #expect(lines[5]["archive"] as? String == "exit 7")
    }

    @Test func `fails before the work if no line can be appended`() throws {
        let result = try place.migrate(
            "export",
            "--container",
            place.path("source"),
            "--out",
            place.path("archive"),
            "--result",
            place.path("missing/results")
        )
        result.expectFailure(73)
        #expect(!place.exists("archive"))
        let full = try place.migrate(
            "export",
            "--container",
            place.path("source"),
            "--out",
            place.path("archive"),
            "--quiet",
            "--result",
            "/dev/full"
        )
        full.expectFailure(73)
    }

    @Test func `keeps its line apart from one that a killed run left unfinished`() throws {
        let result = try place.shell(
            """
            $migrate export --container source --out archive --quiet --result results
            head -c 100 results > part && cat part >> results
            $migrate export --container source --out archive --force --quiet --result results
            $migrate report --results results >text && $migrate report --results results --json
            """
        )
        let text = String(decoding: try place.bytes(of: "text"), as: UTF8.self)
        #expect(text.contains("not understood  1 line\n"))
        let sums = try JSONSerialization.jsonObject(with: Data(result.output.utf8))
        let report = try #require(sums as? [String: Any], "\(result.errors)")
        #expect(report["runs"] as? Int == 2)
        #expect(report["unreadable"] as? Int == 1)
    }

    @Test func `appends in one piece what 64 processes append at once`() throws {
        try place.shell("echo no archive > archive")
        let result = try place.shell(
            """
            name=$(printf 'n%.0s' $(seq 2000))
            for job in $(seq 64); do
                $migrate export --container source --out-command "cat > /dev/null # $job $name" \
                    --quiet --result results &
            done
            wait
            """
        )
        #expect(result.exitCode == 0, "\(result.errors)")
        let jobs = try lines().compactMap { ($0["archive"] as? String)?.split(separator: " ")[4] }
        #expect(Set(jobs).count == 64)
    }

    /// A line about a run, whose code is the second of its start.
    private func line(_ container: String, _ code: Int, _ rest: String) -> String {
        #"{"archive":"a","container":"\#(container)","exitCode":\#(code),"host":"h","isSkipped":false,"#
            + #""operation":"export","schema":"migrate/result/1","started":"2026-01-01T00:00:0"#
            + #"\#(code % 10)Z",\#(rest)}"# + "\n"
    }

    @Test func `sums up jobs, the last run of each`() throws {
        let text =
            line("one", 75, #""seconds":1,"error":"containerBusy""#)
            + line("one", 0, #""seconds":2,"bytes":1000,"archiveBytes":100"#)
            + line("two", 65, #""seconds":9.5,"error":"damaged","message":"<b>&\u001b[1m""#)
            + "{\"cut\":\n" + line("three", 0, #""seconds":1,"bytes":2000,"archiveBytes":200"#)
            + line("four", 65, #""seconds":0,"error":"damaged""#)
        try place.write([UInt8](text.utf8), to: "results")
        let answer = try place.migrate("report", "--results", place.path("results"), "--json")
        #expect(answer.exitCode == 0, "\(answer.errors)")
        let value = try JSONSerialization.jsonObject(with: Data(answer.standardOutput))
        let sums = try #require(value as? [String: Any])
        let names = [
            "jobs", "runs", "moved", "failed", "skipped", "unreadable", "bytes", "archiveBytes",
        ]
        #expect(names.map { sums[$0] as? Int } == [4, 5, 2, 2, 0, 1, 3000, 300])
        #expect(sums["elapsed"] as? Double == 14.5)
        let failures = try #require(sums["failures"] as? [[String: Any]])
        #expect(failures.count == 1)
        #expect(failures[0]["error"] as? String == "damaged")
        #expect(failures[0]["count"] as? Int == 2)
        let slowest = try #require(sums["slowest"] as? [[String: Any]])
        #expect(
            slowest.map { $0["container"] as? String } == ["two", "one", "one", "three", "four"]
        )
        let words = try place.migrate("report", "--results", place.path("results"))
        #expect(words.output.contains("failed: 2 jobs: export ended with 65 (damaged), such as "))
        #expect(!words.output.contains("\u{1b}"))
        let page = try place.migrate(
            "report",
            "--results",
            place.path("results"),
            "--out",
            place.path("page.html")
        )
        #expect(page.exitCode == 0)
        let html = String(decoding: try place.bytes(of: "page.html"), as: UTF8.self)
        #expect(
            html.contains(
                "<td>export ended with 65 (damaged)</td><td class=\"number\" data-number=\"2.0\">2</td>"
            )
        )
        #expect(!html.contains("<b>"))
        #expect(html.contains("<td class=\"number\" data-number=\"9.5\">9.5 s</td>"))
        let policy = #"<meta http-equiv="Content-Security-Policy" content="default-src 'none'; "#
        #expect(html.contains(policy))
    }

    @Test func `shows no empty table, and times in the unit that fits`() throws {
        try place.write([UInt8](line("one", 0, #""seconds":7384"#).utf8), to: "results")
        let words = ["report", "--results", place.path("results")]
        let text = try MigrateCommand.run(words)
        #expect(text.output.contains("2 h 3 min, 2 h 3 min in all runs"), "\(text.output)")
        #expect(text.output.contains("slowest: 2 h 3 min: export one"))
        let page = try MigrateCommand.run(words + ["--out", place.path("page.html")])
        #expect(page.exitCode == 0)
        let html = String(decoding: try place.bytes(of: "page.html"), as: UTF8.self)
        #expect(!html.contains("Failures by cause"))
        #expect(html.contains("Slowest runs"))
    }

    @Test func `sums up what nobody can have written`() throws {
        let line = #"""
            {"archive":"a","archiveBytes":18446744073709551615,"bytes":18446744073709551615,
            "container":"c","exitCode":0,"host":"h","isSkipped":false,"operation":"export",
            "schema":"migrate/result/1","seconds":SECONDS,"started":"2026-01-01T00:00:00Z"}
            """#.replacing("\n", with: "")
        let lines = ["1e308", "-1", "1", "2"].map { line.replacing("SECONDS", with: $0) + "\n" }
        try place.write([UInt8](lines.joined().utf8), to: "results")
        let summed = try place.shell(
            "\"$migrate\" report --results results && \"$migrate\" report --results results --json"
        )
        #expect(summed.exitCode == 0, "\(summed.errors)")
        #expect(summed.output.contains("\"bytes\" : 18446744073709551615"))
        #expect(summed.output.contains("\"unreadable\" : 2"))
        let endless = try place.shell(
            """
            truncate -s 1G zeros; mkfifo fifo; "$migrate" report --results zeros || exit 1
            timeout -s KILL 60 "$migrate" report --results fifo & exec 3>fifo; kill -TERM $!; wait $!
            """
        )
        #expect(endless.exitCode == 143, "\(endless.errors)")
    }
}
