import Foundation
import Glibc
import TestSupport
import Testing

/// Exports and imports with an app's own extension, in a process of its own.
@Suite(.scratchDirectory)
struct ExtensionFlagTests {
    private let stage: ExtensionStage

    init() throws {
        stage = try ExtensionStage()
    }

    private var place: Workplace { stage.place }

    @Test func `moves what the extension exports to where it puts it`() throws {
        try stage.script("append Documents\nappend import as script")
        try stage.write("move in:Documents/note Documents/moved\nprogress 10 10", to: "import")
        let exported = try stage.run("export", "--out", place.path("archive"))
        #expect(exported.exitCode == 0, "\(exported.errors)")
        #expect(exported.output.contains("2 files, 1 directory"))
        let archive = place.path("archive")
        let imported = try stage.run("import", archive, container: "destination")
        #expect(imported.exitCode == 0, "\(imported.errors)")
        let moved = try place.bytes(of: "destination/Documents/moved")
        #expect(moved == [UInt8]("a note\n".utf8))
        #expect(
            try place.migrate("status", "--container", place.path("destination")).output
                .hasPrefix("success\n")
        )
    }

    @Test func `computes the fingerprint of what the extension would export`() throws {
        try stage.script("append Documents as Documents")
        let computed = try stage.run("fingerprint")
        #expect(computed.exitCode == 0, "\(computed.errors)")
        let exported = try stage.run("export", "--out", place.path("archive"))
        #expect(exported.output.contains("fingerprint \(computed.output)"))
        try stage.script("append Documents as other")
        #expect(try stage.run("fingerprint").output != computed.output)
    }

    @Test func `says nothing of the extension where it is told to be quiet`() throws {
        try stage.script("print hello\nappend Documents\nappend import as script")
        try stage.write("print hello\nmove in:Documents/note Documents/moved", to: "import")
        let archive = place.path("archive")
        let exported = try stage.run("export", "-q", "--out", archive)
        #expect(exported.exitCode == 0, "\(exported.errors)")
        let imported = try stage.run("import", archive, "-q", container: "destination")
        #expect(imported.exitCode == 0, "\(imported.errors)")
        for result in [exported, imported] {
            #expect(result.output.isEmpty)
            let lines = result.errors.split(separator: "\n")
            #expect(
                !lines.contains { !$0.hasPrefix("migrate: warning: ") && !$0.contains("finding: ") }
            )
        }
    }

    @Test func `shows the preflight and what the extension prints, each by its name`() throws {
        try stage.script("print \u{1B}[1mhello\nappend Documents/note")
        let out = place.path("archive")
        let quiet = try stage.run("export", "--no-sandbox", "--out", out)
        #expect(!quiet.errors.contains("not confined"))
        let result = try stage.run("export", "--no-sandbox", "-v", "--force", "--out", out)
        let all = result.errors.split(separator: "\n").map(String.init)
        let names = ["note"]
        #expect(all.filter(names.contains) == names)
        let lines = all.filter { !names.contains($0) }
        try #require(lines.count == 7, "\(result.errors)")
        #expect(
            lines[0] == "migrate: ScriptedExtensionProgram of com.example.notes "
                + "exports version 1.0 (options: account, theme) and imports"
        )
        #expect(lines[1].hasPrefix("migrate: estimate 0 B, ") && lines[1].hasSuffix(" free"))
        #expect(lines[2].hasPrefix("migrate: runs as: "))
        #expect(lines[3] == "migrate: not confined: everything: no confinement was requested")
        #expect(lines[4].hasPrefix("migrate: bounded: 1.1 GB in its temporary directory"))
        #expect(lines[5] == "scripted-extension: \\x1B[1mhello")
        #expect(
            lines[6] == "migrate: finding: estimateOff: resourcesSizeEstimate was 0 bytes, "
                + "but 7 were exported; add up the sizes of the files that exportResources appends"
        )
    }

    @Test func `answers in JSON with what the session showed`() throws {
        try stage.script("append Documents/note")
        let out = place.path("archive")
        let result = try stage.run("export", "--no-sandbox", "--json", "--out", out)
        let answer = try JSONSerialization.jsonObject(with: Data(result.standardOutput))
        let report = try #require((answer as? [String: Any])?["appExtension"] as? [String: Any])
        #expect(report["name"] as? String == "ScriptedExtensionProgram")
        let confinement = report["confinement"] as? [String: Any]
        #expect(confinement?["isConfined"] as? Bool == false)
        let findings = report["findings"] as? [[String: Any]]
        #expect(findings?.map { $0["code"] as? String } == ["estimateOff"])
    }

    @Test func `tells the extension the platform and its options`() throws {
        try stage.script("write tmp:notes -\nnotes tmp:notes\nappend tmp:notes as notes")
        try stage.write("from a file", to: "value")
        let options = ["--option", "theme=@\(place.path("source/value"))", "--option=account=@@me"]
        let result = try stage.run(
            ["export", "--destination-platform", "harmony", "--out", place.path("archive")]
                + options
        )
        #expect(result.exitCode == 0, "\(result.errors)")
        let extracted = try place.migrate(
            "extract",
            place.path("archive"),
            "--to",
            place.path("notes")
        )
        #expect(extracted.exitCode == 0, "\(extracted.errors)")
        let notes = String(decoding: try place.bytes(of: "notes/notes"), as: UTF8.self)
        let lines = ["platform harmony", "option account @me", "option theme from a file"]
        #expect(notes == lines.joined(separator: "\n"))
    }

    @Test func `tells the extension where data comes from that says it nowhere`() throws {
        try place.shell(
            """
            mkdir foreign && cd foreign &&
            printf 'notes Documents/notes\\nprogress 10 10\\n' > script && tar -cf ../foreign.tar .
            """
        )
        let words = ["import", place.path("foreign.tar")]
        let refused = try stage.run(words, container: "destination")
        #expect(refused.exitCode == 64)
        #expect(refused.errors.contains("give '--source-app', '--source-platform' and "))
        #expect(!place.exists("destination"))
        let source = ["--source-app", "org.notes", "--source-platform", "android"]
        let version = ["--source-version", "7"]
        let result = try stage.run(words + source + version, container: "destination")
        #expect(result.exitCode == 0, "\(result.errors)")
        let bytes = try place.bytes(of: "destination/Documents/notes")
        let notes = String(decoding: bytes, as: UTF8.self)
        #expect(notes == "source org.notes android\nstore googlePlay version 7")
    }

    @Test(arguments: [("progress 10 10", "success"), ("throw domain 1 no", "failure")])
    func `the status records what the importer was told, not what the archive says`(
        _ script: String,
        _ status: String
    ) throws {
        try stage.script("append import as script")
        try stage.write(script, to: "import")
        let archive = place.path("archive")
        let exported = try stage.run("export", "--source-platform", "harmony", "--out", archive)
        #expect(exported.exitCode == 0, "\(exported.errors)")
        let inspected = try place.migrate("inspect", archive, "--json").output
        #expect(inspected.contains(#""platform" : "harmony""#), "\(inspected)")
        let told = [
            "--source-app", "org.notes", "--source-platform", "android", "--source-version", "7",
        ]
        // A failed import leaves nothing where no container was.
        try place.shell("mkdir destination")
        _ = try stage.run(["import", archive] + told, container: "destination")
        let destination = place.path("destination")
        let answer = try place.migrate("status", "--container", destination, "--json").output
        let fields =
            try JSONSerialization.jsonObject(with: Data(answer.utf8)) as? [String: Any] ?? [:]
        #expect(fields["status"] as? String == status)
        #expect(fields["bundleIdentifier"] as? String == "org.notes")
        #expect(fields["platform"] as? String == "android")
        #expect(fields["resourcesVersion"] as? String == "7")
    }

    @Test func `lists what the extension left behind, and fails for it on request`() throws {
        try place.shell("mkdir -p source/Library/Caches source/Library/Preferences")
        try stage.write("hidden", to: "Documents/.hidden")
        try stage.write("cache", to: "Library/Caches/page")
        try stage.write("dark", to: "Library/Preferences/theme")
        try stage.script("append Documents/note\nappend script")
        let archive = place.path("archive")
        let result = try stage.run("export", "--out", archive)
        #expect(result.exitCode == 0, "\(result.errors)")
        let lines = result.output.split(separator: "\n").filter { $0.hasPrefix("left behind: ") }
        #expect(
            lines == [
                "left behind: Documents/.hidden (1 file, 6 B)",
                "left behind: Library/Preferences (1 file, 4 B)",
                "left behind: Library/Caches (1 file, 5 B, can be recreated)",
            ]
        )
        let strict = ["export", "--expect-complete", "--out", place.path("strict")]
        let refused = try stage.run(strict)
        #expect(refused.exitCode == 1)
        #expect(refused.output.isEmpty)
        #expect(refused.errors.contains("left something behind: Documents/.hidden, Library/Pref"))
        #expect(!place.exists("strict"))
        let answer = try stage.run("export", "--json", "--force", "--out", archive).standardOutput
        let fields = try JSONSerialization.jsonObject(with: Data(answer)) as? [String: Any]
        let left = try #require(fields?["leftBehind"] as? [String: Any])
        #expect(left["count"] as? Int == 3)
        #expect(left["bytes"] as? Int == 15)
        #expect((left["items"] as? [[String: Any]])?.count == 3)
        try stage.script("append Documents\nappend Library/Preferences as p\nappend script")
        let complete = try stage.run(strict)
        #expect(complete.exitCode == 0, "\(complete.errors)")
    }

    @Test func `an app group that is declared and not mapped stops every command`() throws {
        try stage.declareGroups(["group.com.example.notes"])
        try place.shell("mkdir group")
        try stage.script("append Documents")
        let archive = place.path("archive")
        let flags = ["--group group.com.example.notes=<dir>", "--no-group group.com.example.notes"]
        let export = ["export", "--out", archive]
        let refused = try stage.run(export)
        refused.expectFailure(77)
        for flag in flags { #expect(refused.errors.contains(flag), "\(refused.errors)") }
        #expect(!place.exists("archive"))
        let asked = try stage.run("preflight")
        #expect(asked.exitCode == 77)
        #expect(asked.output.contains("\nfinding: groupNotMapped: "), "\(asked.output)")
        for flag in flags { #expect(asked.output.contains(flag), "\(asked.output)") }
        #expect(asked.output.contains("group.com.example.notes: no directory\n"))
        let misspelt = "group.com.example.note=" + place.path("group")
        try stage.run(export + ["--group", misspelt]).expectFailure(77)
        let omitted = try stage.run(export + ["--no-group", "group.com.example.notes"])
        #expect(omitted.exitCode == 0, "\(omitted.errors)")
        #expect(
            omitted.output.contains(
                "\nleft out: group.com.example.notes (app group, on request)\n"
            ),
            "\(omitted.output)"
        )
        try stage.run(["import", archive], container: "destination").expectFailure(77)
        #expect(!place.exists("destination"))
        let group = "group.com.example.notes=" + place.path("group")
        let mapped = try stage.run("preflight", "--group", group)
        #expect(mapped.exitCode == 0, "\(mapped.errors)")
        #expect(mapped.output.contains("group.com.example.notes: \(place.path("group"))\n"))
    }
}
