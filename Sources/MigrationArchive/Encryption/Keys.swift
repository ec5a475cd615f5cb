internal import CLibcrypto
internal import MigrationSystem

/// A key or a passphrase, which is wiped when it is destroyed.
///
/// As long as a secret exists, the process writes no core dump, and forked processes don't have the
/// secret. Safe because the bytes are written only in `init` and wiped only in `deinit`. Code that
/// has a secret may call libcrypto.
@safe
package final class Secret: @unchecked Sendable {
    private let memory: SecretMemory

    /// The number of bytes.
    package let count: Int

    /// Makes a secret of `count` bytes that `body` writes.
    package init(count: Int, _ body: (UnsafeMutableRawBufferPointer) throws -> Void) rethrows {
        Libcrypto.setUp()
        CoreDumps.prevent()
        self.count = count
        memory = SecretMemory(count: count)
        try unsafe body(UnsafeMutableRawBufferPointer(rebasing: memory.bytes[..<count]))
    }

    /// Makes a secret of `bytes`, and wipes them.
    package convenience init(wiping bytes: inout [UInt8]) {
        self.init(copying: bytes[...])
        Self.wipe(&bytes)
    }

    /// Makes a secret of `bytes`, which the caller wipes.
    package convenience init(copying bytes: ArraySlice<UInt8>) {
        unsafe self.init(count: bytes.count) { unsafe $0.copyBytes(from: bytes) }
    }

    /// Calls `body` with the bytes.
    package func withBytes<Result>(
        _ body: (UnsafeRawBufferPointer) throws -> Result
    ) rethrows -> Result {
        try unsafe body(UnsafeRawBufferPointer(rebasing: memory.bytes[..<count]))
    }

    deinit {
        unsafe OPENSSL_cleanse(memory.bytes.baseAddress, count)
        memory.release()
        CoreDumps.allow()
    }

    /// Overwrites `bytes` with zeros.
    package static func wipe(_ bytes: inout [UInt8]) {
        unsafe bytes.withUnsafeMutableBytes { unsafe OPENSSL_cleanse($0.baseAddress, $0.count) }
    }
}

// MARK: - Making keys

/// The functions that derive the keys of the age format, all from libcrypto.
enum KeyDerivation {
    /// HKDF with SHA-256 (RFC 5869): 32 bytes derived from `key`.
    static func hkdf(_ key: Secret, salt: [UInt8], info: String) -> Secret {
        // RFC 5869: without a salt, zeros stand in for it, as many as a hash has bytes.
        let salt = salt.isEmpty ? [UInt8](repeating: 0, count: 32) : salt
        let info = [UInt8](info.utf8)
        return unsafe Secret(count: 32) { output in
            let context = unsafe EVP_PKEY_CTX_new_id(EVP_PKEY_HKDF, nil)
            defer { unsafe EVP_PKEY_CTX_free(context) }
            var size = output.count
            let isDerived = unsafe key.withBytes { key in
                let bytes = unsafe key.bindMemory(to: UInt8.self)
                return unsafe EVP_PKEY_derive_init(context) == 1
                    && EVP_PKEY_CTX_set_hkdf_md(context, EVP_sha256()) == 1
                    && EVP_PKEY_CTX_set1_hkdf_salt(context, salt, CInt(salt.count)) == 1
                    && EVP_PKEY_CTX_set1_hkdf_key(context, bytes.baseAddress, CInt(key.count)) == 1
                    && EVP_PKEY_CTX_add1_hkdf_info(context, info, CInt(info.count)) == 1
                    && EVP_PKEY_derive(
                        context,
                        output.bindMemory(to: UInt8.self).baseAddress,
                        &size
                    )
                        == 1
            }
            // Fails only if memory is exhausted.
            precondition(isDerived, "libcrypto can't derive a key")
        }
    }

    /// HMAC with SHA-256 of `message`.
    static func hmac(key: Secret, of message: [UInt8]) -> [UInt8] {
        var code = [UInt8](repeating: 0, count: 32)
        var size = 0
        let result = unsafe key.withBytes { key in
            unsafe EVP_Q_mac(
                nil,
                "HMAC",
                nil,
                "SHA256",
                nil,
                key.baseAddress,
                key.count,
                message,
                message.count,
                &code,
                code.count,
                &size
            )
        }
        precondition(unsafe result != nil && size == code.count, "libcrypto can't make an HMAC")
        return code
    }

    /// scrypt with r = 8 and p = 1 (RFC 7914): 32 bytes derived from `passphrase`.
    ///
    /// It takes 1 KiB of memory times two to the power of `workFactor`.
    static func scrypt(
        _ passphrase: Secret,
        salt: [UInt8],
        workFactor: Int
    ) throws(ArchiveError) -> Secret {
        var isDerived = false
        let rounds = UInt64(1) << UInt64(workFactor)
        let key = unsafe Secret(count: 32) { output in
            isDerived = unsafe passphrase.withBytes { passphrase in
                unsafe EVP_PBE_scrypt(
                    passphrase.bindMemory(to: CChar.self).baseAddress,
                    passphrase.count,
                    salt,
                    salt.count,
                    rounds,
                    8,
                    1,
                    rounds * 1024 + (1 << 20),
                    output.bindMemory(to: UInt8.self).baseAddress,
                    output.count
                ) == 1
            }
        }
        guard isDerived else {
            let message =
                "the passphrase needs \(rounds >> 10) MiB of memory, and the system does not give them"
            throw ArchiveError(.inputFailed, message)
        }
        return key
    }

    static func randomBytes(_ count: Int) -> [UInt8] {
        unsafe randomSecret(count).withBytes { unsafe Array($0) }
    }

    static func randomSecret(_ count: Int) -> Secret {
        unsafe Secret(count: count) { output in
            let bytes = unsafe output.bindMemory(to: UInt8.self).baseAddress
            let isMade = unsafe RAND_bytes(bytes, CInt(count)) == 1
            precondition(isMade, "libcrypto has no random bytes")
        }
    }

    /// Whether the two are equal; the time doesn't depend on where they differ.
    static func isEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        unsafe left.count == right.count && CRYPTO_memcmp(left, right, left.count) == 0
    }
}
