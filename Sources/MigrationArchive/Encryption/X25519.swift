internal import CLibcrypto

/// Curve25519 key agreement (RFC 7748), with which age wraps file keys.
enum X25519 {
    /// The kind of its stanzas.
    static let kind = "X25519"

    private static let info = "age-encryption.org/v1/X25519"

    /// A recipient of an archive: a public key, which age writes as `age1…`.
    struct Recipient: Sendable {
        let key: [UInt8]

        fileprivate init(key: [UInt8]) { self.key = key }

        /// Reads `age1…`; `nil` if it isn't a key.
        init?(_ text: String) {
            guard let key = Bech32.decode([UInt8](text.utf8)[...], name: "age"), key.count == 32,
                text.hasPrefix("age1")
            else { return nil }
            self.key = key
        }

        /// Wraps `fileKey` for this recipient; `nil` if the recipient's key is weak and would not protect it.
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

    /// The private key of one recipient, which age writes as `AGE-SECRET-KEY-1…`.
    struct Identity: Sendable {
        private let key: Secret
        let recipient: Recipient

        /// Reads a line of an identity file; `nil` if it isn't an identity.
        init?(_ text: ArraySlice<UInt8>) {
            guard text.starts(with: "AGE-SECRET-KEY-1".utf8),
                var bytes = Bech32.decode(text, name: "age-secret-key-"), bytes.count == 32
            else { return nil }
            key = Secret(wiping: &bytes)
            guard let publicKey = publicKey(of: key) else { return nil }
            recipient = Recipient(key: publicKey)
        }

        /// Unwraps the file key in the body of a stanza; `nil` if that is for another recipient.
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

    /// The key that wraps the file key; `nil` if the shared secret is zero.
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

// MARK: - Keys as text

/// Bech32 (BIP 173), the text form of age's keys, without the standard's limit on the length.
enum Bech32 {
    private static let alphabet = [UInt8]("qpzry9x8gf2tvdw0s3jn54khce6mua7l".utf8)

    /// The bytes that `text` encodes after `name`; `nil` if the text is malformed.
    static func decode(_ text: ArraySlice<UInt8>, name: String) -> [UInt8]? {
        let isUpper = !text.contains { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) }
        let isLower = !text.contains { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) }
        guard isUpper || isLower else { return nil }
        var lower = text.map { (0x41...0x5A).contains($0) ? $0 + 0x20 : $0 }
        defer { Secret.wipe(&lower) }
        let prefix = [UInt8](name.utf8)
        guard lower.starts(with: prefix + [UInt8(ascii: "1")]) else { return nil }
        var values: [UInt8] = []
        values.reserveCapacity(lower.count)
        defer { Secret.wipe(&values) }
        for character in lower[(prefix.count + 1)...] {
            guard let value = alphabet.firstIndex(of: character) else { return nil }
            values.append(UInt8(value))
        }
        guard values.count >= 6, checksum(of: prefix, values: values) == 1 else { return nil }
        return bytes(values[..<(values.count - 6)])
    }

    private static func checksum(of name: [UInt8], values: [UInt8]) -> UInt32 {
        let generators: [UInt32] = [
            0x3B6A_57B2, 0x2650_8E6D, 0x1EA1_19FA, 0x3D42_33DD, 0x2A14_62B3,
        ]
        var sum: UInt32 = 1
        func add(_ value: UInt8) {
            let top = sum >> 25
            sum = (sum & 0x1FF_FFFF) << 5 ^ UInt32(value)
            for (index, generator) in generators.enumerated() where top >> UInt32(index) & 1 == 1 {
                sum ^= generator
            }
        }
        name.forEach { add($0 >> 5) }
        add(0)
        name.forEach { add($0 & 31) }
        values.forEach(add)
        return sum
    }

    /// Joins groups of five bits; `nil` if the surplus bits are not zero.
    private static func bytes(_ values: ArraySlice<UInt8>) -> [UInt8]? {
        var bits: UInt32 = 0
        var count = 0
        var bytes: [UInt8] = []
        bytes.reserveCapacity(values.count * 5 / 8 + 1)
        for value in values {
            bits = (bits << 5 | UInt32(value)) & 0xFFFF
            count += 5
            if count >= 8 {
                count -= 8
                bytes.append(UInt8(bits >> UInt32(count) & 0xFF))
            }
        }
        return count >= 5 || bits & (1 << UInt32(count) - 1) != 0 ? nil : bytes
    }
}
