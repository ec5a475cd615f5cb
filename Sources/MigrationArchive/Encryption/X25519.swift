internal import CLibcrypto

/// Curve25519 key agreement (RFC 7748), as age wraps file keys with it.
enum X25519 {
    /// The kind of stanza.
    static let kind = "X25519"

    private static let info = "age-encryption.org/v1/X25519"

    /// Whom an archive is encrypted for: a public key, which age writes as `age1…`.
    struct Recipient: Sendable, Hashable {
        let key: [UInt8]

        init(key: [UInt8]) {
            self.key = key
        }

        /// Reads `age1…`; `nil` where it is none.
        init?(_ text: String) {
            guard let key = Bech32.decode([UInt8](text.utf8)[...], name: "age"), key.count == 32,
                text.hasPrefix("age1")
            else { return nil }
            self.key = key
        }

        /// Wraps `fileKey` for this recipient; `nil` where the key is one that keeps nothing secret.
        func wrap(_ fileKey: Secret) -> AgeStanza? {
            let ephemeral = KeyDerivation.randomSecret(32)
            guard let share = publicKey(of: ephemeral),
                let wrapKey = wrapKey(ephemeral, with: key, share: share, recipient: key)
            else { return nil }
            return AgeStanza(
                arguments: [
                    kind,
                    String(decoding: Base64.encode(share[...], isPadded: false), as: UTF8.self),
                ],
                body: ChunkCipher.wrap(fileKey, with: wrapKey)
            )
        }
    }

    /// What opens archives for one recipient: a private key, which age writes as `AGE-SECRET-KEY-1…`.
    struct Identity: Sendable {
        private let key: Secret
        let recipient: Recipient

        /// Reads a line of an identity file; `nil` where it is none.
        init?(_ text: ArraySlice<UInt8>) {
            guard text.starts(with: "AGE-SECRET-KEY-1".utf8),
                var bytes = Bech32.decode(text, name: "age-secret-key-"), bytes.count == 32
            else { return nil }
            key = Secret(wiping: &bytes)
            guard let publicKey = publicKey(of: key) else { return nil }
            recipient = Recipient(key: publicKey)
        }

        /// Unwraps the file key in the body of a stanza; `nil` where it is for somebody else.
        func unwrap(share: [UInt8], body: [UInt8]) throws(ArchiveError) -> Secret? {
            guard
                let wrapKey = wrapKey(key, with: share, share: share, recipient: recipient.key)
            else { throw AgeHeader.damage("the share of a recipient is not a usable key") }
            return ChunkCipher.unwrap(body, with: wrapKey)
        }
    }

    private static func publicKey(of secret: Secret) -> [UInt8]? {
        let key = unsafe privateKey(secret)
        defer { unsafe EVP_PKEY_free(key) }
        var bytes = [UInt8](repeating: 0, count: 32)
        var count = bytes.count
        guard unsafe EVP_PKEY_get_raw_public_key(key, &bytes, &count) == 1 else { return nil }
        return bytes
    }

    private static func privateKey(_ secret: Secret) -> OpaquePointer? {
        unsafe secret.withBytes { secret in
            let bytes = unsafe secret.bindMemory(to: UInt8.self).baseAddress
            return unsafe EVP_PKEY_new_raw_private_key(EVP_PKEY_X25519, nil, bytes, secret.count)
        }
    }

    /// The key that wraps the file key; `nil` where what both sides share is zero.
    private static func wrapKey(
        _ secret: Secret,
        with other: [UInt8],
        share: [UInt8],
        recipient: [UInt8]
    ) -> Secret? {
        let key = unsafe privateKey(secret)
        let peer = unsafe EVP_PKEY_new_raw_public_key(EVP_PKEY_X25519, nil, other, other.count)
        let context = unsafe EVP_PKEY_CTX_new(key, nil)
        defer {
            unsafe EVP_PKEY_CTX_free(context)
            unsafe EVP_PKEY_free(peer)
            unsafe EVP_PKEY_free(key)
        }
        var isShared = false
        let shared = unsafe Secret(count: 32) { output in
            var count = output.count
            isShared =
                unsafe EVP_PKEY_derive_init(context) == 1
                && EVP_PKEY_derive_set_peer(context, peer) == 1
                && EVP_PKEY_derive(
                    context,
                    output.bindMemory(to: UInt8.self).baseAddress,
                    &count
                ) == 1
        }
        guard isShared, unsafe !shared.withBytes({ unsafe $0.allSatisfy { $0 == 0 } }) else {
            return nil
        }
        return KeyDerivation.hkdf(shared, salt: share + recipient, info: info)
    }
}
