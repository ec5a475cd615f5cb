import Foundation
import MigrationHosting
import NotesStore
import SQLite3
import Testing

/// The person's reminders, whose steps are inferred from the schema.
struct RemindersTests {
    /// The schema of the first version, with two reminders.
    private static let version1 = """
        PRAGMA user_version = 1;
        CREATE TABLE reminder (note TEXT PRIMARY KEY NOT NULL, day TEXT);
        INSERT INTO reminder VALUES ('c0ffee01', '2026-05-01'), ('c0ffee02', '2026-04-30');
        """

    private static let expected = [
        Reminder(note: "c0ffee02", due: "2026-04-30"),
        Reminder(note: "c0ffee01", due: "2026-05-01"),
    ]

    @Test
    func `of the first version come into the current schema`() async throws {
        try await withScratchDirectory { root in
            let layout = try Self.write(Self.version1, to: root)
            #expect(try Reminders(in: layout).all() == Self.expected)
            let names = try FileManager.default.contentsOfDirectory(
                atPath: layout.remindersFile.deletingLastPathComponent().path
            )
            #expect(names == ["reminders.db"])
            try Reminders(in: layout).save(Reminder(note: "a", due: "2026-01-01", isDone: true))
            #expect(try Reminders(in: layout).all().first?.isDone == true)
        }
    }

    @Test(arguments: [
        version1 + "INSERT INTO reminder VALUES ('a', NULL);",
        version1 + "INSERT INTO reminder VALUES ('a', 'tomorrow');",
        version1 + "ALTER TABLE reminder ADD COLUMN sound TEXT DEFAULT 'bell';",
        "PRAGMA user_version = 3; CREATE TABLE reminder (note TEXT PRIMARY KEY NOT NULL);",
    ])
    func `that would be lost or are newer stay as they are`(_ sql: String) async throws {
        try await withScratchDirectory { root in
            let layout = try Self.write(sql, to: root)
            let before = try root.files
            #expect(throws: (any Error).self) { try Reminders(in: layout) }
            #expect(try root.files == before)
        }
    }

    @Test
    func `are in the current schema from the first one on`() async throws {
        try await withScratchDirectory { root in
            let layout = StoreLayout(inContainerAt: root)
            let reminders = try Reminders(in: layout)
            #expect(try reminders.all() == [])
            #expect(try root.files == [:])
            let reminder = Reminder(note: "a", due: "2026-05-01")
            try reminders.save(reminder)
            #expect(try Reminders(in: layout).all() == [reminder])
            let day = Reminder(note: "a", due: "May")
            #expect(throws: StoreError.self) { try reminders.save(day) }
        }
    }

    @Test(arguments: [true, false])
    func `of the first version arrive by the extension`(_ isContainer: Bool) async throws {
        try await withScratchDirectory { directory in
            let migration = try HostedMigration(of: .version2, in: directory)
            try Self.write(Self.version1, to: migration.oldRoot)
            if isContainer {
                try await migration.exportContainer()
            } else {
                try await migration.exportNotes()
            }
            let imported = try await migration.importNotes(
                from: isContainer ? .backup : .androidApp
            )
            #expect(imported.appExtension?.findings == [])
            let layout = StoreLayout(inContainerAt: migration.newRoot)
            // They are current before the app opens them.
            #expect(try Self.version(of: layout.remindersFile) == 2)
            #expect(try Reminders(in: layout).all() == Self.expected)
            let listed = try NotesProgram.run(["reminders"], in: migration.newRoot)
            #expect(listed.output == "2026-04-30  Only a title\n2026-05-01  Plants\n")
        }
    }

    @Test
    func `of a newer version are refused with the data untouched`() async throws {
        try await withScratchDirectory { directory in
            let migration = try HostedMigration(of: .version3, in: directory)
            try Self.write("PRAGMA user_version = 3; CREATE TABLE t (a)", to: migration.oldRoot)
            try await migration.exportNotes()
            let error = try await #require(throws: MigrationError.self) {
                try await migration.importNotes()
            }
            #expect(error.cause as? StoreError == .unknownVersion("3"))
        }
    }

    @discardableResult
    private static func write(_ sql: String, to root: URL) throws -> StoreLayout {
        let layout = StoreLayout(inContainerAt: root)
        try FileManager.default.createDirectory(
            at: layout.remindersFile.deletingLastPathComponent(),
            withIntermediateDirectories: true
        )
        var handle: OpaquePointer?
        defer { sqlite3_close(handle) }
        try #require(sqlite3_open(layout.remindersFile.path, &handle) == SQLITE_OK)
        try #require(sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK)
        return layout
    }

    private static func version(of file: URL) throws -> Int32 {
        var (handle, statement): (OpaquePointer?, OpaquePointer?)
        defer {
            sqlite3_finalize(statement)
            sqlite3_close(handle)
        }
        try #require(sqlite3_open(file.path, &handle) == SQLITE_OK)
        let query = "PRAGMA user_version"
        try #require(sqlite3_prepare_v2(handle, query, -1, &statement, nil) == SQLITE_OK)
        try #require(sqlite3_step(statement) == SQLITE_ROW)
        return sqlite3_column_int(statement, 0)
    }
}
