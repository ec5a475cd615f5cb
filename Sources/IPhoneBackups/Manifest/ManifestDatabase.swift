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
    private let cancellation: CancellationFlag

    /// The columns that a backup's table has, in the order in which they are asked for.
    private static let columns = ["domain", "fileID", "relativePath", "flags", "file"]
    private static let lengthLimit: CInt = 2 << 20

    /// Opens the manifest.
    ///
    /// - Throws: ``ArchiveError`` of codes `damaged` and `sourceUnreadable`; `CancellationError`.
    init(_ file: ManifestFile, cancellation: CancellationFlag) throws {
        self.file = file
        self.cancellation = cancellation
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
        unsafe sqlite3_limit(database, SQLITE_LIMIT_SQL_LENGTH, 64 << 10)
        unsafe sqlite3_limit(database, SQLITE_LIMIT_ATTACHED, 0)
        for pragma in ["temp_store=MEMORY", "cell_size_check=ON", "mmap_size=0"] {
            try Statement("PRAGMA \(pragma)", self).forEachRow { _ in }
        }
        watchForCancellation()
        try checkTable()
        allowReadingAlone()
    }

    deinit {
        unsafe sqlite3_close_v2(database)
    }

    private func watchForCancellation() {
        let flag = unsafe Unmanaged.passUnretained(cancellation).toOpaque()
        unsafe sqlite3_progress_handler(
            database,
            10_000,
            { flag in
                guard let flag = unsafe flag else { return 0 }
                let cancellation = unsafe Unmanaged<CancellationFlag>.fromOpaque(flag)
                return unsafe cancellation.takeUnretainedValue().isCancelled ? 1 : 0
            },
            flag
        )
    }

    /// Checks that `Files` is a plain table, so that reading it runs nothing that the file brings along.
    private func checkTable() throws {
        var found: [(type: String, sql: String)] = []
        let query = "SELECT type, sql FROM sqlite_schema WHERE name = 'Files' COLLATE NOCASE"
        try Statement(query, self).forEachRow { row in
            found.append((row.text(0), row.text(1)))
        }
        guard found.count == 1, found[0].type == "table",
            found[0].sql.uppercased().hasPrefix("CREATE TABLE")
        else { throw Self.foreign }
        var columns: Set<String> = []
        try Statement("PRAGMA table_xinfo('Files')", self).forEachRow { row in
            if row.integer(6) == 0 { columns.insert(row.text(1)) }
        }
        guard columns.isSuperset(of: Self.columns), !columns.contains("_rowid_") else {
            throw Self.foreign
        }
    }

    private static let foreign = ArchiveError(
        .damaged,
        "the backup's Manifest.db has no table of files as a backup has it"
    )

    private func allowReadingAlone() {
        unsafe sqlite3_set_authorizer(
            database,
            { _, action, table, _, _, _ in
                switch action {
                case SQLITE_SELECT: return SQLITE_OK
                case SQLITE_READ:
                    guard let table = unsafe table else { return SQLITE_DENY }
                    let isFiles = unsafe String(cString: table) == "Files"
                    return isFiles ? SQLITE_OK : SQLITE_DENY
                default: return SQLITE_DENY
                }
            },
            nil
        )
    }

    fileprivate func failure() -> any Error {
        if cancellation.isCancelled { return CancellationError() }
        let reason = unsafe String(cString: sqlite3_errmsg(database))
        return ArchiveError(.damaged, "the backup's Manifest.db can't be read: \(reason)")
    }
}

// MARK: - Rows

extension ManifestDatabase {
    /// A row of the table, whose object is read only if it is asked for.
    struct Row {
        fileprivate let statement: Statement

        /// The number by which ``ManifestDatabase/row(_:_:)`` finds the row again.
        var number: Int64 { statement.integer(0) }
        var domain: [UInt8] { statement.bytes(1) }
        var identifier: [UInt8] { statement.bytes(2) }
        var path: [UInt8] { statement.bytes(3) }
        var flags: Int64 { statement.integer(4) }

        /// Reads the object.
        func record() throws(FlawedRecord) -> FileRecord {
            guard statement.isText(1), statement.isText(2), statement.isText(3) else {
                throw FlawedRecord("its row has columns of another type")
            }
            // The device names a stored file after its domain and path; no other may be opened.
            guard FileRecord.identifier(of: path, in: domain) == identifier else {
                throw FlawedRecord("its row names another stored file")
            }
            guard statement.size(5) <= FileRecord.archiveLimit else {
                throw FlawedRecord("its row holds over 1 MiB")
            }
            return try FileRecord(archive: statement.bytes(5), path: path, flags: flags)
        }
    }

    private static let selection =
        "SELECT _rowid_, domain, fileID, relativePath, flags, file FROM Files NOT INDEXED"

    /// Reads every row, in the order in which they lie.
    func forEachRow(_ body: (Row) throws -> Void) throws {
        let statement = try Statement(Self.selection, self)
        try statement.forEachRow { try body(Row(statement: $0)) }
        try file.checkUnchanged()
    }

    /// Reads rows by their numbers, in any order.
    func makeFinder() throws -> Finder {
        Finder(try Statement(Self.selection + " WHERE _rowid_ = ?1", self))
    }

    /// Finds rows by their numbers.
    struct Finder {
        private let statement: Statement

        fileprivate init(_ statement: Statement) {
            self.statement = statement
        }

        /// Reads the row; throws if it is gone.
        func record(_ number: Int64) throws -> FileRecord {
            var record: FileRecord?
            try statement.forEachRow(with: number) { record = try Row(statement: $0).record() }
            guard let record else {
                throw ArchiveError(.sourceChanged, "a row of the backup's Manifest.db is gone")
            }
            return record
        }
    }
}

/// A query that was compiled.
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

    /// Runs the query, with a number in the place of its parameter.
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
        // SQLite may convert the text, so its bytes are asked for before their number.
        guard let start = unsafe sqlite3_column_blob(statement, column) else { return [] }
        return unsafe [UInt8](UnsafeRawBufferPointer(start: start, count: size(column)))
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
