internal import MigrationArchive

/// A secret that only the device that made it can read: elsewhere it is useless, and apps
/// that read it crash.
enum DeviceBoundSecret: String, Sendable {
    case encryptedPreferences =
        "EncryptedSharedPreferences, whose key stays in the device's keystore"
    case tinkKeyset = "a Tink keyset, whose key stays in the device's keystore"
    case encryptedDatabase = "an encrypted database (SQLCipher), whose key does not travel with it"

    private static let databases: [StorageDomain] = [.database, .deviceDatabase]
    private static let preferences: [StorageDomain] = [
        .sharedPreferences, .deviceSharedPreferences,
    ]

    /// Whether the file at `path` is searched for secrets.
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
        } else if Self.isEncryptedDatabase(startingWith: head, at: path) {
            self = .encryptedDatabase
        } else {
            return nil
        }
    }

    /// Tink stores a keyset as one hexadecimal string under a recognizable name.
    private static func holdsKeyset(_ text: String) -> Bool {
        let parts = text.split(separator: "<string name=\"", omittingEmptySubsequences: false)
        return parts.dropFirst().contains { part in
            let pieces = part.split(separator: ">", maxSplits: 1)
            guard pieces.count == 2, pieces[0].lowercased().contains("keyset") else { return false }
            let value = pieces[1].prefix { $0 != "<" }
            return value.utf8.count >= 32 && value.allSatisfy(\.isHexDigit)
        }
    }

    /// A SQLCipher file begins with a salt in place of SQLite's name (file format, 1.3).
    private static func isEncryptedDatabase(startingWith head: [UInt8], at path: EntryPath) -> Bool
    {
        let sidecars = ["-journal", "-wal", "-shm"]
        guard head.count >= 1024,
            !sidecars.contains(where: { path.bytes.suffix($0.utf8.count).elementsEqual($0.utf8) }),
            !head.starts(with: "SQLite format 3\0".utf8)
        else { return false }
        // Other files there are text or begin with zeros; a salt is neither.
        let page = head.prefix(1024)
        return Set(page).count > 200
    }
}
