internal import MigrationSystem

/// The files beside a database that SQLite opens with it, which may be as hostile as the database itself.
enum SQLiteCompanions {
    /// The mark at the end of a journal that names another file (pager.c, readSuperJournal).
    private static let mark: [UInt8] = [0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7]
    /// The bytes of the name's length, its checksum and the mark.
    private static let tailSize = 16
    /// The longest path that SQLite takes (os_unix.c).
    private static let nameLimit = 512

    /// Refuses a file that isn't a plain one, and a journal with which SQLite would delete any file.
    ///
    /// SQLite waits for the other end of a FIFO, and no cancellation ends that.
    static func check(of database: BytePath) throws(StoreMigrationError) {
        let place = String(decoding: database.bytes, as: UTF8.self)
        for suffix in ["-wal", "-journal"] {
            let file = BytePath(database.bytes + [UInt8](utf8: suffix))
            // SQLite can't use a file that can't be looked at either.
            guard let status = try? FileDescriptor.statusIfPresent(atPath: file) else { continue }
            guard status.kind == .regular else {
                let message = "'\(suffix)' beside the store is \(status.kind.name), not a file"
                throw StoreMigrationError(.damaged, message, at: place)
            }
            guard suffix == "-journal", let name = try? named(in: file, size: status.size),
                !isSuperJournal(name)
            else { continue }
            let message =
                "'-journal' beside the store would make SQLite delete another file: "
                + PrintableText.escaping(name)
            throw StoreMigrationError(.damaged, message, at: place)
        }
    }

    /// The file that SQLite deletes once it has undone the transaction in a journal; `nil` if there is none.
    private static func named(in journal: BytePath, size: UInt64) throws(SystemError) -> [UInt8]? {
        let count = min(size, UInt64(nameLimit + tailSize))
        var end = [UInt8](repeating: 0, count: Int(count))
        let file = try FileDescriptor.open(journal, .reading)
        guard try file.fill(&end, count: end.count, at: size - count) == end.count,
            end.count > tailSize, end.suffix(mark.count) == mark[...]
        else { return nil }
        let tail = end.suffix(tailSize)
        let length = tail.prefix(4).reduce(0) { $0 << 8 | Int($1) }
        guard length > 0, length <= end.count - tailSize else { return nil }
        return [UInt8](end.dropLast(tailSize).suffix(length))
    }

    /// Whether a file has the name that SQLite gives the journal of several databases, which is its own to delete.
    private static func isSuperJournal(_ name: [UInt8]) -> Bool {
        let digits = name.suffix(9)
        return name.dropLast(digits.count).suffix(3).elementsEqual("-mj".utf8)
            && digits.allSatisfy { Character(UnicodeScalar($0)).isHexDigit }
    }
}
