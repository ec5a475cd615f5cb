internal import CLibcrypto
internal import MigrationArchive

/// Key derivation, key wrapping and hashes of iPhone backups, all from libcrypto.
enum BackupCipher {
    /// The bytes of a key, for AES-256.
    static let keySize = 32

    /// The bytes of a block of AES.
    static let blockSize = 16

    /// The hash that a derivation uses.
    enum Hash {
        case sha1, sha256
    }

    /// PBKDF2 with HMAC (RFC 8018): 32 bytes derived from `password`.
    static func derive(_ password: Secret, salt: [UInt8], rounds: Int, _ hash: Hash) -> Secret {
        unsafe Secret(count: keySize) { output in
            let function = unsafe hash == .sha1 ? EVP_sha1() : EVP_sha256()
            let isDerived = unsafe password.withBytes { password in
                unsafe PKCS5_PBKDF2_HMAC(
                    password.assumingMemoryBound(to: CChar.self).baseAddress,
                    CInt(password.count),
                    salt,
                    CInt(salt.count),
                    CInt(rounds),
                    function,
                    CInt(output.count),
                    output.bindMemory(to: UInt8.self).baseAddress
                ) == 1
            }
            // Fails only if memory is exhausted.
            precondition(isDerived, "libcrypto can't derive a key")
        }
    }

    /// Unwraps a key (RFC 3394); returns `nil` if it was wrapped with another key, or was changed.
    static func unwrap(_ wrapped: [UInt8], with key: Secret) -> Secret? {
        guard wrapped.count == keySize + 8 else { return nil }
        var isSound = false
        let plain = unsafe Secret(count: wrapped.count) { output in
            let context = unsafe EVP_CIPHER_CTX_new()
            defer { unsafe EVP_CIPHER_CTX_free(context) }
            unsafe EVP_CIPHER_CTX_set_flags(context, EVP_CIPHER_CTX_FLAG_WRAP_ALLOW)
            var count: CInt = 0
            let result = unsafe key.withBytes { key in
                let bytes = unsafe key.bindMemory(to: UInt8.self).baseAddress
                return unsafe EVP_DecryptInit_ex(context, EVP_aes_256_wrap(), nil, bytes, nil) == 1
                    && EVP_DecryptUpdate(
                        context,
                        output.bindMemory(to: UInt8.self).baseAddress,
                        &count,
                        wrapped,
                        CInt(wrapped.count)
                    ) == 1
            }
            isSound = result && count == keySize
        }
        guard isSound else { return nil }
        return unsafe Secret(count: keySize) { output in
            unsafe plain.withBytes { plain in
                unsafe output.copyMemory(from: UnsafeRawBufferPointer(rebasing: plain[..<keySize]))
            }
        }
    }

    /// The bytes of padding at the end of the last block, one to sixteen (PKCS #7).
    static func padding(of block: ArraySlice<UInt8>) -> Int? {
        guard let count = block.last, (1...UInt8(blockSize)).contains(count),
            block.suffix(Int(count)).allSatisfy({ $0 == count })
        else { return nil }
        return Int(count)
    }

    static func sha1(_ bytes: [UInt8]) -> [UInt8] {
        let hash = RunningHash()
        hash.add(bytes[...])
        return hash.finish()
    }

    /// SHA-1 of bytes that come in pieces.
    @safe
    final class RunningHash {
        private let context: OpaquePointer

        init() {
            Libcrypto.setUp()
            guard let context = unsafe EVP_MD_CTX_new() else {
                preconditionFailure("libcrypto can't hash")
            }
            unsafe self.context = context
            let isBegun = unsafe EVP_DigestInit_ex(context, EVP_sha1(), nil) == 1
            precondition(isBegun, "libcrypto can't hash")
        }

        deinit {
            unsafe EVP_MD_CTX_free(context)
        }

        func add(_ bytes: ArraySlice<UInt8>) {
            unsafe bytes.withUnsafeBytes { bytes in
                _ = unsafe EVP_DigestUpdate(context, bytes.baseAddress, bytes.count)
            }
        }

        func finish() -> [UInt8] {
            var value = [UInt8](repeating: 0, count: 20)
            _ = unsafe EVP_DigestFinal_ex(context, &value, nil)
            return value
        }
    }
}

/// Decrypts AES in CBC mode starting at any block, and ignores padding.
@safe
final class BlockDecryptor {
    private let context: OpaquePointer

    /// Makes a decryptor for AES-256, or for AES-128 if the key has that length.
    init(_ key: Secret) {
        guard let context = unsafe EVP_CIPHER_CTX_new() else {
            preconditionFailure("libcrypto can't decrypt")
        }
        unsafe self.context = context
        let isReady = unsafe key.withBytes { key in
            let bytes = unsafe key.bindMemory(to: UInt8.self).baseAddress
            let cipher = unsafe key.count == 16 ? EVP_aes_128_cbc() : EVP_aes_256_cbc()
            return unsafe EVP_DecryptInit_ex(context, cipher, nil, bytes, nil) == 1
        }
        precondition(isReady, "libcrypto can't decrypt")
    }

    deinit {
        unsafe EVP_CIPHER_CTX_free(context)
    }

    /// Decrypts whole blocks in place.
    ///
    /// - Parameters:
    ///   - bytes: The buffer. Its first block is the one before the blocks to decrypt, and isn't
    ///     changed; for the first block of a file it is zeros.
    ///   - count: The bytes to decrypt after that block, a multiple of the size of a block.
    func decrypt(_ bytes: inout [UInt8], count: Int) {
        precondition(count % BackupCipher.blockSize == 0)
        precondition(bytes.count >= BackupCipher.blockSize + count)
        let isDecrypted = unsafe bytes.withUnsafeMutableBufferPointer { bytes in
            guard let start = bytes.baseAddress else { return false }
            let text = unsafe start + BackupCipher.blockSize
            var written: CInt = 0
            return unsafe EVP_DecryptInit_ex(context, nil, nil, nil, start) == 1
                && EVP_CIPHER_CTX_set_padding(context, 0) == 1
                && EVP_DecryptUpdate(context, text, &written, text, CInt(count)) == 1
                && Int(written) == count
        }
        precondition(isDecrypted, "libcrypto can't decrypt")
    }
}
