internal import MigrationArchive
internal import MigrationSystem

/// The manifest of a backup, in either form.
enum Manifest {
    case database(ManifestDatabase)
    case list(ManifestList)

    /// A row; its parts are read on request.
    enum Row {
        case database(ManifestDatabase.Row)
        case list(ManifestList.Row)

        /// The number for finding the row again.
        var number: Int64 {
            switch self {
            case .database(let row): row.number
            case .list(let row): Int64(row.offset)
            }
        }

        var domain: [UInt8] {
            switch self {
            case .database(let row): row.domain
            case .list(let row): row.domain
            }
        }

        var path: [UInt8] {
            switch self {
            case .database(let row): row.path
            case .list(let row): row.path
            }
        }

        /// The kind in the row itself: 1 for a file, 2 for a directory, 4 for a link.
        var flags: Int64 {
            switch self {
            case .database(let row): row.flags
            case .list(let row): row.flags
            }
        }

        /// Whether the row is in that domain.
        func isOf(_ domain: [UInt8]) -> Bool {
            switch self {
            case .database(let row): row.isOf(domain)
            case .list(let row): row.domain == domain
            }
        }

        /// Reads only the size of a file, which may be older than its content.
        func size() throws(FlawedRecord) -> Int64 {
            switch self {
            case .database(let row): try row.size()
            case .list(let row): row.size
            }
        }

        /// Reads the whole row.
        func record() throws(FlawedRecord) -> FileRecord {
            switch self {
            case .database(let row): try row.record()
            case .list(let row): try row.record()
            }
        }
    }

    /// Reads every row, in the manifest's order.
    func forEachRow(_ body: (Row) throws -> Void) throws {
        switch self {
        case .database(let database): try database.forEachRow { try body(.database($0)) }
        case .list(let list): try list.forEachRow { try body(.list($0)) }
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
