import Foundation
import Glibc
import MigrationArchive
import MigrationCore
import MigrationSystem
import TestSupport
import Testing

@testable import IPhoneBackups

@Suite(.scratchDirectory) struct PhoneConversionTests {
    @Test(arguments: PhoneStage.forms)
    func `takes everything of an app, whatever the form of the backup`(_ form: String) async throws
    {
        let stage = try PhoneStage()
        let entries = try stage.make(form)
        let report = try await stage.convert()
        #expect(report.lost.count == 0)
        #expect(report.omitted.items.map(\.path) == ["Library/cache.db-shm"])
        #expect(report.relinked.items.map(\.path) == ["Library/WebKit/root", "Library/WebKit/v0"])
        #expect(report.version == "4.2")
        let inspection = try await ArchiveSource.file(stage.url("out")).inspect()
        #expect(inspection.header?.platform == "iOS")
        try await stage.importArchive()
        try stage.checkTree(entries)
    }

    @Test func `leaves links alone that lead elsewhere, or that would be too long`() async throws {
        let stage = try PhoneStage()
        try stage.make("plain", flaws: ["far-links"])
        let report = try await stage.convert()
        #expect(report.lost.count == 0)
        #expect(report.totals.symbolicLinks == 6)
        #expect(report.relinked.items.map(\.path) == ["Library/WebKit/root", "Library/WebKit/v0"])
    }

    @Test func `the same container has the same fingerprint in every form`() async throws {
        let stage = try PhoneStage()
        var fingerprints: Set<String> = []
        for form in PhoneStage.forms {
            try stage.make(form, as: form)
            let report = try await stage.convert(form)
            fingerprints.insert(try #require(report.summary).fingerprint.description)
            try FileManager.default.removeItem(at: stage.url("out"))
        }
        #expect(fingerprints.count == 1)
    }

    /// Rows as older devices and other tools write them; see the readers named in the generator.
    @Test(arguments: ["plain", "encrypted", "ios10.1", "ios10.0"])
    func `takes the same out of rows of older and other forms`(_ form: String) async throws {
        let stage = try PhoneStage()
        let entries = try stage.make(form, flaws: ["odd-rows"])
        #expect(try await stage.convert().lost.count == 0)
        try await stage.importArchive()
        try stage.checkTree(entries)
    }

    /// As `mvt-ios decrypt-backup` leaves it: the lists still say that it is encrypted.
    @Test func `reads a copy that another program decrypted without a password`() async throws {
        let stage = try PhoneStage()
        let entries = try stage.make("encrypted", flaws: ["decrypted"])
        #expect(try await stage.convert(password: nil).lost.count == 0)
        try await stage.importArchive()
        try stage.checkTree(entries)
    }

    @Test func `says how many files it didn't compare that may be hard links`() async throws {
        let stage = try PhoneStage()
        try stage.make("plain", flaws: ["one-number"])
        let report = try await stage.convert()
        #expect(report.warnings.count == 1)
        #expect(report.warnings.first?.hasPrefix("4 files that may be hard links") == true)
    }

    @Test func `takes a container whose names come in several parts`() async throws {
        let stage = try PhoneStage()
        try stage.make("plain", flaws: ["many-names"])
        let report = try await stage.convert()
        #expect(report.lost.count == 0)
        #expect(report.totals.files == 6_021)
        // The reader proves the order of the entries.
        let found = try await ArchiveSource.file(stage.url("out"))
            .verify(externalLinks: .keep)
        #expect(found.totals?.files == 6_021)
    }

    @Test func `puts an app straight into a container`() async throws {
        let stage = try PhoneStage()
        let entries = try stage.make("encrypted")
        var importing = ImportOptions()
        importing.externalLinks = .keep
        let (report, imported) = try await IPhoneBackupOperations.restore(
            Domain(.app, PhoneStage.app),
            in: stage.path("backup"),
            reading: PhoneStage.options(),
            options: ContainerConversion.Options(),
            into: MigrationDataContainer(at: stage.url("new"), bundleIdentifier: PhoneStage.app),
            importing: importing,
            by: MigrationHost()
        )
        #expect(imported?.fingerprint == report.summary?.fingerprint)
        try stage.checkTree(entries)
    }

    @Test func `a container that holds data stays, and says so`() async throws {
        // As in every program of this project that writes into pipes.
        signal(SIGPIPE, SIG_IGN)
        let stage = try PhoneStage()
        try stage.make("plain")
        let data = stage.url("new/Documents")
        try FileManager.default.createDirectory(at: data, withIntermediateDirectories: true)
        try Data("mine".utf8).write(to: data.appending(path: "a"))
        let error = await #expect(throws: MigrationError.self) {
            try await IPhoneBackupOperations.restore(
                Domain(.app, PhoneStage.app),
                in: stage.path("backup"),
                reading: PhoneStage.options(),
                options: ContainerConversion.Options(),
                into: MigrationDataContainer(
                    at: stage.url("new"),
                    bundleIdentifier: PhoneStage.app
                ),
                importing: ImportOptions(),
                by: MigrationHost()
            )
        }
        #expect(error?.code == .containerHoldsData)
        #expect(try FileManager.default.contentsOfDirectory(atPath: data.path) == ["a"])
    }

    @Test(arguments: [
        (Domain(.group, "group.com.example.notes"), 1),
        (Domain(.plugin, "com.example.notes.share"), 1),
        (Domain(.app, "com.example.notes.widget"), 1),
    ])
    func `takes a group, a plugin and another app apart`(_ domain: Domain, _ files: Int)
        async throws
    {
        let stage = try PhoneStage()
        try stage.make("encrypted")
        let report = try await stage.convert(of: domain)
        #expect(report.totals.files == UInt64(files))
        let inspection = try await ArchiveSource.file(stage.url("out")).inspect()
        #expect(inspection.totals?.files == UInt64(files))
    }

    @Test(arguments: ["com.example", "COM.EXAMPLE.NOTES", "com.example.note_", "com.example.%"])
    func `knows no app by a part of its name`(_ identifier: String) async throws {
        let stage = try PhoneStage()
        try stage.make("plain")
        let error = await #expect(throws: ArchiveError.self) {
            try await stage.convert(of: Domain(.app, identifier))
        }
        #expect(error?.code == .notFound)
    }

    @Test func `lists apps with and without data, and groups and plugins`() async throws {
        let stage = try PhoneStage()
        try stage.make("encrypted")
        let (contents, warnings) = try await IPhoneBackupOperations.contents(
            of: stage.path("backup"),
            options: PhoneStage.options()
        )
        #expect(warnings.isEmpty)
        let apps = contents.containers(.app)
        #expect(
            apps.map(\.identifier) == [
                "com.example.empty", "com.example.installed", "com.example.notes",
                "com.example.notes.widget",
            ]
        )
        #expect(apps.map(\.hasData) == [false, false, true, true])
        #expect(apps[2].name == "Notes")
        #expect(apps[2].files == 23)
        #expect(contents.containers(.group).map(\.identifier) == ["group.com.example.notes"])
        #expect(contents.containers(.plugin).map(\.identifier) == ["com.example.notes.share"])
    }

    /// Thousands of apps may each have a list of few bytes that expands to many values.
    @Test func `reads no more of an app's metadata than its name and version`() async throws {
        let stage = try PhoneStage()
        try stage.make("plain", flaws: ["bomb"])
        let (contents, _) = try await IPhoneBackupOperations.contents(
            of: stage.path("backup"),
            options: PhoneStage.options()
        )
        #expect(contents.containers(.app).map(\.name) == [nil, nil, "Notes", nil])
    }

    @Test(arguments: ["plain", "encrypted", "mbdb"])
    func `writes nothing into a backup, and nothing private into an archive`(
        _ form: String
    ) async throws {
        let stage = try PhoneStage()
        try stage.make(form)
        let root = BytePath(stage.url("backup").path)
        let before = try TreeSnapshot(of: root)
        _ = try await stage.convert()
        #expect(try TreeSnapshot(of: root) == before)
        let reader = try await ArchiveSource.file(stage.url("out")).inspect()
        let header = try #require(reader.header)
        #expect(!"\(header)".contains("PRIVATE"))
    }

    @Test func `finds the only backup in a directory, and names several`() async throws {
        let stage = try PhoneStage()
        try stage.make("plain", as: "parent/one")
        #expect(try await stage.convert("parent").lost.count == 0)
        try FileManager.default.removeItem(at: stage.url("out"))
        try stage.make("plain", as: "parent/two")
        let error = await #expect(throws: ArchiveError.self) { try await stage.convert("parent") }
        #expect(error?.code == .notAnArchive)
        #expect(error?.message.hasSuffix("one, two") == true)
    }

    @Test func `reads a manifest that another program wrote without padding`() async throws {
        let stage = try PhoneStage()
        try stage.make("encrypted", flaws: ["unpadded"])
        #expect(try await stage.convert().lost.count == 0)
    }

    @Test(arguments: ["no-info", "empty-info"])
    func `warns of lists that are missing or empty, and of a log that isn't read`(
        _ flaw: String
    ) async throws {
        let stage = try PhoneStage()
        try stage.make("plain", flaws: [flaw])
        try Data("log".utf8).write(to: stage.url("backup/Manifest.db-wal"))
        let report = try await stage.convert()
        #expect(report.warnings.count == 3)
        #expect(report.warnings.contains { $0.contains("Manifest.db-wal") })
        #expect(report.version == "42")
        #expect(try Data(contentsOf: stage.url("backup/Manifest.db-wal")) == Data("log".utf8))
    }
}
