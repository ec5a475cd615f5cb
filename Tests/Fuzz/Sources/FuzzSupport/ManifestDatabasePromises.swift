internal import CLibcrypto
internal import CSQLite
@testable internal import IPhoneBackups
@testable internal import MigrationArchive
@testable internal import MigrationSystem

/// Promises about every `Manifest.db`.
public enum ManifestDatabasePromises {
    private static let row = "row that was read"
    private static let record = "row with a whole object"
    private static let plain = "plain database that was read to its end"
    private static let decrypted = "encrypted database that was read to its end"
    private static let salted = "database whose objects were decrypted"
    private static let refused = "database that was refused"

    /// The milestones that the seeds must reach.
    public static let milestones = [row, record, plain, decrypted, salted, refused]

    private static let key = [UInt8](repeating: 0x42, count: 32)
    private static let password = [UInt8]("secret".utf8)
    private static let salt = [UInt8](repeating: 5, count: 20)

    /// Reads a database, and every row once more by its number.
    ///
    /// Bit 0 of the first byte says that it is encrypted.
    public static func check(_ bytes: [UInt8]) throws {
        let isEncrypted = (bytes.first ?? 0) & 1 != 0
        let rest = [UInt8](bytes.dropFirst())
        let content = isEncrypted ? encrypted(rest, EVP_aes_256_cbc(), key, zeros) : rest
        let number = InputDescriptor.file(holding: content)
        let file = OpenFile(try FileDescriptor.duplicate(ofNumber: number))
        do {
            let manifest = try ManifestFile(
                file,
                key: isEncrypted ? Secret(copying: key[...]) : nil
            )
            let database = try ManifestDatabase(manifest, on: MigrationOperation())
            let isSalted = try open(database)
            try read(database, count: rest.count, isSalted: isSalted)
            Milestones.reach(isEncrypted ? decrypted : plain)
        } catch let error as ArchiveError {
            FuzzTarget.require(error.code == .damaged, "a database is damaged: \(error)")
            Milestones.reach(refused)
        }
    }

    private static func open(_ database: ManifestDatabase) throws -> Bool {
        guard let salt = try database.salt() else { return false }
        try database.open(with: Secret(copying: password[...]), salt: salt)
        return true
    }

    private static func read(_ database: ManifestDatabase, count: Int, isSalted: Bool) throws {
        var sound: [(number: Int64, path: [UInt8], size: Int64)] = []
        var rows = 0
        try database.forEachRow { found in
            rows += 1
            FuzzTarget.require(rows <= count, "a row takes a byte")
            FuzzTarget.require(found.isOf(found.domain), "a row is of its domain")
            Milestones.reach(row)
            guard let whole = try? found.record() else { return }
            FuzzTarget.require(whole.path == found.path, "a row has one path")
            FuzzTarget.require((try? found.size()) == whole.size, "a row has one size")
            Milestones.reach(isSalted ? salted : record)
            sound.append((found.number, whole.path, whole.size))
        }
        let finder = try database.makeFinder()
        for item in sound {
            // The columns of a row are the same whichever way leads to it, unless pages are out of order.
            guard let again = try? finder.record(item.number) else { continue }
            FuzzTarget.require(again.size >= .min, "a row that is found is a row")
        }
    }

    // MARK: - Seeds

    /// Seeds of each kind.
    public static var seeds: [[UInt8]] {
        let object = FileRecordPromises.object(mode: 0o100644)
        let archive = BinaryPropertyList.list(of: object)
        let sound = database(archive)
        var hash = sha1(password + salt)
        hash.removeLast(4)
        let start = [UInt8](0..<16)
        let cipher = encrypted(archive, EVP_aes_128_cbc(), hash, start)
        return [
            [0] + sound, [1] + sound, [0] + database(cipher, salt: salt),
            [0] + database(archive, rows: 40), [0] + database(archive, isView: true),
            [0] + sound.prefix(600), [1] + [UInt8](repeating: 0, count: 200),
        ]
    }

    private static let schema = """
        CREATE TABLE Rows(fileID TEXT PRIMARY KEY, domain TEXT, relativePath TEXT, flags INTEGER, \
        file BLOB);
        CREATE TABLE Properties(key TEXT PRIMARY KEY, value BLOB);
        """

    private static func database(
        _ object: [UInt8],
        rows: Int = 1,
        salt: [UInt8]? = nil,
        isView: Bool = false
    ) -> [UInt8] {
        var handle: OpaquePointer?
        guard sqlite3_open(":memory:", &handle) == SQLITE_OK else { fatalError("no database") }
        defer { sqlite3_close(handle) }
        let domain = "AppDomain-com.example.notes"
        var text = "PRAGMA page_size = 512;" + schema
        for number in 0..<rows {
            let path = number == 0 ? "Documents/a" : "Documents/\(number)"
            let name = hexadecimal(sha1([UInt8]("\(domain)-\(path)".utf8)))
            text += "INSERT INTO Rows VALUES ('\(name)', '\(domain)', '\(path)', 1, "
            text += "X'\(hexadecimal(object))');"
        }
        if let salt { text += "INSERT INTO Properties VALUES ('salt', X'\(hexadecimal(salt))');" }
        text +=
            isView ? "CREATE VIEW Files AS SELECT * FROM Rows" : "ALTER TABLE Rows RENAME TO Files"
        guard sqlite3_exec(handle, text, nil, nil, nil) == SQLITE_OK else { fatalError("no rows") }
        var size: Int64 = 0
        guard let start = sqlite3_serialize(handle, "main", &size, 0) else {
            fatalError("no bytes")
        }
        defer { sqlite3_free(start) }
        return [UInt8](UnsafeBufferPointer(start: start, count: Int(size)))
    }

    private static func hexadecimal(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    private static func sha1(_ bytes: [UInt8]) -> [UInt8] { BackupCipher.sha1(bytes) }

    private static let zeros = [UInt8](repeating: 0, count: 16)

    private static func encrypted(
        _ bytes: [UInt8],
        _ cipher: OpaquePointer?,
        _ key: [UInt8],
        _ vector: [UInt8]
    ) -> [UInt8] {
        let context = EVP_CIPHER_CTX_new()
        defer { EVP_CIPHER_CTX_free(context) }
        var output = [UInt8](repeating: 0, count: bytes.count + 32)
        var (count, end): (CInt, CInt) = (0, 0)
        guard EVP_EncryptInit_ex(context, cipher, nil, key, vector) == 1,
            EVP_EncryptUpdate(context, &output, &count, bytes, CInt(bytes.count)) == 1
        else { fatalError("no cipher") }
        var last = [UInt8](repeating: 0, count: 32)
        guard EVP_EncryptFinal_ex(context, &last, &end) == 1 else { fatalError("no last block") }
        return [UInt8](output.prefix(Int(count))) + [UInt8](last.prefix(Int(end)))
    }
}
