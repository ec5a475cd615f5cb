internal import CTasksSQLite
public import Foundation

/// Something to do.
public struct ToDo: Equatable, Sendable {
    /// The text of the to-do.
    public let title: String

    /// Whether it is done.
    public let isDone: Bool

    /// The file attached to it, by its path in ``StoreLayout/attachments``.
    public let attachment: String?

    /// Something to do.
    public init(_ title: String, isDone: Bool = false, attachment: String? = nil) {
        self.title = title
        self.isDone = isDone
        self.attachment = attachment
    }
}

/// The app's database, whose schema is the same on Android and iOS.
public struct TasksDatabase: ~Copyable {
    /// The version of the schema that this app reads and writes.
    public static let currentVersion = 2

    private let handle: OpaquePointer

    /// Opens the database in `file`, which must exist.
    public init(at file: URL) throws {
        var opened: OpaquePointer?
        let code = sqlite3_open_v2(file.path, &opened, SQLITE_OPEN_READWRITE, nil)
        guard code == SQLITE_OK, let opened else {
            sqlite3_close(opened)
            throw DatabaseError(message: String(cString: sqlite3_errstr(code)))
        }
        handle = opened
    }

    deinit {
        sqlite3_close(handle)
    }

    /// The version of the schema that the database has.
    public var version: Int {
        get throws {
            try rows("PRAGMA user_version") { Int(sqlite3_column_int64($0, 0)) }.first ?? 0
        }
    }

    /// Whether every page of the database is sound.
    public var isSound: Bool {
        get throws {
            try rows("PRAGMA quick_check") { Self.text($0, 0) } == ["ok"]
        }
    }

    /// All to-dos, in the order in which they were made.
    public var toDos: [ToDo] {
        get throws {
            try rows("SELECT title, done, attachment FROM todo ORDER BY id") { row in
                ToDo(
                    Self.text(row, 0) ?? "",
                    isDone: sqlite3_column_int64(row, 1) != 0,
                    attachment: Self.text(row, 2)
                )
            }
        }
    }

    private func rows<Row>(_ query: String, _ read: (OpaquePointer) -> Row) throws -> [Row] {
        var statement: OpaquePointer?
        try check(sqlite3_prepare_v2(handle, query, -1, &statement, nil))
        guard let statement else { return [] }
        defer { sqlite3_finalize(statement) }
        var rows: [Row] = []
        while true {
            switch sqlite3_step(statement) {
            case SQLITE_ROW: rows.append(read(statement))
            case SQLITE_DONE: return rows
            case let code:
                try check(code)
            }
        }
    }

    private static func text(_ row: OpaquePointer, _ column: Int32) -> String? {
        sqlite3_column_text(row, column).map { String(cString: $0) }
    }

    private func check(_ code: Int32) throws {
        guard code == SQLITE_OK else {
            throw DatabaseError(message: String(cString: sqlite3_errmsg(handle)))
        }
    }
}

/// Why a database can't be read.
public struct DatabaseError: LocalizedError, Equatable {
    /// The message of SQLite.
    public let message: String

    /// The reason, in words for a person.
    public var errorDescription: String? { "The list can't be read: \(message)." }
}
