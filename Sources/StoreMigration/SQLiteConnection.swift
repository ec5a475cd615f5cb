internal import CSQLite
internal import MigrationSystem

/// A connection to a SQLite database, closed when it is released.
///
/// Every call stops if the task is cancelled, or if the connection's own closure says so.
@safe
final class SQLiteConnection {
    /// Whether the work should stop.
    typealias Cancellation = @Sendable () -> Bool

    private let handle: OpaquePointer
    private let file: BytePath
    /// The printable path.
    var path: String { String(decoding: file.bytes, as: UTF8.self) }
    private let isCancelled: Cancellation
    private var isClosed = false
    private var guardian: StatementGuard?

    /// How much a connection trusts the file that it opens.
    private enum Trust {
        /// It runs the author's own statements.
        case full
        /// It checks the file, which may come from anybody.
        case none
    }

    private init(
        at path: BytePath,
        query: String = "",
        flags: CInt = SQLITE_OPEN_READWRITE,
        trust: Trust = .full,
        isCancelled: @escaping Cancellation,
        first statements: String
    ) throws(StoreMigrationError) {
        file = path
        self.isCancelled = isCancelled
        if path != Self.memory { try Self.check(path) }
        var opened: OpaquePointer?
        let address = Self.address(of: path) + query
        let code = unsafe sqlite3_open_v2(address, &opened, flags | SQLITE_OPEN_URI, nil)
        guard let opened = unsafe opened else {
            let name = String(decoding: path.bytes, as: UTF8.self)
            throw StoreMigrationError(.failed, "SQLite has no memory", at: name)
        }
        unsafe handle = opened
        try check(code)
        _ = unsafe sqlite3_extended_result_codes(handle, 1)
        askForCancellation(every: 1000)
        if trust == .none { try judge() }
        try execute(statements)
    }

    deinit { close() }

    /// Makes SQLite ask after every `count` instructions whether to stop.
    private func askForCancellation(every count: CInt) {
        let context = unsafe Unmanaged.passUnretained(self).toOpaque()
        unsafe sqlite3_progress_handler(
            handle,
            count,
            { context in
                guard let context = unsafe context else { return 0 }
                let connection = unsafe Unmanaged<SQLiteConnection>.fromOpaque(context)
                return unsafe connection.takeUnretainedValue().isCancelled() ? 1 : 0
            },
            context
        )
    }

    /// Closes the database, which releases its locks.
    func close() {
        if isClosed { return }
        isClosed = true
        unsafe sqlite3_close_v2(handle)
    }

    /// From now on, refuses what a hostile schema could do while the store is checked.
    ///
    /// A computed value may be larger than the stored ones, but not without limit.
    func judge() throws(StoreMigrationError) {
        try check(unsafe migration_sqlite_distrust(handle))
        // One of SQLite's instructions may compute a large value.
        askForCancellation(every: 100)
        let size = ["", "-wal"].reduce(0) {
            $0 + min(Self.size(of: file, suffix: $1), 1_000_000_000)
        }
        let length = min(max(4 * size, 16 << 20), 1_000_000_000)
        unsafe sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, CInt(length))
        unsafe sqlite3_limit(handle, SQLITE_LIMIT_COLUMN, 2000)
        unsafe sqlite3_limit(handle, SQLITE_LIMIT_EXPR_DEPTH, 1000)
        unsafe sqlite3_limit(handle, SQLITE_LIMIT_ATTACHED, 0)
    }

    /// Refuses a path that is too long for SQLite, and files beside it that could do harm.
    private static func check(_ path: BytePath) throws(StoreMigrationError) {
        // The longest name is that of the journal (pager.c, sqlite3PagerOpen).
        let limit = unsafe Int(sqlite3_vfs_find(nil)?.pointee.mxPathname ?? 512) - "-journal".count
        guard path.bytes.count <= limit else {
            let message =
                "its path has \(path.bytes.count) bytes, and SQLite takes at most \(limit)"
            let name = String(decoding: path.bytes, as: UTF8.self)
            throw StoreMigrationError(.failed, message, at: name)
        }
        try SQLiteCompanions.check(of: path)
    }

    private static func size(of path: BytePath, suffix: String) -> UInt64 {
        let file = BytePath(path.bytes + Array(suffix.utf8))
        // If unsure, let SQLite decide.
        return ((try? FileDescriptor.statusIfPresent(atPath: file))?.size ?? 0)
    }

    /// The path as a URI, in which any byte can be encoded.
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

// MARK: - Opening

extension SQLiteConnection {
    static let taskIsCancelled: Cancellation = { Task.isCancelled }

    /// The name of a database that is in no file.
    private static let memory: BytePath = ":memory:"

    /// Makes a database to copy another one into; the caller synchronizes it when it is complete.
    static func create(
        at path: BytePath,
        isCancelled: @escaping Cancellation
    ) throws(StoreMigrationError) -> SQLiteConnection {
        try SQLiteConnection(
            at: path,
            flags: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE,
            isCancelled: isCancelled,
            first: "PRAGMA synchronous = OFF"
        )
    }

    /// Opens or makes a copy to change it.
    static func open(
        at path: BytePath,
        isCancelled: @escaping Cancellation,
        creating: Bool = false
    ) throws(StoreMigrationError) -> SQLiteConnection {
        try SQLiteConnection(
            at: path,
            flags: SQLITE_OPEN_READWRITE | (creating ? SQLITE_OPEN_CREATE : 0),
            isCancelled: isCancelled,
            first: "PRAGMA busy_timeout = 2000"
        )
    }

    /// Opens a database exclusively, until it is closed.
    ///
    /// A log beside it stays as it is until ``settleLog()``.
    static func openAlone(
        at path: BytePath,
        isCancelled: @escaping Cancellation
    ) throws(StoreMigrationError) -> SQLiteConnection {
        let hasLog = size(of: path, suffix: "-wal") > 0
        let connection = try SQLiteConnection(
            at: path,
            isCancelled: isCancelled,
            first: "PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; COMMIT"
        )
        try connection.keepLogOnClose(hasLog)
        return connection
    }

    /// Opens a database to read its version.
    ///
    /// No file is made or changed, unless SQLite first has to undo an interrupted transaction.
    static func openForReading(at path: BytePath) throws(StoreMigrationError) -> SQLiteConnection {
        if ["-wal", "-journal"].allSatisfy({ size(of: path, suffix: $0) == 0 }) {
            return try SQLiteConnection(
                at: path,
                query: "?immutable=1",
                trust: .none,
                isCancelled: taskIsCancelled,
                first: ""
            )
        }
        return try openForChecking(at: path).connection
    }

    /// Opens a database to check it completely.
    ///
    /// - Returns: Also whether SQLite enforces the CHECK constraints, which it ignores if it can't
    ///   write.
    static func openForChecking(
        at path: BytePath
    ) throws(StoreMigrationError) -> (connection: SQLiteConnection, knowsConstraints: Bool) {
        do throws(StoreMigrationError) {
            let hasLog = size(of: path, suffix: "-wal") > 0
            // An exclusive connection keeps the index of the log in memory.
            let connection = try SQLiteConnection(
                at: path,
                trust: .none,
                isCancelled: taskIsCancelled,
                first: "PRAGMA locking_mode = EXCLUSIVE"
            )
            try connection.keepLogOnClose(hasLog)
            _ = try connection.values("PRAGMA user_version")
            return (connection, unsafe sqlite3_db_readonly(connection.handle, "main") == 0)
        } catch  where error.code != .damaged && error.code != .cancelled {
            // Another process uses it, or it can't be written.
            let connection = try SQLiteConnection(
                at: path,
                flags: SQLITE_OPEN_READONLY,
                trust: .none,
                isCancelled: taskIsCancelled,
                first: "PRAGMA busy_timeout = 2000"
            )
            return (connection, false)
        }
    }

    /// Opens an empty database in memory.
    static func openInMemory() throws(StoreMigrationError) -> SQLiteConnection {
        try SQLiteConnection(
            at: memory,
            flags: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE,
            trust: .none,
            isCancelled: taskIsCancelled,
            first: ""
        )
    }

    private func keepLogOnClose(_ keep: Bool) throws(StoreMigrationError) {
        try check(unsafe migration_sqlite_keep_log(handle, keep ? 1 : 0))
    }
}

// MARK: - Statements

/// A value as SQLite stores it.
enum SQLiteValue: Hashable, Sendable {
    case null
    case integer(Int64)
    case real(Double)
    case text(String)
    case blob([UInt8])

    /// The value cast to TEXT; `nil` for NULL.
    var text: String? {
        switch self {
        case .null: nil
        case .integer(let number): "\(number)"
        case .real(let number): "\(number)"
        case .text(let text): text
        case .blob(let bytes): String(decoding: bytes, as: UTF8.self)
        }
    }

    var integer: Int64? {
        if case .integer(let number) = self { number } else { nil }
    }

    /// Whether the other value has the same storage class.
    func isAlike(_ other: SQLiteValue) -> Bool {
        switch (self, other) {
        case (.null, .null), (.integer, .integer), (.real, .real), (.text, .text), (.blob, .blob):
            true
        default: false
        }
    }
}

extension SQLiteConnection {
    /// Runs statements one after another and drops their rows.
    func execute(_ statements: String) throws(StoreMigrationError) {
        try unsafe forEachStatement(in: statements) { statement throws(StoreMigrationError) in
            try unsafe run(statement)
        }
    }

    /// Runs the statements of a step, which must not end the open transaction.
    func execute(_ statements: String, by guardian: StatementGuard) throws(StoreMigrationError) {
        self.guardian = guardian
        let context = unsafe Unmanaged.passUnretained(guardian).toOpaque()
        _ = unsafe sqlite3_set_authorizer(handle, StatementGuard.authorize, context)
        defer {
            _ = unsafe sqlite3_set_authorizer(handle, nil, nil)
            self.guardian = nil
        }
        try unsafe forEachStatement(in: statements) { statement throws(StoreMigrationError) in
            _ = unsafe sqlite3_set_authorizer(handle, nil, nil)
            try guardian.tellChanges()
            _ = unsafe sqlite3_set_authorizer(handle, StatementGuard.authorize, context)
            try unsafe run(statement)
            guard isInTransaction else {
                throw StoreMigrationError(.stepFailed, "the step ended its transaction", at: path)
            }
        }
    }

    /// Runs `body` in a transaction that is undone if it throws.
    func transaction(_ body: () throws -> Void) throws {
        try execute("BEGIN IMMEDIATE")
        do {
            try body()
            try execute("COMMIT")
        } catch {
            // If this fails, SQLite has already undone the transaction.
            if isInTransaction { try? execute("ROLLBACK") }
            throw error
        }
    }

    private var isInTransaction: Bool { unsafe sqlite3_get_autocommit(handle) == 0 }

    /// Runs one statement with values for its parameters, and returns how many rows it changed.
    func change(
        _ statement: String,
        to values: SQLiteValue...
    ) throws(StoreMigrationError) -> Int {
        try forEachRow(of: statement, values) { _ in true }
        return Int(unsafe sqlite3_changes(handle))
    }

    /// The first column of the rows of a query, at most `limit` rows.
    func values(
        _ query: String,
        _ parameters: SQLiteValue...,
        limit: Int = .max
    ) throws(StoreMigrationError) -> [SQLiteValue] {
        var values: [SQLiteValue] = []
        try forEachRow(of: query, parameters) { row in
            values.append(row[0])
            return values.count < limit
        }
        return values
    }

    /// All rows of a query.
    func rows(
        of query: String,
        _ parameters: SQLiteValue...
    ) throws(StoreMigrationError) -> [[SQLiteValue]] {
        var rows: [[SQLiteValue]] = []
        try forEachRow(of: query, parameters) { row in
            rows.append(row)
            return true
        }
        return rows
    }

    /// Calls `body` with the columns of each row of a query, until it returns `false`.
    func forEachRow(
        of query: String,
        _ parameters: [SQLiteValue] = [],
        _ body: ([SQLiteValue]) throws(StoreMigrationError) -> Bool
    ) throws(StoreMigrationError) {
        var count = 0
        try unsafe forEachStatement(in: query) { statement throws(StoreMigrationError) in
            count += 1
            guard count == 1 else {
                throw StoreMigrationError(.failed, "there is more than one SQL statement", at: path)
            }
            for (index, value) in parameters.enumerated() {
                try unsafe bind(value, at: CInt(index + 1), of: statement)
            }
            while true {
                let code = unsafe sqlite3_step(statement)
                if code == SQLITE_DONE { return }
                guard code == SQLITE_ROW else { throw error(code) }
                let columns = unsafe sqlite3_column_count(statement)
                guard try body((0..<columns).map { unsafe value(at: $0, of: statement) }) else {
                    return
                }
            }
        }
        guard count == 1 else {
            throw StoreMigrationError(.failed, "an SQL statement is empty", at: path)
        }
    }

    func hasTable(_ name: String) throws(StoreMigrationError) -> Bool {
        let query = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?1"
        return try !values(query, .text(name)).isEmpty
    }

    /// Prepares the statements one after another, each after the earlier ones have run.
    private func forEachStatement(
        in text: String,
        _ body: (OpaquePointer) throws(StoreMigrationError) -> Void
    ) throws(StoreMigrationError) {
        let bytes = text.utf8.map { CChar(bitPattern: $0) } + [0]
        guard bytes.firstIndex(of: 0) == bytes.count - 1 else {
            throw StoreMigrationError(.stepFailed, "there is a zero byte in the SQL", at: path)
        }
        var offset = 0
        while offset < bytes.count - 1 {
            let (prepared, end) = try unsafe prepare(bytes, from: offset)
            offset = end
            // Space and comments aren't statements.
            guard let prepared = unsafe prepared else { continue }
            defer { unsafe sqlite3_finalize(prepared) }
            try unsafe body(prepared)
        }
    }

    /// Prepares the statement at `offset`, and returns where it ends.
    private func prepare(
        _ text: [CChar],
        from offset: Int
    ) throws(StoreMigrationError) -> (statement: OpaquePointer?, end: Int) {
        var prepared: OpaquePointer?
        var code = SQLITE_OK
        let end = unsafe text.withUnsafeBufferPointer { text in
            let start = unsafe text.baseAddress.unsafelyUnwrapped
            var tail: UnsafePointer<CChar>?
            code = unsafe sqlite3_prepare_v2(handle, start + offset, -1, &prepared, &tail)
            return unsafe tail.map { unsafe $0 - start } ?? text.count
        }
        guard code == SQLITE_OK else { throw guardian?.refusal(at: path) ?? error(code) }
        return unsafe (prepared, end)
    }

    private func run(_ statement: OpaquePointer) throws(StoreMigrationError) {
        var code = SQLITE_ROW
        while code == SQLITE_ROW { code = unsafe sqlite3_step(statement) }
        guard code == SQLITE_DONE else { throw error(code) }
    }

    private func bind(
        _ value: SQLiteValue,
        at index: CInt,
        of statement: OpaquePointer
    ) throws(StoreMigrationError) {
        let code: CInt
        switch value {
        case .null: code = unsafe sqlite3_bind_null(statement, index)
        case .integer(let number): code = unsafe sqlite3_bind_int64(statement, index, number)
        case .real(let number): code = unsafe sqlite3_bind_double(statement, index, number)
        case .text(let text):
            let count = CInt(clamping: text.utf8.count)
            code = unsafe migration_sqlite_bind_text(statement, index, text, count)
        case .blob(let bytes):
            let count = CInt(clamping: bytes.count)
            code = unsafe bytes.withUnsafeBytes {
                unsafe migration_sqlite_bind_blob(statement, index, $0.baseAddress, count)
            }
        }
        try check(code)
    }

    private func value(at index: CInt, of statement: OpaquePointer) -> SQLiteValue {
        switch unsafe sqlite3_column_type(statement, index) {
        case SQLITE_INTEGER: return .integer(unsafe sqlite3_column_int64(statement, index))
        case SQLITE_FLOAT: return .real(unsafe sqlite3_column_double(statement, index))
        case SQLITE_TEXT:
            // SQLite converts from UTF-16 here; the length is the result's.
            let text = unsafe sqlite3_column_text(statement, index)
            let count = Int(unsafe sqlite3_column_bytes(statement, index))
            let bytes = unsafe UnsafeBufferPointer(start: text, count: text == nil ? 0 : count)
            return .text(unsafe String(decoding: bytes, as: UTF8.self))
        case SQLITE_BLOB:
            let bytes = unsafe sqlite3_column_blob(statement, index)
            let count = Int(unsafe sqlite3_column_bytes(statement, index))
            return .blob(unsafe [UInt8](UnsafeRawBufferPointer(start: bytes, count: count)))
        default: return .null
        }
    }
}

// MARK: - Functions

extension SQLiteConnection {
    /// Adds `migration_digest(…)`: a number over the values of all rows, in any order.
    func addDigest() throws(StoreMigrationError) {
        try check(unsafe migration_sqlite_add_digest(handle))
    }

    /// Lets SQL name a function that only the app has; a call of it fails.
    func addStandIn(forFunction name: String) throws(StoreMigrationError) {
        try check(unsafe migration_sqlite_add_stand_in(handle, name))
    }

    /// Undoes ``addStandIn(forFunction:)``.
    func removeStandIn(forFunction name: String) throws(StoreMigrationError) {
        try check(unsafe migration_sqlite_remove_stand_in(handle, name))
    }

    /// Lets SQL name collations that only the app has.
    func addStandIns(forCollations names: some Sequence<String>) throws(StoreMigrationError) {
        for name in names {
            try check(unsafe migration_sqlite_add_collation_stand_in(handle, name))
        }
    }
}

// MARK: - Whole databases

extension SQLiteConnection {
    /// The bytes of a page.
    var pageSize: Int64 {
        get throws(StoreMigrationError) { try values("PRAGMA page_size").first?.integer ?? 4096 }
    }

    /// SQLite's journal mode, such as `wal` or `delete`.
    var journalMode: String {
        get throws(StoreMigrationError) {
            try valuesWhateverTheSchema("PRAGMA journal_mode").first?.text ?? "delete"
        }
    }

    /// Changes ``journalMode`` to `delete` or `wal`.
    func setJournalMode(_ mode: String) throws(StoreMigrationError) {
        let reached = try valuesWhateverTheSchema("PRAGMA journal_mode = \(mode)").first?.text
        guard reached == mode else {
            let message = "SQLite does not change the journal mode to '\(mode)'"
            throw StoreMigrationError(.failed, message, at: path)
        }
    }

    /// The result of a query that does not need the schema, although SQLite reads it.
    private func valuesWhateverTheSchema(
        _ query: String
    ) throws(StoreMigrationError) -> [SQLiteValue] {
        do {
            return try values(query)
        } catch {
            guard error.isAboutUnknownSchema else { throw error }
            // Makes SQLite skip what it can't read in the schema, from now on.
            try check(unsafe migration_sqlite_ignore_schema_errors(handle))
            try execute("PRAGMA writable_schema = ON")
            return try values(query)
        }
    }

    /// Writes the whole log into the database.
    ///
    /// From now on, closing the database leaves no log.
    func settleLog() throws(StoreMigrationError) {
        let mode = SQLITE_CHECKPOINT_TRUNCATE
        try check(unsafe sqlite3_wal_checkpoint_v2(handle, "main", mode, nil, nil))
        try keepLogOnClose(false)
    }

    /// Whether the name belongs to another file than the opened one.
    var hasMoved: Bool {
        var moved: CInt = 0
        let request = SQLITE_FCNTL_HAS_MOVED
        let code = unsafe sqlite3_file_control(handle, "main", request, &moved)
        return code == SQLITE_OK && moved != 0
    }

    /// Copies every page into `destination` in one transaction and in bounded memory.
    ///
    /// - Parameters:
    ///   - destination: A database that no other connection uses.
    ///   - report: Gets the number of copied bytes; stops the copy by throwing.
    /// - Throws: ``StoreMigrationError``; the errors of `report`.
    func copy(to destination: SQLiteConnection, report: (_ copied: Int64) throws -> Void) throws {
        let size = try pageSize
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
                try report((total - rest) * size)
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
            // A file at its size limit, which `ulimit -f` sets.
            case SQLITE_IOERR where isOutOfSpace: .outOfSpace
            case SQLITE_INTERRUPT: .cancelled
            default: .failed
            }
        if code & 0xFF == SQLITE_NOTADB {
            return StoreMigrationError(.damaged, Self.notDatabase, at: path)
        }
        // The copy of a database has the error of either connection.
        let own = unsafe sqlite3_errcode(handle) & 0xFF == code & 0xFF
        let message = unsafe String(cString: own ? sqlite3_errmsg(handle) : sqlite3_errstr(code))
        return StoreMigrationError(kind, "SQLite says: \(message)", at: path)
    }

    /// Whether the last system call failed for lack of space.
    private var isOutOfSpace: Bool {
        SystemError("write", code: unsafe sqlite3_system_errno(handle)).isOutOfSpace
    }

    static let notDatabase = "it is not a SQLite file; perhaps it is encrypted"
}
