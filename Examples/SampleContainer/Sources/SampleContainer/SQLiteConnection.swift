internal import CSQLite

/// A connection to a database that leaves its write-ahead log beside it when it closes.
struct SQLiteConnection: ~Copyable {
    private let handle: OpaquePointer

    init(creating file: String) throws {
        // The log's salts come from SQLite's random numbers. They are fixed, so the same notes give
        // the same bytes.
        _ = sample_seed_randomness(1)
        var opened: OpaquePointer?
        let code = sqlite3_open_v2(
            file,
            &opened,
            SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE,
            nil
        )
        guard code == SQLITE_OK, let opened, sample_keep_log_on_close(opened) == SQLITE_OK else {
            sqlite3_close(opened)
            throw SampleError.database("\(file): \(String(cString: sqlite3_errstr(code)))")
        }
        handle = opened
    }

    deinit {
        sqlite3_close(handle)
    }

    /// Runs statements and ignores their results.
    func run(_ statements: String) throws {
        try check(sqlite3_exec(handle, statements, nil, nil, nil))
    }

    func insertNote(id: Int, folder: Int, title: String, body: String, modified: Int) throws {
        var statement: OpaquePointer?
        try check(
            sqlite3_prepare_v2(
                handle,
                "INSERT INTO note (id, folder, title, body, modified) VALUES (?, ?, ?, ?, ?)",
                -1,
                &statement,
                nil
            )
        )
        guard let statement else { return }
        sqlite3_bind_int64(statement, 1, Int64(id))
        sqlite3_bind_int64(statement, 2, Int64(folder))
        _ = sample_bind_text(statement, 3, title)
        _ = sample_bind_text(statement, 4, body)
        sqlite3_bind_int64(statement, 5, Int64(modified))
        sqlite3_step(statement)
        try check(sqlite3_finalize(statement))
    }

    private func check(_ code: Int32) throws {
        guard code == SQLITE_OK else {
            throw SampleError.database(String(cString: sqlite3_errmsg(handle)))
        }
    }
}
