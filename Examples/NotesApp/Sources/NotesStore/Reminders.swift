public import Foundation
internal import SQLite3
internal import StoreMigration

/// A day on which the person is reminded of a note.
public struct Reminder: Equatable, Sendable {
    /// The note's identifier.
    public let note: String

    /// The day, such as `2026-05-01`.
    public var due: String

    /// Whether the person has done what it is about.
    public var isDone: Bool

    /// Makes a reminder.
    public init(note: String, due: String, isDone: Bool = false) {
        self.note = note
        self.due = due
        self.isDone = isDone
    }
}

/// The person's reminders, in a SQLite file.
public struct Reminders: Sendable {
    private let file: URL

    /// Opens the reminders in `layout`, brought to the current schema.
    ///
    /// A missing file stays missing until the first reminder is kept.
    ///
    /// - Throws: ``StoreError/unknownVersion(_:)`` with the file untouched; `StoreMigrationError`.
    public init(in layout: StoreLayout) throws {
        file = layout.remindersFile
        try RemindersFormat.check(file)
        if exists { try migrate() }
    }

    /// All reminders, by their days.
    ///
    /// - Throws: ``StoreError/database(_:)``.
    public func all() throws -> [Reminder] {
        guard exists else { return [] }
        let query = "SELECT note, due, isDone FROM reminder ORDER BY due, note"
        return try Database(at: file).rows(of: query).map { row in
            Reminder(note: row[0], due: row[1], isDone: row[2] != "0")
        }
    }

    /// Keeps a reminder, in place of the one of that note.
    ///
    /// - Throws: ``StoreError/database(_:)``, also where the day isn't one.
    public func save(_ reminder: Reminder) throws {
        if !exists {
            try file.makeParent()
            try migrate()
        }
        try Database(at: file).rows(
            of: "INSERT OR REPLACE INTO reminder (note, due, isDone) VALUES (?, ?, ?)",
            [reminder.note, reminder.due, reminder.isDone ? "1" : "0"]
        )
    }

    private var exists: Bool { FileManager.default.fileExists(atPath: file.path) }

    private func migrate() throws {
        try StoreMigrator(RemindersFormat.store(at: file)).migrate(RemindersFormat.plan)
    }
}

/// A connection to a SQLite file, with as much of SQLite as reminders need.
private final class Database {
    private var handle: OpaquePointer?

    init(at file: URL) throws {
        guard sqlite3_open_v2(file.path, &handle, SQLITE_OPEN_READWRITE, nil) == SQLITE_OK else {
            throw failure
        }
        sqlite3_busy_timeout(handle, 5_000)
    }

    deinit { sqlite3_close_v2(handle) }

    /// Runs a statement with texts in the places of its question marks.
    @discardableResult
    func rows(of sql: String, _ values: [String] = []) throws -> [[String]] {
        var statement: OpaquePointer?
        defer { sqlite3_finalize(statement) }
        guard sqlite3_prepare_v2(handle, sql, -1, &statement, nil) == SQLITE_OK else {
            throw failure
        }
        // The statement copies a text before this call returns.
        let copies = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
        for (index, value) in values.enumerated() {
            sqlite3_bind_text(statement, CInt(index + 1), value, -1, copies)
        }
        var rows: [[String]] = []
        while true {
            switch sqlite3_step(statement) {
            case SQLITE_ROW:
                rows.append(
                    (0..<sqlite3_column_count(statement)).map { column in
                        sqlite3_column_text(statement, column).map { String(cString: $0) } ?? ""
                    }
                )
            case SQLITE_DONE: return rows
            default: throw failure
            }
        }
    }

    private var failure: StoreError { .database(String(cString: sqlite3_errmsg(handle))) }
}
