internal import CSQLite
internal import MigrationArchive
internal import MigrationSystem

/// The rows of `Manifest.db`, since iOS 10.
///
/// The database may be hostile. Only the plain table `Files` is read, by scans in the order of its rows:
/// an index can hide rows. See SQLite's "Defense Against The Dark Arts".
@safe
final class ManifestDatabase {
    private let system: ManifestFileSystem
    private let file: ManifestFile
    private let database: OpaquePointer
    private let watch: Watch
    private var hasProperties = false
    /// Decrypts the objects of the rows, if they are encrypted one by one.
    private var cipher: ObjectCipher?

    /// The columns that a backup's tables have.
    private static let fileColumns: Set = ["domain", "fileID", "relativePath", "flags", "file"]
    private static let propertyColumns: Set = ["key", "value"]
    private static let lengthLimit: CInt = 2 << 20
    /// More bytes than any statement of a backup's schema has.
    private static let statementLimit: CInt = 4 << 10

    /// Opens the manifest.
    ///
    /// - Throws: ``ArchiveError`` of codes `damaged` and `sourceUnreadable`; `CancellationError`.
    init(_ file: ManifestFile, on operation: MigrationOperation) throws {
        self.file = file
        watch = Watch(operation)
        system = ManifestFileSystem(holding: file)
        var handle: OpaquePointer?
        let flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX
        let code = unsafe sqlite3_open_v2("manifest", &handle, flags, system.name)
        guard let handle = unsafe handle else {
            throw ArchiveError(.damaged, "the backup's Manifest.db can't be opened: no memory")
        }
        unsafe database = handle
        guard code == SQLITE_OK else { throw failure() }
        unsafe migration_sqlite_defend(database)
        unsafe sqlite3_limit(database, SQLITE_LIMIT_LENGTH, Self.lengthLimit)
        unsafe sqlite3_limit(database, SQLITE_LIMIT_SQL_LENGTH, Self.statementLimit)
        unsafe sqlite3_limit(database, SQLITE_LIMIT_COLUMN, 100)
        unsafe sqlite3_limit(database, SQLITE_LIMIT_ATTACHED, 0)
        startWatch()
        for pragma in ["temp_store=MEMORY", "cell_size_check=ON", "mmap_size=0", "cache_size=-512"]
        {
            try Statement("PRAGMA \(pragma)", self).forEachRow { _ in }
        }
        guard let files = try columns(of: "Files"), files.isSuperset(of: Self.fileColumns),
            !files.contains("_rowid_")
        else {
            throw ArchiveError(
                .damaged,
                "the backup's Manifest.db has no table of files as a backup has it"
            )
        }
        hasProperties = try columns(of: "Properties")?.isSuperset(of: Self.propertyColumns) ?? false
        watch.endOpening()
        allowReadingAlone()
    }

    deinit {
        unsafe sqlite3_close_v2(database)
    }

    /// Stops a query that takes too long or was cancelled.
    private final class Watch {
        /// The instructions of SQLite's virtual machine between two checks.
        static let period: CInt = 1_000
        /// An object of the schema takes some ten instructions, and a backup's has seven of them.
        private static let openingPeriods = 8

        let operation: MigrationOperation
        private var left = openingPeriods
        private var isOpening = true

        init(_ operation: MigrationOperation) {
            self.operation = operation
        }

        var isExhausted: Bool { isOpening && left < 0 }

        func endOpening() { isOpening = false }

        /// Whether SQLite must stop.
        func look() -> Bool {
            left -= isOpening ? 1 : 0
            return isExhausted || operation.isCancelled
        }
    }

    private func startWatch() {
        let context = unsafe Unmanaged.passUnretained(watch).toOpaque()
        unsafe sqlite3_progress_handler(
            database,
            Watch.period,
            { context in
                guard let context = unsafe context else { return 0 }
                let watch = unsafe Unmanaged<Watch>.fromOpaque(context).takeUnretainedValue()
                return watch.look() ? 1 : 0
            },
            context
        )
    }

    /// The columns of a plain table; `nil` if it is missing, or if reading it would run code of the file.
    private func columns(of table: String) throws -> Set<String>? {
        var found: [(type: String, sql: String)] = []
        let query = "SELECT type, sql FROM sqlite_schema WHERE name = '\(table)' COLLATE NOCASE"
        try Statement(query, self).forEachRow { row in
            found.append((row.text(0), row.text(1)))
        }
        guard found.count == 1, found[0].type == "table",
            found[0].sql.uppercased().hasPrefix("CREATE TABLE")
        else { return nil }
        var columns: Set<String> = []
        try Statement("PRAGMA table_xinfo('\(table)')", self).forEachRow { row in
            if row.integer(6) == 0 { columns.insert(row.text(1)) }
        }
        return columns
    }

    private func allowReadingAlone() {
        unsafe sqlite3_set_authorizer(
            database,
            { _, action, table, _, _, _ in
                switch action {
                case SQLITE_SELECT: return SQLITE_OK
                case SQLITE_READ:
                    guard let table = unsafe table else { return SQLITE_DENY }
                    let isKnown = unsafe ["Files", "Properties"].contains(String(cString: table))
                    return isKnown ? SQLITE_OK : SQLITE_DENY
                default: return SQLITE_DENY
                }
            },
            nil
        )
    }

    fileprivate func failure() -> any Error {
        if watch.operation.isCancelled { return CancellationError() }
        if let problem = file.problem { return problem }
        if watch.isExhausted { return damaged("it describes more tables than any backup has") }
        let reason = unsafe String(cString: sqlite3_errmsg(database))
        return damaged(reason)
    }

    private func damaged(_ reason: String) -> ArchiveError {
        ArchiveError(.damaged, "the backup's Manifest.db can't be read: \(reason)")
    }
}

// MARK: - Objects that are encrypted one by one

extension ManifestDatabase {
    /// The salt with which iOS 10.0 encrypts the objects of the rows; `nil` if they aren't encrypted.
    func salt() throws -> [UInt8]? { try property("salt") }

    /// Prepares to decrypt objects that are encrypted with the password.
    ///
    /// - Throws: ``ArchiveError`` of code `damaged` if the manifest was made with another password.
    func open(with password: Secret, salt: [UInt8]) throws {
        let passwordHash = try property("passwordHash")
        cipher = try ObjectCipher(password: password, salt: salt, passwordHash: passwordHash)
    }

    private func property(_ key: String) throws -> [UInt8]? {
        guard hasProperties else { return nil }
        var found: [UInt8]?
        let query = "SELECT value FROM Properties NOT INDEXED WHERE key = '\(key)' LIMIT 1"
        try Statement(query, self).forEachRow { found = $0.bytes(0) }
        return found
    }

    fileprivate func object(_ stored: [UInt8]) throws(FlawedRecord) -> [UInt8] {
        guard let cipher, !stored.starts(with: [UInt8]("bplist".utf8)) else { return stored }
        guard let object = cipher.decrypt(stored) else {
            throw FlawedRecord("its row doesn't end as the password makes it end")
        }
        return object
    }
}

// MARK: - Rows

extension ManifestDatabase {
    /// A row of the table; its parts are read on request.
    struct Row {
        fileprivate let statement: Statement
        fileprivate let database: ManifestDatabase

        /// The number by which ``ManifestDatabase/makeFinder()`` finds the row again.
        var number: Int64 { statement.integer(0) }
        var domain: [UInt8] { statement.bytes(1) }
        var path: [UInt8] { statement.bytes(3) }
        var flags: Int64 { statement.integer(4) }

        /// Whether the row is in that domain.
        func isOf(_ domain: [UInt8]) -> Bool { statement.holds(domain, at: 1) }

        /// Reads the object.
        func record() throws(FlawedRecord) -> FileRecord {
            guard statement.isText(1), statement.isText(2), statement.isText(3) else {
                throw FlawedRecord("its row has columns of another type")
            }
            // The device names a stored file after its domain and path; no other may be opened.
            let path = path
            guard statement.holds(FileRecord.identifier(of: path, in: domain), at: 2) else {
                throw FlawedRecord("its row names another stored file")
            }
            return try FileRecord(archive: object(), path: path, flags: flags)
        }

        /// Reads only the size of a file.
        func size() throws(FlawedRecord) -> Int64 { try FileRecord.size(inArchive: object()) }

        private func object() throws(FlawedRecord) -> [UInt8] {
            guard statement.size(5) <= FileRecord.archiveLimit else {
                throw FlawedRecord("its row holds over 1 MiB")
            }
            return try database.object(statement.bytes(5))
        }
    }

    private static let selection =
        "SELECT _rowid_, domain, fileID, relativePath, flags, file FROM Files NOT INDEXED"

    /// Reads every row, in the table's order.
    func forEachRow(_ body: (Row) throws -> Void) throws {
        let statement = try Statement(Self.selection, self)
        var (last, bytes) = (Int64?.none, UInt64(0))
        try statement.forEachRow { row in
            // In an intact table the numbers increase and no two rows share a byte. If pages refer
            // to each other in a cycle, the same row occurs repeatedly.
            let number = row.integer(0)
            for column in 1...5 as ClosedRange<CInt> {
                bytes.addSaturating(UInt64(row.size(column)))
            }
            guard last.map({ $0 < number }) ?? true, bytes <= file.size else {
                throw damaged("its rows lie within each other")
            }
            last = number
            try body(Row(statement: row, database: self))
        }
        try file.checkUnchanged()
    }

    /// Reads rows by their numbers, in any order.
    func makeFinder() throws -> Finder {
        Finder(
            statement: try Statement(Self.selection + " WHERE _rowid_ = ?1", self),
            database: self
        )
    }

    /// Finds rows by their numbers.
    struct Finder {
        fileprivate let statement: Statement
        fileprivate let database: ManifestDatabase

        /// Reads the row; throws if it is gone.
        func record(_ number: Int64) throws -> FileRecord {
            var record: FileRecord?
            try statement.forEachRow(with: number) { row in
                record = try Row(statement: row, database: database).record()
            }
            guard let record else {
                throw ArchiveError(.sourceChanged, "a row of the backup's Manifest.db is gone")
            }
            return record
        }
    }
}

/// A compiled query.
@safe
private final class Statement {
    private let database: ManifestDatabase
    private let statement: OpaquePointer

    init(_ text: String, _ database: ManifestDatabase) throws {
        self.database = database
        unsafe statement = try database.compile(text)
    }

    deinit {
        unsafe sqlite3_finalize(statement)
    }

    /// Runs the query with a number as its parameter.
    func forEachRow(with number: Int64? = nil, _ body: (Statement) throws -> Void) throws {
        defer { unsafe sqlite3_reset(statement) }
        if let number { unsafe sqlite3_bind_int64(statement, 1, number) }
        while true {
            switch unsafe sqlite3_step(statement) {
            case SQLITE_ROW: try body(self)
            case SQLITE_DONE: return
            default: throw database.failure()
            }
        }
    }

    func isText(_ column: CInt) -> Bool {
        unsafe sqlite3_column_type(statement, column) == SQLITE_TEXT
    }

    func integer(_ column: CInt) -> Int64 {
        unsafe sqlite3_column_int64(statement, column)
    }

    func size(_ column: CInt) -> Int {
        unsafe Int(sqlite3_column_bytes(statement, column))
    }

    func bytes(_ column: CInt) -> [UInt8] {
        // SQLite may convert the text, so get its bytes before their count.
        guard let start = unsafe sqlite3_column_blob(statement, column) else { return [] }
        return unsafe [UInt8](UnsafeRawBufferPointer(start: start, count: size(column)))
    }

    /// Whether the column has exactly these bytes.
    func holds(_ bytes: [UInt8], at column: CInt) -> Bool {
        guard let start = unsafe sqlite3_column_blob(statement, column) else {
            return bytes.isEmpty
        }
        let found = unsafe UnsafeRawBufferPointer(start: start, count: size(column))
        return unsafe found.count == bytes.count && found.elementsEqual(bytes)
    }

    func text(_ column: CInt) -> String {
        String(decoding: bytes(column), as: UTF8.self)
    }
}

extension ManifestDatabase {
    fileprivate func compile(_ text: String) throws -> OpaquePointer {
        var statement: OpaquePointer?
        let code = unsafe sqlite3_prepare_v2(database, text, -1, &statement, nil)
        guard code == SQLITE_OK, let statement = unsafe statement else { throw failure() }
        return unsafe statement
    }
}
