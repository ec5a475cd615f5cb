internal import MigrationArchive

/// A secret that only the device it was made on can read: restored elsewhere it is rubbish, and apps
/// that open it crash.
enum DeviceBoundSecret: String, Sendable {
    case encryptedPreferences =
        "EncryptedSharedPreferences, whose key stays in the device's keystore"
    case tinkKeyset = "a Tink keyset, whose key stays in the device's keystore"
    case encryptedDatabase = "an encrypted database (SQLCipher), whose key does not travel with it"

    private static let databases: [StorageDomain] = [.database, .deviceDatabase]
    private static let preferences: [StorageDomain] = [
        .sharedPreferences, .deviceSharedPreferences,
    ]

    /// Whether secrets are looked for in the file at `path`.
    static func shows(at path: EntryPath) -> Bool {
        (databases + preferences).contains { path.isEqual(toOrBelow: $0.iosPath) }
    }

    /// Looks for a secret in the first bytes of the file at `path`.
    init?(in head: [UInt8], at path: EntryPath) {
        if Self.preferences.contains(where: { path.isEqual(toOrBelow: $0.iosPath) }) {
            let text = String(decoding: head, as: UTF8.self)
            if text.contains("__androidx_security_crypto_encrypted_prefs") {
                self = .encryptedPreferences
            } else if Self.holdsKeyset(text) {
                self = .tinkKeyset
            } else {
                return nil
            }
        } else if Self.isEncryptedDatabase(head, path) {
            self = .encryptedDatabase
        } else {
            return nil
        }
    }

    /// Tink keeps a keyset as one string of hexadecimal digits under a name that says what it is.
    private static func holdsKeyset(_ text: String) -> Bool {
        let parts = text.split(separator: "<string name=\"", omittingEmptySubsequences: false)
        return parts.dropFirst().contains { part in
            let pieces = part.split(separator: ">", maxSplits: 1)
            guard pieces.count == 2, pieces[0].lowercased().contains("keyset") else { return false }
            let value = pieces[1].prefix { $0 != "<" }
            return value.utf8.count >= 32 && value.allSatisfy(\.isHexDigit)
        }
    }

    /// A page of SQLCipher's begins with a salt where SQLite's file has its name (file format, 1.3).
    private static func isEncryptedDatabase(_ head: [UInt8], _ path: EntryPath) -> Bool {
        let sidecars = ["-journal", "-wal", "-shm"]
        guard head.count >= 1024,
            !sidecars.contains(where: { path.bytes.suffix($0.utf8.count).elementsEqual($0.utf8) }),
            !head.starts(with: "SQLite format 3\0".utf8)
        else { return false }
        // Other files that apps keep there are text or begin with zeros; a salt is neither.
        let page = head.prefix(1024)
        return Set(page).count > 200
    }
}
