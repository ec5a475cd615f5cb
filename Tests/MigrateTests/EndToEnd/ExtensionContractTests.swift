import Foundation
import TestSupport
import Testing

/// What extensions rely on, with the program that people install.
@Suite(.scratchDirectory)
struct ExtensionContractTests {
    private let stage: ExtensionStage

    init() throws {
        stage = try ExtensionStage()
    }

    private var place: Workplace { stage.place }

    /// Imports by `script`, with a limit of `limit` seconds.
    private func importing(_ script: String, limit: String) throws -> MigrateCommand.Result {
        try stage.script("append Documents/note\nappend import as script")
        try stage.write(script, to: "import")
        let exported = try stage.run("export", "--out", place.path("archive"))
        try #require(exported.exitCode == 0, "\(exported.errors)")
        let arguments = ["import", place.path("archive"), "--hang-timeout", limit]
        return try stage.run(arguments, container: "destination")
    }

    @Test(arguments: [
        ("step-child 5500", nil), ("copied-progress\nstep 5500", "progressNotKept"),
        ("new-progress\ngrow 5500 Documents/a", "progressNotKept"),
        ("stall 5500 Documents/fifo", "progressStill"),
    ])
    func `an import that works is left alone, whatever its progress shows`(
        _ script: String,
        _ finding: String?
    ) throws {
        let result = try importing(script, limit: "4")
        #expect(result.exitCode == 0, "\(result.errors)")
        if let finding { #expect(result.errors.contains("finding: \(finding): ")) }
        #expect(!result.errors.contains("progressStill") || finding == "progressStill")
    }

    @Test(arguments: ["spin 20000", "print-on 20000", "rewrite 60000 Documents/a"])
    func `an import that gets nowhere is stopped, and the error says why`(
        _ script: String
    ) throws {
        // A failed import leaves nothing where no container was.
        try place.shell("mkdir destination")
        let result = try importing(script, limit: "0.4")
        #expect(result.exitCode == 1)
        let reason = "hung: it appended nothing and its progress did not move for "
        #expect(result.errors.contains(": scripted-extension \(reason)"), "\(result.errors)")
        #expect(result.errors.contains("; --hang-timeout allows more"), "\(result.errors)")
        let left = try FileManager.default.contentsOfDirectory(atPath: place.path("destination"))
        #expect(left == [".migration"])
    }

    @Test func `paths with empty components arrive without them, and are a finding`() throws {
        try stage.script("append Documents/note as media//\nappend Documents as ./all/")
        let result = try stage.run("export", "--out", place.path("archive"))
        #expect(result.exitCode == 0, "\(result.errors)")
        #expect(result.errors.contains("finding: pathShortened: 2 paths"), "\(result.errors)")
        let names = try place.shell("tar -tf archive | sort")
        #expect(names.output == "all/\nall/note\nmedia\n", "\(names.output)")
    }

    @Test func `an activity keeps every type, and the status says whether the app asked`() throws {
        let made = try place.shell(
            """
            python3 -c "import plistlib, datetime
            plistlib.dump({'activityType': 'a.edit', 'userInfo': {
                'array': ['a', 1, [True, b'x']], 'url': {'migration:url': 'https://example.com/'},
                'set': {'migration:set': ['a']}, 'null': {'migration:null': True},
                'when': datetime.datetime(2026, 1, 2)}}, open('activity.plist', 'wb'),
                fmt=plistlib.FMT_BINARY)
            plistlib.dump({'activityType': 'a', 'userInfo': {'x': {'migration:no': 1}}},
                open('unknown.plist', 'wb'))"
            $migrate export --container source --bundle-id a.b --out archive --activity activity.plist &&
            $migrate import archive --container app && $migrate status --container app
            $migrate export --container source --bundle-id a.b --out other --activity unknown.plist
            """
        )
        #expect(made.exitCode == 64, "\(made.errors)")
        #expect(made.output.contains("a.edit, not taken yet"), "\(made.output)")
        #expect(made.output.contains("not by the app yet"), "\(made.output)")
        #expect(made.errors.contains("tag 'migration:no'"), "\(made.errors)")
    }
}
