internal import CLibcrypto
internal import MigrationArchive

/// The keys of an encrypted backup, from its password (Android, PasswordManager and BackupManager).
struct BackupKeys {
    let masterKey: [UInt8]
    let initializationVector: [UInt8]

    /// The size of an AES-256 key.
    static let keySize = 32
    private static let blockSize = 16

    /// Decrypts the keys in `lock`; `nil` if the password is wrong.
    ///
    /// The first version used the low byte of each character and later ones UTF-8, and some files claim
    /// one but use the other, so both are tried.
    static func unlock(_ lock: BackupLock, with password: [UInt8]) -> BackupKeys? {
        for encoding in Encoding.allCases {
            guard let password = encoding.bytes(of: password) else { continue }
            let key = derive(from: password, salt: lock.userSalt, rounds: lock.rounds)
            guard let blob = decrypt(lock.blob, key: key, vector: lock.userVector),
                let parts = fields(of: blob), parts.key.count == keySize,
                parts.vector.count == blockSize
            else { continue }
            for encoding in Encoding.allCases {
                let secret = encoding.bytes(ofKey: parts.key)
                if derive(from: secret, salt: lock.checksumSalt, rounds: lock.rounds)
                    == parts.checksum
                {
                    return BackupKeys(masterKey: parts.key, initializationVector: parts.vector)
                }
            }
        }
        return nil
    }

    private enum Encoding: CaseIterable {
        case utf8, lowBytes

        /// The bytes that Android derives from a password, given in UTF-8.
        func bytes(of password: [UInt8]) -> [UInt8]? {
            switch self {
            case .utf8: password
            case .lowBytes:
                String(validating: password, as: UTF8.self).map { text in
                    text.utf16.map { UInt8(truncatingIfNeeded: $0) }
                }
            }
        }

        /// The bytes that Android derives from a key: each byte is a character, negative from 0x80 on.
        func bytes(ofKey key: [UInt8]) -> [UInt8] {
            switch self {
            case .utf8:
                key.flatMap { byte in
                    byte < 0x80 ? [byte] : [0xEF, 0xBC | byte >> 6, 0x80 | byte & 0x3F]
                }
            case .lowBytes: key
            }
        }
    }

    /// The vector, the key and the checksum, each after its length in one byte.
    private static func fields(
        of blob: [UInt8]
    ) -> (vector: [UInt8], key: [UInt8], checksum: [UInt8])? {
        var rest = blob[...]
        var fields: [[UInt8]] = []
        while fields.count < 3 {
            guard let count = rest.popFirst(), rest.count >= Int(count) else { return nil }
            fields.append([UInt8](rest.prefix(Int(count))))
            rest = rest.dropFirst(Int(count))
        }
        return (fields[0], fields[1], fields[2])
    }

    private static func derive(from secret: [UInt8], salt: [UInt8], rounds: Int) -> [UInt8] {
        Libcrypto.setUp()
        var key = [UInt8](repeating: 0, count: keySize)
        let result = unsafe key.withUnsafeMutableBufferPointer { key in
            unsafe secret.withUnsafeBytes { secret in
                unsafe PKCS5_PBKDF2_HMAC(
                    secret.assumingMemoryBound(to: CChar.self).baseAddress,
                    CInt(secret.count),
                    salt,
                    CInt(salt.count),
                    CInt(rounds),
                    EVP_sha1(),
                    CInt(key.count),
                    key.baseAddress
                )
            }
        }
        // Fails only if memory is exhausted.
        precondition(result == 1, "libcrypto can't derive a key")
        return key
    }

    private static func decrypt(_ bytes: [UInt8], key: [UInt8], vector: [UInt8]) -> [UInt8]? {
        let decryptor = BackupDecryptor(key: key, initializationVector: vector)
        guard var plain = decryptor.update(bytes[...]), let end = decryptor.finish() else {
            return nil
        }
        plain += end
        return plain
    }
}

/// The encryption parameters in a backup's header.
struct BackupLock {
    let userSalt: [UInt8]
    let checksumSalt: [UInt8]
    let rounds: Int
    let userVector: [UInt8]
    let blob: [UInt8]
}

/// Decrypts AES-256 in CBC mode with PKCS#7 padding, piece by piece.
@safe
final class BackupDecryptor {
    private let context: OpaquePointer

    init(key: [UInt8], initializationVector: [UInt8]) {
        Libcrypto.setUp()
        guard let context = unsafe EVP_CIPHER_CTX_new() else {
            preconditionFailure("libcrypto can't decrypt")
        }
        unsafe self.context = context
        let result = unsafe EVP_DecryptInit_ex(
            context,
            EVP_aes_256_cbc(),
            nil,
            key,
            initializationVector
        )
        precondition(result == 1, "libcrypto can't decrypt")
    }

    deinit {
        unsafe EVP_CIPHER_CTX_free(context)
    }

    /// Decrypts all whole blocks; `nil` on failure.
    func update(_ bytes: ArraySlice<UInt8>) -> [UInt8]? {
        var output = [UInt8](repeating: 0, count: bytes.count + 32)
        var count: CInt = 0
        let result = unsafe output.withUnsafeMutableBufferPointer { output in
            unsafe bytes.withUnsafeBufferPointer { input in
                unsafe EVP_DecryptUpdate(
                    context,
                    output.baseAddress,
                    &count,
                    input.baseAddress,
                    CInt(input.count)
                )
            }
        }
        guard result == 1 else { return nil }
        output.removeLast(output.count - Int(count))
        return output
    }

    /// Decrypts the last block; `nil` if its padding is invalid.
    func finish() -> [UInt8]? {
        var output = [UInt8](repeating: 0, count: 32)
        var count: CInt = 0
        let result = unsafe output.withUnsafeMutableBufferPointer { output in
            unsafe EVP_DecryptFinal_ex(context, output.baseAddress, &count)
        }
        guard result == 1 else { return nil }
        output.removeLast(output.count - Int(count))
        return output
    }
}
