import Foundation
import MigrationArchive
import MigrationHosting
import TestSupport
import Testing

/// The contract's rules for imports (reference rules 21 to 26).
@Suite(.scratchDirectory)
struct ImportRuleTests {
    @Test(arguments: Hosting.allCases)
    func `rule 21: lets the extension move files out of a directory`(
        _ hosting: Hosting
    ) async throws {
        let stage = try Stage()
        try await stage.makeArchive(
            "move in:a Documents/a\nprogress 10 10",
            files: ["a": "content of a"]
        )
        let report = try await stage.importArchive(stage.scripted(hosting))
        #expect(try stage.importedText("Documents/a") == "content of a")
        #expect(report.appExtension?.findings == [])
        let record = try stage.container(at: stage.destination).importRecord()
        #expect(record?.outcome == .success)
    }

    @Test(arguments: Hosting.allCases)
    func `fills the container of a bundle, and the bundle stays as it is`(
        _ hosting: Hosting
    ) async throws {
        let stage = try Stage()
        try await stage.makeArchive(
            "move in:a Documents/a\nprogress 10 10",
            files: ["a": "content of a"]
        )
        let bundle = stage.root / "new.xcappdata"
        for replacing in [false, true] {
            var options = ImportOptions()
            options.replacesExisting = replacing
            _ = try await MigrationHost().import(
                .file(path: stage.archive),
                into: MigrationDataContainer(atPath: bundle),
                using: stage.scripted(hosting),
                options: options
            )
            #expect(try bundle.names() == [".migration", "AppData", "AppDataInfo.plist"])
            let imported = try (bundle / "AppData/Documents/a").contents()
            #expect(imported == Data("content of a".utf8))
            #expect(!(bundle / "AppData/.migration").exists)
        }
    }

    @Test(arguments: Hosting.allCases)
    func `rule 22: persists what was thrown until the app was told`(
        _ hosting: Hosting
    ) async throws {
        let stage = try Stage()
        try await stage.makeArchive("throw com.example.notes 42 the notes can't be read")
        try stage.destination.makeDirectory()
        let error = await #expect(throws: MigrationError.self) {
            try await stage.importArchive(stage.scripted(hosting))
        }
        #expect(error?.code == .extensionFailed)
        let container = try stage.container(at: stage.destination)
        let information = [NSLocalizedDescriptionKey: "the notes can't be read"]
        let thrown = NSError(domain: "com.example.notes", code: 42, userInfo: information)
        let expected = ImportRecord.Outcome.failure(PersistedError(thrown))
        #expect(try container.importRecord()?.outcome == expected)
        #expect(try container.importRecord()?.outcome == expected)
        try container.clearImportRecord()
        #expect(try container.importRecord() == nil)
    }

    @Test(arguments: Hosting.allCases, ["E", "\u{1}", "é", "\""])
    func `rule 22: persists as much of an error as a status has room for`(
        _ hosting: Hosting,
        _ character: String
    ) async throws {
        let stage = try Stage()
        let text = String(repeating: character, count: 170_000)
        try await stage.makeArchive("throw \(text) 42 \(text)")
        try stage.destination.makeDirectory()
        _ = await #expect(throws: MigrationError.self) {
            try await stage.importArchive(stage.scripted(hosting))
        }
        let file = stage.destination / ".migration/import-attempt.json"
        #expect(try file.contents().count < 20 << 10)
        let outcome = try stage.container(at: stage.destination).importRecord()?.outcome
        guard case .failure(let recorded)? = outcome, recorded.code == 42 else {
            Issue.record("\(String(describing: outcome))")
            return
        }
        for part in [recorded.domain, recorded.description] {
            #expect(part.hasSuffix("…"))
            #expect(text.hasPrefix(part.dropLast()))
        }
        #expect(recorded.description.count > 2_000)
    }

    @Test(arguments: Hosting.allCases)
    func `rule 23: leaves nothing of an import that failed`(_ hosting: Hosting) async throws {
        let stage = try Stage()
        try await stage.makeArchive(
            "move in:a Documents/a\nwrite Library/b b\nthrow domain 1 late",
            files: ["a": "a"]
        )
        try stage.destination.makeDirectory()
        _ = await #expect(throws: MigrationError.self) {
            try await stage.importArchive(stage.scripted(hosting))
        }
        #expect(try stage.destination.names() == [".migration"])
        #expect(try stage.leftovers() == [])
    }

    @Test(arguments: Hosting.allCases)
    func `rule 23: leaves the data that was there as it was`(_ hosting: Hosting) async throws {
        let stage = try Stage()
        try await stage.makeArchive("move in:a Documents/a\nthrow domain 1 late", files: ["a": "a"])
        try stage.destination.makeDirectory()
        try (stage.destination / "kept").write("kept")
        var options = ImportOptions()
        options.replacesExisting = true
        _ = await #expect(throws: MigrationError.self) {
            try await stage.importArchive(stage.scripted(hosting), options: options)
        }
        #expect(try stage.importedText("kept") == "kept")
        #expect(try stage.destination.names() == [".migration", "kept"])
    }

    @Test(arguments: Hosting.allCases)
    func `rule 23: never clears an app group`(_ hosting: Hosting) async throws {
        let stage = try Stage()
        try await stage.makeArchive("write group:shared/new new\nthrow domain 1 late")
        let group = try stage.makeGroup()
        try (group / "old").write("old")
        var scripted = stage.scripted(hosting)
        scripted.applicationGroups = ["shared": group.url]
        let hosted = scripted
        _ = await #expect(throws: MigrationError.self) {
            try await stage.importArchive(hosted)
        }
        #expect(try group.names() == ["new", "old"])
    }

    @Test(arguments: Hosting.allCases)
    func `rule 24: reports the extension's progress as it moves`(
        _ hosting: Hosting
    ) async throws {
        let stage = try Stage()
        try await stage.makeArchive("progress 3 8\nsleep 400\nprogress 8 8")
        let progress = Progress(totalUnitCount: -1)
        try await stage.importArchive(stage.scripted(hosting), progress: progress)
        #expect(progress.totalUnitCount == 8)
        #expect(progress.completedUnitCount == 8)
    }

    @Test(arguments: Hosting.allCases)
    func `rule 25: tells where the archive is from`(_ hosting: Hosting) async throws {
        let stage = try Stage()
        try await stage.makeArchive("notes Documents/notes")
        try await stage.importArchive(stage.scripted(hosting))
        #expect(
            try stage.importedText("Documents/notes") == """
                source com.example.android linux
                store unknown version 1.0
                """
        )
    }

    @Test(arguments: Hosting.allCases)
    func `rule 25: tells what the person says of the source`(_ hosting: Hosting) async throws {
        let stage = try Stage()
        try await stage.makeArchive("notes Documents/notes")
        var options = ImportOptions()
        options.source.bundleIdentifier = "org.example.other"
        options.source.platform = .android
        options.source.version = "9"
        try await stage.importArchive(stage.scripted(hosting), options: options)
        #expect(
            try stage.importedText("Documents/notes") == """
                source org.example.other android
                store googlePlay version 9
                """
        )
    }

    @Test(arguments: Hosting.allCases)
    func `gives a fresh container, with the directories of one`(
        _ hosting: Hosting
    ) async throws {
        let stage = try Stage()
        try await stage.makeArchive("write Library/Preferences/p p")
        try await stage.importArchive(stage.scripted(hosting))
        #expect(
            try stage.destination.names() == [".migration", "Documents", "Library", "tmp"]
        )
        let kept = try (stage.destination / ".migration").names()
        #expect(kept == ["identity.json", "import-status.json"])
    }

    @Test(arguments: Hosting.allCases, ["directory", "fifo", "write"])
    func `takes no word of an extension on whose the container is`(
        _ hosting: Hosting,
        _ command: String
    ) async throws {
        let name = ".com.apple.mobile_container_manager.metadata.plist"
        let stage = try Stage()
        try await stage.makeArchive("\(command) \(name) com.example.bank")
        try await stage.importArchive(stage.scripted(hosting))
        let list = stage.destination / "\(name)"
        try #require(!list.exists)
        let text = """
            <plist version="1.0"><dict><key>MCMMetadataIdentifier</key>\
            <string>\(Stage.identifier)</string></dict></plist>
            """
        try list.write(text)
        var options = ImportOptions()
        options.replacesExisting = true
        try await stage.importArchive(stage.scripted(hosting), options: options)
        #expect(try stage.importedText(name) == text)
    }

    @Test(arguments: Hosting.allCases)
    func `refuses a destination that holds data`(_ hosting: Hosting) async throws {
        let stage = try Stage()
        try await stage.makeArchive("write Documents/new new")
        try stage.destination.makeDirectory()
        try (stage.destination / "kept").write("kept")
        let error = await #expect(throws: MigrationError.self) {
            try await stage.importArchive(stage.scripted(hosting))
        }
        #expect(error?.code == .containerHoldsData)
        #expect(try stage.destination.names() == ["kept"])
    }
}
