import CSQLite
import Foundation
import StoreMigration
import TestSupport
import Testing

/// Steps that work in place, and other abilities of plans.
@Suite(.scratchDirectory)
struct PlanTests {
    private struct Failure: Error {}

    private func store(_ place: Place) -> VersionedStore {
        VersionedStore(at: place["db"], .sqlite(.userVersion))
    }

    private func addition(_ field: String) -> String {
        "ALTER TABLE note ADD COLUMN \(field) TEXT"
    }

    private func lightPlan(
        _ verify: @escaping @Sendable (StoreQueries) throws -> Void = { _ in }
    ) -> StoreMigrationPlan {
        StoreMigrationPlan(
            current: 3,
            steps: [
                .inPlace(from: 1, to: 2) { try $0.execute(addition("tags")) },
                .inPlace(from: 2, to: 3, { try $0.execute(addition("folder")) }, verify: verify),
            ]
        )
    }

    private func columns(_ place: Place) throws -> [String] {
        try TestDatabase(at: place["db"]).texts("SELECT name FROM pragma_table_info('note')")
    }

    // MARK: In place

    @Test(arguments: ["WAL", "DELETE"])
    func `light steps make no copy`(_ journal: String) throws {
        let place = try Place()
        try TestDatabase.make(at: place["db"], titles: ["a"], journal: journal)
        let directory = place.directory.path
        let plan = lightPlan { queries in
            let names = try FileManager.default.contentsOfDirectory(
                atPath: directory + "/.db.migration"
            )
            #expect(names.isEmpty)
            #expect(try queries.text("SELECT count(folder) FROM note") == "0")
            #expect(try queries.text("PRAGMA user_version") == "3")
        }
        #expect(try StoreMigrator(store(place)).migrate(plan) == .migrated(from: 1))
        #expect(try columns(place) == ["id", "title", "tags", "folder"])
        #expect(try place.names == ["db"])
        #expect(
            try TestDatabase(at: place["db"]).texts("PRAGMA journal_mode")
                == [journal.lowercased()]
        )
    }

    @Test func `light steps take over what only the log of a crash holds`() throws {
        let place = try Place()
        try place.makeCrashedDatabase("db")
        try StoreMigrator(store(place)).migrate(lightPlan())
        let titles = try TestDatabase(at: place["db"]).texts("SELECT title FROM note ORDER BY id")
        #expect(titles == ["Old", "In the log"])
        #expect(try place.names == ["db"])
    }

    @Test func `a verification that fails undoes all light steps`() throws {
        let place = try Place()
        try TestDatabase.make(at: place["db"])
        let before = try place.files
        #expect(throws: Failure.self) {
            try StoreMigrator(store(place)).migrate(lightPlan { _ in throw Failure() })
        }
        #expect(try place.files == before)
    }

    @Test func `light steps work on the copy where a hook or another step needs it`() throws {
        for hasHook in [true, false] {
            let place = try Place()
            try? FileManager.default.removeItem(at: place["db"])
            try TestDatabase.make(at: place["db"])
            let url = place["db"]
            let mixed = StoreMigrationPlan(
                current: 3,
                steps: [
                    .inPlace(from: 1, to: 2, { try $0.execute(addition("tags")) }) { _ in
                        // The store itself is still the old one.
                        let other = try TestDatabase(at: url)
                        #expect(other.code(of: "SELECT * FROM note") == SQLITE_BUSY)
                    },
                    hasHook
                        ? .inPlace(from: 2, to: 3) { try $0.execute(addition("folder")) }
                        : StoreStep(from: 2, to: 3) { copy in
                            try TestDatabase(at: copy.url).run(addition("folder"))
                        },
                ]
            )
            let migrator =
                hasHook ? StoreMigrator(store(place)) { _ in } : StoreMigrator(store(place))
            #expect(try migrator.migrate(mixed) == .migrated(from: 1))
            #expect(try columns(place) == ["id", "title", "tags", "folder"])
        }
    }

    @Test(arguments: [
        "PRAGMA journal_mode = OFF", "PRAGMA locking_mode = NORMAL", "ATTACH ':memory:' AS x",
        "PRAGMA user_version = 9",
    ])
    func `a light step can't undo what makes it safe`(_ statement: String) throws {
        let place = try Place()
        try TestDatabase.make(at: place["db"])
        let before = try place.files
        let plan = StoreMigrationPlan(
            current: 2,
            steps: [
                .inPlace(from: 1, to: 2) { try $0.execute("DELETE FROM note; \(statement)") }
            ]
        )
        expect(.stepFailed) { try StoreMigrator(store(place)).migrate(plan) }
        #expect(try place.files == before)
    }

    @Test func `a document has no light steps`() throws {
        let place = try Place()
        try Data(#"{"version":1}"#.utf8).write(to: place["doc.json"])
        let before = try place.files
        let document = VersionedStore(at: place["doc.json"], .json(key: "version"))
        expect(.stepFailed) { try StoreMigrator(document).migrate(lightPlan()) }
        #expect(try place.files == before)
    }

    // MARK: How far

    @Test func `stops at a version`() throws {
        let place = try Place()
        try TestDatabase.make(at: place["db"])
        let migrator = StoreMigrator(store(place))
        #expect(try migrator.migrate(notesPlan(), to: 2) == .migrated(from: 1))
        #expect(try store(place).version == 2)
        #expect(try columns(place) == ["id", "title", "tags"])
        #expect(try migrator.migrate(notesPlan(), to: 2) == .current)
        #expect(try migrator.migrate(notesPlan()) == .migrated(from: 2))
        expect(.newer) { try migrator.migrate(notesPlan(), to: 2) }
        expect(.unknownVersion) { try migrator.migrate(notesPlan(), to: 7) }
        #expect(try store(place).version == 3)
    }

    // MARK: A missing store

    @Test(arguments: ["db", "doc.json", "dir"])
    func `makes a store that is missing`(_ name: String) throws {
        let place = try Place()
        let form: VersionedStore.Form =
            switch name {
            case "db": .sqlite(.userVersion)
            case "dir": .directory(versionFile: "version")
            default: .json(key: "version")
            }
        let store = VersionedStore(at: place[name], form)
        let plan = StoreMigrationPlan(current: 3, steps: []) { copy in
            switch name {
            case "db": try copy.execute("CREATE TABLE note (id INTEGER PRIMARY KEY, title)")
            case "dir":
                let url = copy.url
                try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
            default: try Data("{}".utf8).write(to: copy.url)
            }
        }
        #expect(try StoreMigrator(store).migrate(plan) == .created)
        #expect(try store.version == 3)
        #expect(try place.names == [name])
        #expect(try StoreMigrator(store).migrate(plan) == .current)
        expect(.missing) {
            let other = VersionedStore(at: place["other"], form)
            try StoreMigrator(other).migrate(StoreMigrationPlan(current: 3, steps: []))
        }
    }

    @Test func `a store that can't be made leaves nothing`() throws {
        let place = try Place()
        let plan = StoreMigrationPlan(current: 3, steps: []) { copy in
            try copy.execute("CREATE TABLE note (title)")
            throw Failure()
        }
        #expect(throws: Failure.self) { try StoreMigrator(store(place)).migrate(plan) }
        #expect(try place.names == [])
    }

    // MARK: In the background

    @Test func `stops in a statement when the task is cancelled`() async throws {
        let place = try Place()
        try TestDatabase.make(at: place["db"])
        let before = try place.files
        let (started, hasStarted) = AsyncStream<Void>.makeStream()
        let plan = StoreMigrationPlan(
            current: 2,
            steps: [
                StoreStep(from: 1, to: 2) { copy in
                    hasStarted.finish()
                    // It would never end by itself.
                    try copy.execute(
                        """
                        WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n)
                        SELECT count(*) FROM n
                        """
                    )
                }
            ]
        )
        let migrator = StoreMigrator(store(place))
        let task = Task { try await migrator.migrateInBackground(plan) }
        for await _ in started {}
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(try place.files == before)
        let outcome = try await migrator.migrateInBackground(notesPlan(), to: 2)
        #expect(outcome == .migrated(from: 1))
    }
}
