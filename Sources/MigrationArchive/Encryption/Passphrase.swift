internal import MigrationSystem

/// A passphrase, which is wiped as soon as a key is derived from it.
final class Passphrase: Sendable {
    private enum State {
        case unused(Secret)
        case used(key: Secret, salt: [UInt8], workFactor: Int)
    }

    private let state: Monitor<State>

    /// The work factor of new archives, as in age: 256 MiB of memory and about a second.
    static let workFactor = 18

    init(wiping bytes: inout [UInt8]) throws(ArchiveError) {
        guard !bytes.isEmpty else { throw ArchiveError(.keyInvalid, "the passphrase is empty") }
        state = Monitor(.unused(Secret(wiping: &bytes)))
    }

    /// The key for `salt`; the last key is remembered.
    func key(salt: [UInt8], workFactor: Int) throws(ArchiveError) -> Secret {
        try state.withLock { state throws(ArchiveError) in
            switch state {
            case .used(let key, salt, workFactor): return key
            case .used:
                let message =
                    "the passphrase was wiped when it was used: each archive needs its own"
                throw ArchiveError(.keyMissing, message)
            case .unused(let passphrase):
                let key = try KeyDerivation.scrypt(
                    passphrase,
                    salt: [UInt8](ScryptStanza.label.utf8) + salt,
                    workFactor: workFactor
                )
                state = .used(key: key, salt: salt, workFactor: workFactor)
                return key
            }
        }
    }
}

/// The stanza of an archive that is encrypted with a passphrase.
struct ScryptStanza {
    static let kind = "scrypt"
    static let label = "age-encryption.org/v1/scrypt"
    private static let saltSize = 16

    let salt: [UInt8]
    let workFactor: Int
    let body: [UInt8]

    init(_ stanza: AgeStanza) throws(ArchiveError) {
        guard stanza.arguments.count == 3,
            let salt = Base64.decode([UInt8](stanza.arguments[1].utf8)[...], isPadded: false),
            salt.count == Self.saltSize, stanza.body.count == 32,
            let workFactor = Self.workFactor(in: stanza.arguments[2])
        else { throw AgeHeader.damage("the entry of its passphrase is malformed") }
        (self.salt, self.workFactor, body) = (salt, workFactor, stanza.body)
    }

    /// Wraps `fileKey` with a passphrase, which is wiped.
    static func wrap(_ fileKey: Secret, with passphrase: Passphrase) throws(ArchiveError)
        -> AgeStanza
    {
        let salt = KeyDerivation.randomBytes(saltSize)
        let key = try passphrase.key(salt: salt, workFactor: Passphrase.workFactor)
        let text = String(decoding: Base64.encode(salt[...], isPadded: false), as: UTF8.self)
        return AgeStanza(
            arguments: [kind, text, "\(Passphrase.workFactor)"],
            body: ChunkCipher.wrap(fileKey, with: key)
        )
    }

    /// The number in `text`, which has at most two digits and no leading zero; else `nil`.
    private static func workFactor(in text: String) -> Int? {
        let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
        guard text.utf8.count <= 2, text.utf8.allSatisfy({ digits.contains($0) }),
            text.first != "0", let number = Int(text), number < 64
        else { return nil }
        return number
    }
}
