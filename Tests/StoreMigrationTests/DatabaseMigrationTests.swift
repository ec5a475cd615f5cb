import CSQLite
import Foundation
import StoreMigration
import TestSupport
import Testing

/// Migrating SQLite files.
@Suite(.scratchDirectory)
struct DatabaseMigrationTests {
    private func columns(_ url: URL) throws -> [String] {
        try TestDatabase(at: url).texts("SELECT name FROM pragma_table_info('note')")
    }

    @Test(arguments: ["DELETE", "WAL", "PERSIST", "TRUNCATE"])
    func `brings a database to the current version`(_ journal: String) throws {
        let place = try Place()
        try TestDatabase.make(at: place["db"], titles: ["a", "b"], journal: journal)
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o640],
            ofItemAtPath: place["db"].path
        )
        let store = VersionedStore(at: place["db"], .sqlite(.userVersion))
        #expect(try StoreMigrator(store).migrate(notesPlan()) == .migrated(from: 1))
        #expect(try store.version == 3)
        #expect(try place.names == ["db"])
        #expect(try columns(place["db"]) == ["id", "title", "tags", "folder"])
        let database = try TestDatabase(at: place["db"])
        #expect(try database.texts("SELECT title FROM note ORDER BY id") == ["a", "b"])
        let mode = try database.texts("PRAGMA journal_mode")
        #expect(mode == (journal == "WAL" ? ["wal"] : ["delete"]))
        let attributes = try FileManager.default.attributesOfItem(atPath: place["db"].path)
        #expect(attributes[.posixPermissions] as? Int == 0o640)
    }

    @Test func `takes over what only the log of a crash holds, and leaves no log`() throws {
        let place = try Place()
        try place.makeCrashedDatabase("db")
        let store = VersionedStore(at: place["db"], .sqlite(.userVersion))
        try StoreMigrator(store).migrate(notesPlan())
        #expect(try place.names == ["db"])
        let titles = try TestDatabase(at: place["db"]).texts("SELECT title FROM note ORDER BY id")
        #expect(titles == ["Old", "In the log"])
    }

    @Test(arguments: ["meta", "odd \"name"])
    func `keeps the version in a table`(_ table: String) throws {
        let place = try Place()
        try TestDatabase.make(at: place["db"], version: 0)
        let quoted = "\"" + table.replacing("\"", with: "\"\"") + "\""
        try TestDatabase(at: place["db"])
            .run("CREATE TABLE \(quoted) (version INTEGER); INSERT INTO \(quoted) VALUES (1)")
        let form = VersionedStore.Form.sqlite(.table(table, column: "version"))
        let store = VersionedStore(at: place["db"], form)
        try StoreMigrator(store).migrate(notesPlan())
        #expect(try store.version == 3)
        let row = try TestDatabase(at: place["db"])
            .texts("SELECT version || typeof(version) FROM \(quoted)")
        #expect(row == ["3integer"])
    }

    @Test func `refuses a table with two versions`() throws {
        let place = try Place()
        try TestDatabase.make(at: place["db"])
        try TestDatabase(at: place["db"])
            .run("CREATE TABLE meta (version TEXT); INSERT INTO meta VALUES (1), (2)")
        let store = VersionedStore(at: place["db"], .sqlite(.table("meta", column: "version")))
        expect(.damaged) { _ = try store.version }
    }

    @Test(arguments: ["DELETE", "WAL"])
    func `refuses a database that somebody writes to, and leaves it`(_ journal: String) throws {
        let place = try Place()
        try TestDatabase.make(at: place["db"], journal: journal)
        let other = try TestDatabase(at: place["db"])
        try other.run("BEGIN IMMEDIATE; INSERT INTO note (title) VALUES ('Late')")
        let store = VersionedStore(at: place["db"], .sqlite(.userVersion))
        expect(.storeBusy) { try StoreMigrator(store).migrate(notesPlan()) }
        try other.run("COMMIT")
        #expect(try other.texts("SELECT title FROM note ORDER BY id") == ["Plants", "Late"])
        #expect(try !place.names.contains(".db.migration"))
        #expect(try store.version == 1)
    }

    @Test func `nobody else can write to the old store while its copy is migrated`() throws {
        let place = try Place()
        try TestDatabase.make(at: place["db"], journal: "WAL")
        let store = VersionedStore(at: place["db"], .sqlite(.userVersion))
        let url = place["db"]
        try StoreMigrator(store).migrate(
            notesPlan { _ in
                let other = try TestDatabase(at: url)
                #expect(other.code(of: "INSERT INTO note (title) VALUES ('x')") == SQLITE_BUSY)
            }
        )
        #expect(try store.version == 3)
    }

    @Test func `a step that fails leaves the store as it was`() throws {
        struct Failure: Error {}
        let place = try Place()
        try TestDatabase.make(at: place["db"])
        let before = try place.files
        let store = VersionedStore(at: place["db"], .sqlite(.userVersion))
        #expect(throws: Failure.self) {
            try StoreMigrator(store).migrate(notesPlan { _ in throw Failure() })
        }
        #expect(try place.files == before)
    }

    @Test func `a step that breaks the copy leaves the store as it was`() throws {
        let place = try Place()
        try TestDatabase.make(at: place["db"], titles: (0..<2000).map { "Title \($0)" })
        let before = try place.files
        let store = VersionedStore(at: place["db"], .sqlite(.userVersion))
        expect(.damaged) {
            try StoreMigrator(store).migrate(
                notesPlan { copy in
                    let file = try FileHandle(forUpdating: copy.url)
                    try file.seek(toOffset: 3 * 4096)
                    try file.write(contentsOf: Data(repeating: 0xFF, count: 4096))
                    try file.close()
                }
            )
        }
        #expect(try place.files == before)
    }

    @Test func `a step that leads elsewhere leaves the store as it was`() throws {
        let place = try Place()
        try TestDatabase.make(at: place["db"])
        let before = try place.files
        let store = VersionedStore(at: place["db"], .sqlite(.userVersion))
        expect(.stepFailed) {
            try StoreMigrator(store).migrate(
                notesPlan { try $0.execute("PRAGMA user_version = 9") }
            )
        }
        #expect(try place.files == before)
    }

    @Test func `two stores in one directory are migrated each by itself`() throws {
        let place = try Place()
        let (first, second) = (place["a.db"], place["b.db"])
        try TestDatabase.make(at: first, titles: ["A"])
        try TestDatabase.make(at: second, titles: ["B"])
        let stores = [first, second].map { VersionedStore(at: $0, .sqlite(.userVersion)) }
        // The second store is migrated while the first one is.
        try StoreMigrator(stores[0]).migrate(
            notesPlan { [stores] copy in
                try StoreMigrator(stores[1]).migrate(notesPlan())
                try copy.execute("ALTER TABLE note ADD COLUMN folder TEXT")
            }
        )
        for (url, title) in [(first, "A"), (second, "B")] {
            #expect(try TestDatabase(at: url).texts("SELECT title FROM note") == [title])
            #expect(try columns(url) == ["id", "title", "tags", "folder"])
        }
        #expect(try place.names == ["a.db", "b.db"])
    }

    @Test func `only one process migrates a store`() throws {
        let place = try Place()
        try TestDatabase.make(at: place["db"])
        let store = VersionedStore(at: place["db"], .sqlite(.userVersion))
        try StoreMigrator(store).migrate(
            notesPlan { _ in
                expect(.storeBusy) { try StoreMigrator(store).migrate(notesPlan()) }
            }
        )
        #expect(try store.version == 3)
    }

    @Test func `follows a link to the store`() throws {
        let place = try Place()
        let inside = place["inside"]
        try FileManager.default.createDirectory(at: inside, withIntermediateDirectories: false)
        try TestDatabase.make(at: inside.appending(path: "db"))
        try FileManager.default.createSymbolicLink(
            at: place["link"],
            withDestinationURL: inside.appending(path: "db")
        )
        let store = VersionedStore(at: place["link"], .sqlite(.userVersion))
        try StoreMigrator(store).migrate(notesPlan())
        #expect(try store.version == 3)
        #expect(try place.names == ["inside", "link"])
        let target = try FileManager.default.destinationOfSymbolicLink(atPath: place["link"].path)
        #expect(target == inside.appending(path: "db").path)
    }
}

/// Actions of a caller while a store is migrated.
@Suite(.scratchDirectory)
struct MigratorTests {
    private struct Failure: Error {}

    @Test(arguments: ["WAL", "DELETE"])
    func `brings the old store back where the hook fails`(_ journal: String) throws {
        let place = try Place()
        try TestDatabase.make(at: place["db"], titles: ["Old"], journal: journal)
        let store = VersionedStore(at: place["db"], .sqlite(.userVersion))
        let migrator = StoreMigrator(store) { url in
            #expect(try TestDatabase(at: url).texts("PRAGMA user_version") == ["3"])
            throw Failure()
        }
        #expect(throws: Failure.self) { try migrator.migrate(notesPlan()) }
        #expect(try place.names == ["db"])
        #expect(try store.version == 1)
        let database = try TestDatabase(at: place["db"])
        #expect(try database.texts("SELECT title FROM note") == ["Old"])
        #expect(try database.texts("PRAGMA integrity_check") == ["ok"])
        #expect(try database.texts("PRAGMA journal_mode") == [journal.lowercased()])
    }

    @Test(arguments: ["WAL", "DELETE"])
    func `keeps the migrated store where somebody wrote to it before the hook failed`(
        _ journal: String
    ) throws {
        let place = try Place()
        try TestDatabase.make(at: place["db"], titles: ["Old"], journal: journal)
        let store = VersionedStore(at: place["db"], .sqlite(.userVersion))
        let migrator = StoreMigrator(store) { url in
            try TestDatabase(at: url).run("INSERT INTO note (title) VALUES ('New')")
            throw Failure()
        }
        expect(.notUndone) { try migrator.migrate(notesPlan()) }
        #expect(try store.version == 3)
        let titles = try TestDatabase(at: place["db"]).texts("SELECT title FROM note")
        #expect(titles == ["Old", "New"])
        // The hook has not succeeded yet.
        expect(.interrupted) { try notesPlan().open(store) { _ in } }
        #expect(try StoreMigrator(store).migrate(notesPlan()) == .completed)
        #expect(try place.names == ["db"])
    }

    @Test func `calls the hook with the migrated store, once`() throws {
        let place = try Place()
        try TestDatabase.make(at: place["db"])
        let store = VersionedStore(at: place["db"], .sqlite(.userVersion))
        let record = place["calls"]
        let migrator = StoreMigrator(store) { url in
            let version = try TestDatabase(at: url).texts("PRAGMA user_version")
            #expect(version == ["3"])
            let calls = (try? Data(contentsOf: record)) ?? Data()
            try (calls + Data("x".utf8)).write(to: record)
        }
        try migrator.migrate(notesPlan())
        #expect(try migrator.migrate(notesPlan()) == .current)
        #expect(try Data(contentsOf: record) == Data("x".utf8))
    }

    @Test func `goes through every byte for the copy, each step and the writing`() throws {
        let place = try Place()
        try TestDatabase.make(at: place["db"], titles: (0..<2000).map { "Title \($0)" })
        let size = try Data(contentsOf: place["db"]).count
        let progress = Progress(totalUnitCount: 0)
        let store = VersionedStore(at: place["db"], .sqlite(.userVersion))
        try StoreMigrator(store).migrate(
            notesPlan { _ in
                let completed = progress.fractionCompleted * Double(progress.totalUnitCount)
                #expect(Int(completed.rounded()) == 2 * size)
            },
            progress: progress
        )
        #expect(progress.totalUnitCount == Int64(4 * size))
        #expect(progress.completedUnitCount == progress.totalUnitCount)
    }

    @Test func `stops where it is cancelled, with the store as it was`() throws {
        let place = try Place()
        try TestDatabase.make(at: place["db"])
        let before = try place.files
        let progress = Progress(totalUnitCount: 0)
        let store = VersionedStore(at: place["db"], .sqlite(.userVersion))
        #expect(throws: CancellationError.self) {
            try StoreMigrator(store).migrate(
                notesPlan { _ in progress.cancel() },
                progress: progress
            )
        }
        #expect(try place.files == before)
    }
}
