internal import MigrationArchive
internal import PropertyLists

/// Decrypts the objects of rows in an encrypted backup of iOS 10.0, in which the rest of
/// `Manifest.db` isn't encrypted.
///
/// The key is the first half of the SHA-1 of the password and a salt. A row holds the object as text in
/// base64. Two public readers agree on this: dunhamsteve/ios and a fork of iphone-dataprotection.
final class ObjectCipher {
    private static let start = [UInt8](0..<UInt8(BackupCipher.blockSize))

    private let decryptor: BlockDecryptor

    /// Makes the cipher.
    ///
    /// - Parameters:
    ///   - password: The password, which opened the keybag.
    ///   - salt: The salt in the manifest.
    ///   - passwordHash: The SHA-256 of the password and the salt, if the manifest holds it.
    /// - Throws: ``ArchiveError`` of code `damaged` if the hash is that of another password.
    init(password: Secret, salt: [UInt8], passwordHash: [UInt8]?) throws(ArchiveError) {
        var salted = unsafe password.withBytes { unsafe [UInt8]($0) } + salt
        defer { Secret.wipe(&salted) }
        if let passwordHash, passwordHash != SHA256Digest.hash(of: salted) {
            let message =
                "the password opens the backup's keybag, but its Manifest.db was made with another one"
            throw ArchiveError(.damaged, message)
        }
        var hash = BackupCipher.sha1(salted)
        decryptor = BlockDecryptor(Secret(copying: hash.prefix(BackupCipher.blockSize)))
        Secret.wipe(&hash)
    }

    /// Decrypts an object; `nil` if its padding is wrong.
    func decrypt(_ stored: [UInt8]) -> [UInt8]? {
        let size = BackupCipher.blockSize
        let content = Base64.bytes(of: stored) ?? stored
        guard !content.isEmpty, content.count % size == 0 else { return nil }
        var bytes = Self.start + content
        decryptor.decrypt(&bytes, count: content.count)
        guard let padding = BackupCipher.padding(of: bytes.suffix(size)) else { return nil }
        return [UInt8](bytes.dropFirst(size).dropLast(padding))
    }
}
