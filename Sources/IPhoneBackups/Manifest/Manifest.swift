internal import MigrationArchive
internal import MigrationSystem

/// The manifest of a backup, in either form.
enum Manifest {
    case database(ManifestDatabase)
    case list(ManifestList)

    /// A row, and the number by which it is found again.
    struct Row {
        let number: Int64
        let domain: [UInt8]
        let path: [UInt8]
        /// Reads the rest of the row.
        let record: () throws(FlawedRecord) -> FileRecord
    }

    /// Reads every row, in the order in which they lie.
    func forEachRow(_ body: (Row) throws -> Void) throws {
        switch self {
        case .database(let database):
            try database.forEachRow { row in
                let whole = Row(
                    number: row.number,
                    domain: row.domain,
                    path: row.path,
                    record: row.record
                )
                try body(whole)
            }
        case .list(let list):
            try list.forEachRow { row in
                let whole = Row(
                    number: Int64(row.offset),
                    domain: row.domain,
                    path: row.path,
                    record: row.record
                )
                try body(whole)
            }
        }
    }

    /// Makes a function that reads the object of a row by the row's number.
    func makeFinder() throws -> (Int64) throws -> FileRecord {
        switch self {
        case .database(let database):
            let finder = try database.makeFinder()
            return { number in try finder.record(number) }
        case .list(let list):
            return { number in try list.row(at: UInt64(number)).record() }
        }
    }
}
