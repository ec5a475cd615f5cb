import Foundation
import TestSupport
import Testing

/// `action.yml`, by the workflow of the example, run as GitHub does.
@Suite(.scratchDirectory) struct ActionTests {
    /// The output of `run-workflow.py`.
    private struct Run: Decodable {
        let log: String
        let summary: String
        let outputs: [String: String]
        let ran: [String]
        let leftOut: [String]
        let succeeded: Bool
    }

    private static let project = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../..").standardized

    private static let rules = "Android/res/xml/data_extraction_rules.xml"

    private let place: Workplace

    init() throws {
        place = try Workplace()
        let app = Self.project.appending(path: "Examples/TasksApp/Android")
        let copy = place.directory.appending(path: "a repository")
        try FileManager.default.createDirectory(at: copy, withIntermediateDirectories: false)
        try FileManager.default.copyItem(at: app, to: copy.appending(path: "Android"))
    }

    private func run(_ changes: String..., migrate: String = MigrateCommand.path) throws -> Run {
        let workflow = Self.project
            .appending(path: "Examples/TasksApp/.github/workflows/migration.yml")
        let words = [
            "python3", Self.project.appending(path: "Tests/Fixtures/run-workflow.py").path,
            workflow.path, place.path("a repository"), place.directory.path,
            "migrate=\(migrate)",
        ]
        let command = try MigrateCommand.start(
            (words + changes).map { [UInt8]($0.utf8) },
            program: "/usr/bin/env"
        )
        let result = try command.wait()
        try #require(result.exitCode == 0, "\(result.errors)")
        return try JSONDecoder().decode(Run.self, from: Data(result.standardOutput))
    }

    private func replaceInRules(_ text: String, with other: String) throws {
        let name = "a repository/\(Self.rules)"
        let content = String(decoding: try place.bytes(of: name), as: UTF8.self)
        try #require(content.contains(text))
        try place.write([UInt8](content.replacing(text, with: other).utf8), to: name)
    }

    @Test func `shows what is sent`() throws {
        let run = try run()
        #expect(run.succeeded, "\(run.log)")
        #expect(run.ran == ["Check the rules"])
        #expect(run.outputs == ["eligible": "true"])
        #expect(run.summary.contains("### Mistakes in \(Self.rules)\n\n~~~~text\n"))
        #expect(run.summary.contains("### What is sent (cross-platform)\n\n~~~~text\n"))
        #expect(run.summary.contains("line 25  app/databases/tasks.db-wal\n"))
        #expect(run.summary.hasSuffix("~~~~\n\n"))
        #expect(run.log.contains("::notice file=\(Self.rules),line=19,title=unnamed-data::"))
        #expect(!run.log.contains("title=rule-bytes"))
    }

    @Test func `fails where a rule is wrong, and says beside which line`() throws {
        try replaceInRules(
            "domain=\"external\" path=\"exports\"",
            with: "domain=\"sdcard\" path=\".\""
        )
        let run = try run()
        #expect(!run.succeeded)
        #expect(run.log.contains("::error file=\(Self.rules),line=15,title=unknown-domain::"))
        #expect(run.outputs == ["eligible": "true"])
        #expect(run.summary.contains("2 errors, 0 warnings"))
        #expect(!run.summary.contains("external/files/exports"))
    }

    @Test func `fails where the app takes no part`() throws {
        let manifest = "a repository/Android/AndroidManifest.xml"
        let content = String(decoding: try place.bytes(of: manifest), as: UTF8.self)
        let other = content.replacing("allowBackup=\"true\"", with: "allowBackup=\"false\"")
        try place.write([UInt8](other.utf8), to: manifest)
        let run = try run()
        #expect(!run.succeeded)
        #expect(run.outputs == ["eligible": "false"])
        #expect(run.log.contains("title=allow-backup-false::"))
        #expect(run.summary.contains("eligible  no\n"))
        // These have no mistake, but they are in the older format.
        let older = try self.run("rules=Android/res/xml/backup_rules.xml", "manifest=")
        #expect(!older.succeeded)
        #expect(older.outputs == ["eligible": "false"])
        #expect(older.summary.contains("0 errors, 0 warnings"))
    }

    @Test func `fails where there are no rules, or no data`() throws {
        let missing = try run("rules=Android/res/xml/rules.xml")
        #expect(!missing.succeeded)
        #expect(missing.summary.contains("Android/res/xml/rules.xml"))
        let other = try run("rules=Android/AndroidManifest.xml")
        #expect(!other.succeeded)
        #expect(other.log.contains("title=not-rules-file::"))
        #expect(!other.summary.contains("What is sent"))
        let data = try run("data=Android/nothing")
        #expect(!data.succeeded)
        #expect(data.outputs == ["eligible": ""])
    }

    @Test func `without data it looks at the rules alone`() throws {
        let run = try run("data=", "manifest=")
        #expect(run.succeeded, "\(run.log)")
        #expect(run.outputs == ["eligible": ""])
        #expect(run.summary.contains("0 errors, 0 warnings"))
        #expect(!run.summary.contains("What is sent"))
        let cloud = try self.run("section=cloud")
        #expect(cloud.succeeded, "\(cloud.log)")
        #expect(cloud.summary.contains("### What is sent (cloud)\n"))
    }

    @Test func `takes names as they are`() throws {
        let repository = place.directory.appending(path: "a repository")
        // The manifest names the rules by the name of their file.
        let rules = "the 'rules'/data_extraction_rules.xml"
        try FileManager.default.createDirectory(
            at: repository.appending(path: "the 'rules'"),
            withIntermediateDirectories: false
        )
        for (name, copy) in [
            (Self.rules, rules), ("Android/AndroidManifest.xml", "$(false) manifest.xml"),
            ("Android/data/com.example.tasks", "the 'data'"),
        ] {
            try FileManager.default.moveItem(
                at: repository.appending(path: name),
                to: repository.appending(path: copy)
            )
        }
        let run = try run(
            "rules=\(rules)",
            "manifest=$(false) manifest.xml",
            "data=the 'data'"
        )
        #expect(run.succeeded, "\(run.log)")
        #expect(run.outputs == ["eligible": "true"])
    }

    @Test func `takes a built program out of the cache`() throws {
        let cache = place.path("home/.cache/migrate-action")
        try FileManager.default.createDirectory(
            atPath: cache,
            withIntermediateDirectories: true
        )
        try FileManager.default.createSymbolicLink(
            atPath: cache + "/migrate",
            withDestinationPath: MigrateCommand.path
        )
        let run = try run(migrate: "")
        #expect(run.succeeded, "\(run.log)")
        #expect(run.ran == ["Name the build", "Build migrate", "Check the rules"])
        #expect(run.leftOut == ["actions/checkout@v6", "actions/cache@v5"])
        let key = try #require(run.log.firstMatch(of: /key: migrate-([0-9a-f]{64})\n/)?.1)
        #expect(run.log.contains("path: ~/.cache/migrate-action\n"))
        #expect(try self.run(migrate: "").log.contains(key))
        #expect(run.outputs == ["eligible": "true"])
    }
}
