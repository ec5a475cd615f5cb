internal import CSQLite
internal import MigrationSystem

/// A connection to a SQLite database, closed when it is released.
@safe
final class SQLiteConnection {
    private let handle: OpaquePointer
    private let path: String

    /// Opens the database at `path`, or makes it.
    ///
    /// - Throws: ``StoreMigrationError`` with `damaged`, `storeBusy`, `outOfSpace` or `failed`.
    private init(
        at path: BytePath,
        query: String = "",
        flags: CInt = SQLITE_OPEN_READWRITE,
        first statements: String
    ) throws(StoreMigrationError) {
        self.path = String(decoding: path.bytes, as: UTF8.self)
        var opened: OpaquePointer?
        let address = Self.address(of: path) + query
        let code = unsafe sqlite3_open_v2(address, &opened, flags | SQLITE_OPEN_URI, nil)
        guard let opened = unsafe opened else {
            throw StoreMigrationError(.failed, "SQLite has no memory", at: self.path)
        }
        unsafe handle = opened
        try check(code)
        _ = unsafe sqlite3_extended_result_codes(handle, 1)
        try execute(statements)
    }

    deinit {
        unsafe sqlite3_close_v2(handle)
    }

    /// Makes a database that another one is copied into; the caller synchronizes it when it is whole.
    static func create(at path: BytePath) throws(StoreMigrationError) -> SQLiteConnection {
        try SQLiteConnection(
            at: path,
            flags: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE,
            first: "PRAGMA synchronous = OFF"
        )
    }

    /// Opens a database to change it.
    static func open(at path: BytePath) throws(StoreMigrationError) -> SQLiteConnection {
        try SQLiteConnection(at: path, first: "PRAGMA busy_timeout = 2000")
    }

    /// Opens a database that nobody else can use until it is closed.
    static func openAlone(at path: BytePath) throws(StoreMigrationError) -> SQLiteConnection {
        let connection = try SQLiteConnection(
            at: path,
            first: "PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; COMMIT"
        )
        try connection.keepLogOnClose()
        return connection
    }

    /// Opens a database to read it; no file is made or changed, unless a transaction was cut off
    /// that SQLite has to undo first.
    static func openForReading(at path: BytePath) throws(StoreMigrationError) -> SQLiteConnection {
        let hasMore = ["-wal", "-journal"].contains { suffix in
            let file = BytePath(path.bytes + Array(suffix.utf8))
            // What can't be told is found out by SQLite.
            return ((try? FileDescriptor.statusIfPresent(atPath: file))?.size ?? 0) > 0
        }
        if !hasMore {
            return try SQLiteConnection(at: path, query: "?immutable=1", first: "")
        }
        do throws(StoreMigrationError) {
            // Alone, SQLite keeps the index of the log in memory.
            let connection = try SQLiteConnection(
                at: path,
                first: "PRAGMA locking_mode = EXCLUSIVE"
            )
            try connection.keepLogOnClose()
            try connection.execute("SELECT count(*) FROM sqlite_schema")
            return connection
        } catch {
            // Somebody uses it, or it can't be written.
            return try SQLiteConnection(
                at: path,
                flags: SQLITE_OPEN_READONLY,
                first: "PRAGMA busy_timeout = 2000"
            )
        }
    }

    private func keepLogOnClose() throws(StoreMigrationError) {
        try check(unsafe migration_sqlite_keep_log(handle))
    }

    /// The path as a URI, in which SQLite decodes any byte.
    private static func address(of path: BytePath) -> String {
        let digits = [UInt8]("0123456789ABCDEF".utf8)
        let letters = UInt8(ascii: "a")...UInt8(ascii: "z")
        var address = [UInt8]("file:".utf8)
        for byte in path.bytes {
            if byte == UInt8(ascii: "/") || letters.contains(byte | 0x20) {
                address.append(byte)
            } else {
                address += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: address, as: UTF8.self)
    }
}

// MARK: - Statements

extension SQLiteConnection {
    /// Runs statements one after another; their rows are dropped.
    func execute(_ statements: String) throws(StoreMigrationError) {
        try check(unsafe sqlite3_exec(handle, statements, nil, nil, nil))
    }

    /// Runs one statement with a text for its parameter, and returns how many rows it changed.
    func change(_ statement: String, to text: String) throws(StoreMigrationError) -> Int {
        let prepared = try unsafe prepare(statement)
        defer { unsafe sqlite3_finalize(prepared) }
        try check(unsafe migration_sqlite_bind(prepared, 1, text))
        let code = unsafe sqlite3_step(prepared)
        guard code == SQLITE_ROW || code == SQLITE_DONE else { throw error(code) }
        return Int(unsafe sqlite3_changes(handle))
    }

    /// The first column of the rows of a query, at most `limit` rows; `nil` stands for NULL.
    func column(
        _ query: String,
        limit: Int = 2
    ) throws(StoreMigrationError) -> [[UInt8]?] {
        let prepared = try unsafe prepare(query)
        defer { unsafe sqlite3_finalize(prepared) }
        var rows: [[UInt8]?] = []
        while rows.count < limit {
            let code = unsafe sqlite3_step(prepared)
            if code == SQLITE_DONE { break }
            guard code == SQLITE_ROW else { throw error(code) }
            guard unsafe sqlite3_column_type(prepared, 0) != SQLITE_NULL else {
                rows.append(nil)
                continue
            }
            let bytes = unsafe sqlite3_column_blob(prepared, 0)
            let count = Int(unsafe sqlite3_column_bytes(prepared, 0))
            unsafe rows.append([UInt8](UnsafeRawBufferPointer(start: bytes, count: count)))
        }
        return rows
    }

    /// The first column of the first row of a query as text; `nil` where there is none.
    func text(_ query: String) throws(StoreMigrationError) -> String? {
        guard let row = try column(query, limit: 1).first, let bytes = row else { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Whether there is a table of that name.
    func hasTable(_ name: String) throws(StoreMigrationError) -> Bool {
        try text("SELECT name FROM sqlite_schema WHERE type = 'table' AND name = '\(name)'") != nil
    }

    private func prepare(_ statement: String) throws(StoreMigrationError) -> OpaquePointer {
        var prepared: OpaquePointer?
        try check(unsafe sqlite3_prepare_v2(handle, statement, -1, &prepared, nil))
        guard let prepared = unsafe prepared else {
            throw StoreMigrationError(.failed, "an SQL statement is empty", at: path)
        }
        return unsafe prepared
    }
}

// MARK: - Whole databases

extension SQLiteConnection {
    /// Writes the whole log into the database.
    ///
    /// - Throws: ``StoreMigrationError`` with `storeBusy` where somebody still reads from the log.
    func emptyLog() throws(StoreMigrationError) {
        let mode = SQLITE_CHECKPOINT_TRUNCATE
        try check(unsafe sqlite3_wal_checkpoint_v2(handle, "main", mode, nil, nil))
    }

    /// Checks the structure of every page.
    ///
    /// - Throws: ``StoreMigrationError`` with `damaged` and what SQLite finds first.
    func checkPages() throws(StoreMigrationError) {
        let finding = try text("PRAGMA quick_check(1)") ?? "no answer"
        guard finding == "ok" else { throw StoreMigrationError(.damaged, finding, at: path) }
    }

    /// Copies every page into `destination`, whatever the size of the database in bounded memory.
    ///
    /// - Parameters:
    ///   - destination: A database that nobody else uses.
    ///   - report: Is told how many bytes are copied, of how many; stops the copy by throwing.
    /// - Throws: ``StoreMigrationError``; the errors of `report`.
    func copy(
        to destination: SQLiteConnection,
        report: (_ copied: Int64, _ total: Int64) throws -> Void
    ) throws {
        let size = Int64(try text("PRAGMA page_size") ?? "") ?? 4096
        guard
            let backup = unsafe sqlite3_backup_init(destination.handle, "main", handle, "main")
        else { throw destination.error(unsafe sqlite3_errcode(destination.handle)) }
        do {
            var code = SQLITE_OK
            while code == SQLITE_OK {
                // 256 pages of 4 KiB are 1 MiB.
                code = unsafe sqlite3_backup_step(backup, 256)
                guard code == SQLITE_OK || code == SQLITE_DONE else {
                    throw destination.error(code)
                }
                let total = Int64(unsafe sqlite3_backup_pagecount(backup))
                let rest = Int64(unsafe sqlite3_backup_remaining(backup))
                try report((total - rest) * size, total * size)
            }
        } catch {
            unsafe sqlite3_backup_finish(backup)
            throw error
        }
        try destination.check(unsafe sqlite3_backup_finish(backup))
    }
}

// MARK: - Errors

extension SQLiteConnection {
    private func check(_ code: CInt) throws(StoreMigrationError) {
        guard code == SQLITE_OK else { throw error(code) }
    }

    private func error(_ code: CInt) -> StoreMigrationError {
        let kind: StoreMigrationError.Code =
            switch code & 0xFF {
            case SQLITE_NOTADB, SQLITE_CORRUPT: .damaged
            case SQLITE_BUSY, SQLITE_LOCKED: .storeBusy
            case SQLITE_FULL: .outOfSpace
            default: .failed
            }
        let message = unsafe String(cString: sqlite3_errmsg(handle))
        return StoreMigrationError(kind, "SQLite says: \(message)", at: path)
    }
}
