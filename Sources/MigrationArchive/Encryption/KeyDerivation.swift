internal import CLibcrypto

/// What the age format makes keys with, all of it from libcrypto.
enum KeyDerivation {
    /// HKDF with SHA-256 (RFC 5869): 32 bytes made of `key`.
    static func hkdf(_ key: Secret, salt: [UInt8], info: String) -> Secret {
        // No salt stands for as many zeros as a hash has bytes.
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
            // It has no other reason than that there is no memory.
            precondition(isDerived, "libcrypto can't derive a key")
        }
    }

    /// HMAC with SHA-256 of `message`.
    static func hmac(_ key: Secret, _ message: [UInt8]) -> [UInt8] {
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

    /// scrypt with r = 8 and p = 1 (RFC 7914): 32 bytes made of `passphrase`; takes 1 KiB of memory
    /// times two to the power of `workFactor`.
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

    /// Bytes that nobody can foretell.
    static func randomBytes(_ count: Int) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        precondition(unsafe RAND_bytes(&bytes, CInt(count)) == 1, "libcrypto has no random bytes")
        return bytes
    }

    /// A secret that nobody can foretell.
    static func randomSecret(_ count: Int) -> Secret {
        unsafe Secret(count: count) { output in
            let bytes = unsafe output.bindMemory(to: UInt8.self).baseAddress
            let isMade = unsafe RAND_bytes(bytes, CInt(count)) == 1
            precondition(isMade, "libcrypto has no random bytes")
        }
    }

    /// Whether the two are alike, in a time that does not tell where they differ.
    static func isEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        unsafe left.count == right.count && CRYPTO_memcmp(left, right, left.count) == 0
    }
}
