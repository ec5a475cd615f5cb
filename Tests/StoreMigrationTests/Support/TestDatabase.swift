import CSQLite
import Foundation
import Testing

/// A connection to a SQLite database of notes, apart from the library's own code.
final class TestDatabase {
    private let handle: OpaquePointer
    private var isClosed = false

    init(at url: URL) throws {
        var opened: OpaquePointer?
        let code = sqlite3_open(url.path, &opened)
        handle = try #require(opened)
        try #require(code == SQLITE_OK)
    }

    deinit { close() }

    func close() {
        if !isClosed { sqlite3_close(handle) }
        isClosed = true
    }

    /// The result of statements that may fail.
    func code(of statements: String) -> Int32 {
        sqlite3_exec(handle, statements, nil, nil, nil)
    }

    func run(_ statements: String) throws {
        let code = code(of: statements)
        try #require(code == SQLITE_OK, "\(String(cString: sqlite3_errmsg(handle)))")
    }

    func texts(_ query: String) throws -> [String] {
        var statement: OpaquePointer?
        let code = sqlite3_prepare_v2(handle, query, -1, &statement, nil)
        try #require(code == SQLITE_OK, "\(String(cString: sqlite3_errmsg(handle)))")
        defer { sqlite3_finalize(statement) }
        var rows: [String] = []
        while sqlite3_step(statement) == SQLITE_ROW {
            rows.append(sqlite3_column_text(statement, 0).map { String(cString: $0) } ?? "NULL")
        }
        return rows
    }

    func insert(_ bytes: [UInt8], by statement: String) throws {
        var prepared: OpaquePointer?
        try #require(sqlite3_prepare_v2(handle, statement, -1, &prepared, nil) == SQLITE_OK)
        defer { sqlite3_finalize(prepared) }
        let code = bytes.withUnsafeBytes { bytes in
            sqlite3_bind_blob(prepared, 1, bytes.baseAddress, Int32(bytes.count), nil)
            return sqlite3_step(prepared)
        }
        try #require(code == SQLITE_DONE)
    }

    /// Makes a database of version 1 with notes of these titles.
    static func make(
        at url: URL,
        version: Int = 1,
        titles: [String] = ["Plants"],
        journal: String = "DELETE"
    ) throws {
        let database = try TestDatabase(at: url)
        try database.run("PRAGMA journal_mode = \(journal)")
        try database.run("CREATE TABLE note (id INTEGER PRIMARY KEY, title TEXT)")
        for title in titles { try database.run("INSERT INTO note (title) VALUES ('\(title)')") }
        try database.run("PRAGMA user_version = \(version)")
    }
}
