internal import MigrationSystem

/// The space that a migration by copy needs on the store's file system.
struct MigrationRoom {
    /// The bytes of the store including its log.
    private let size: Int64
    /// The bytes that the steps are known to add.
    var growth: Int64
    private let hasLog: Bool

    init(of database: SQLiteConnection, growth: Int64) throws(StoreMigrationError) {
        let pages = try database.values("PRAGMA main.page_count").first?.integer ?? 0
        size = pages * (try database.pageSize)
        self.growth = growth
        hasLog = try database.journalMode == "wal"
    }

    /// The bytes that must be free to make `copies` copies: for the copies, the growth of the last
    /// one and of the store, and SQLite's journal of the old pages or log of the new ones.
    func bytes(copies: Int64) -> Int64 {
        copies * size + growth + growth + size + (hasLog ? growth : 0)
    }

    /// The bytes of a table and its indexes, or of the whole store if SQLite doesn't know.
    static func bytes(
        ofTable table: String,
        in database: SQLiteConnection
    ) throws(StoreMigrationError) -> Int64 {
        let query = """
            SELECT sum(pgsize) FROM dbstat('main', 1) WHERE name IN
            (SELECT name FROM main.sqlite_schema WHERE lower(tbl_name) = ?1)
            """
        do throws(StoreMigrationError) {
            return try database.values(query, .text(table)).first?.integer ?? 0
        } catch  where error.mayBeLeftUnchecked {
            let pages = try database.values("PRAGMA main.page_count").first?.integer ?? 0
            return pages * (try database.pageSize)
        }
    }
}
