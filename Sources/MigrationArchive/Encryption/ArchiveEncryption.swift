internal import MigrationSystem

/// The recipients or the passphrase that an archive is encrypted for, in the age format.
///
/// Others can see only the archive's size, and the number and kinds of its recipients.
public struct ArchiveEncryption: Sendable {
    private enum Recipient: Sendable {
        case x25519(X25519.Recipient)
        case plugin(AgePlugin, text: String)
        case passphrase(Passphrase)
    }

    private let recipients: [Recipient]

    /// Whether the encrypted archive is text, for channels that carry only text; it is a third larger.
    public var isArmored = false

    private init(_ recipients: [Recipient]) {
        self.recipients = recipients
    }

    /// Encrypts for everyone who has the identity of one of `recipients`.
    ///
    /// - Parameter recipients: Public keys, as written by `age-keygen` (`age1…`) or a plugin of age
    ///   (`age1<plugin>1…`); the plugin's program then encrypts each archive's key.
    /// - Returns: The encryption.
    /// - Throws: ``ArchiveError`` of code `keyInvalid` if one isn't a key, or if there are none.
    public static func recipients(_ recipients: [String]) throws(ArchiveError) -> ArchiveEncryption
    {
        guard !recipients.isEmpty else {
            throw ArchiveError(.keyInvalid, "there is no recipient to encrypt for")
        }
        var (known, texts): ([Recipient], Set<String>) = ([], [])
        for text in recipients where texts.insert(text).inserted {
            if let recipient = X25519.Recipient(text) {
                known.append(.x25519(recipient))
            } else if let plugin = AgePlugin(recipient: text) {
                known.append(.plugin(plugin, text: text))
            } else {
                throw wrongRecipient(text)
            }
        }
        return ArchiveEncryption(known)
    }

    /// The recipients in a file with one on each line, as in age.
    ///
    /// - Parameter text: The file's bytes; empty lines and those that begin with `#` are ignored.
    /// - Returns: The other lines, for ``recipients(_:)``.
    public static func recipients(inFile text: [UInt8]) -> [String] {
        text.split { [UInt8(ascii: "\n"), UInt8(ascii: "\r")].contains($0) }
            .filter { $0.first != UInt8(ascii: "#") }
            .map { String(decoding: $0, as: UTF8.self) }
    }

    /// Encrypts with a passphrase; deriving the key takes 256 MiB of memory.
    ///
    /// It is wiped when the first archive begins; every archive needs a new value.
    ///
    /// - Parameter passphrase: The passphrase's bytes, which are wiped.
    /// - Returns: The encryption.
    /// - Throws: ``ArchiveError`` of code `keyInvalid` if it is empty.
    public static func passphrase(
        wiping passphrase: inout [UInt8]
    ) throws(ArchiveError) -> ArchiveEncryption {
        ArchiveEncryption([.passphrase(try Passphrase(wiping: &passphrase))])
    }

    private static func wrongRecipient(_ text: String) -> ArchiveError {
        let shown = PrintableText.escaping(String(text.prefix(80)))
        if text.uppercased().hasPrefix("AGE-SECRET-KEY-") {
            return ArchiveError(.keyInvalid, "a secret key was given where a recipient is wanted")
        }
        let problem =
            text.hasPrefix("ssh-")
            ? "which only age supports: export to '-' and pipe that into 'age'"
            : "but a recipient begins with 'age1' and has no typing errors"
        return ArchiveError(.keyInvalid, "the recipient is '\(shown)', \(problem)")
    }
}

extension ArchiveEncryption {
    /// The header of a new encrypted archive and the nonce after it, with the key of its payload.
    func begin(on operation: MigrationOperation) throws -> (head: [UInt8], key: Secret) {
        let fileKey = KeyDerivation.randomSecret(16)
        var stanzas: [AgeStanza] = []
        for recipient in recipients {
            switch recipient {
            case .passphrase(let passphrase):
                stanzas.append(try ScryptStanza.wrap(fileKey, with: passphrase))
            case .plugin(let plugin, let text):
                stanzas += try plugin.wrap(fileKey, for: text, on: operation)
            case .x25519(let recipient):
                guard let stanza = recipient.wrap(fileKey) else {
                    let message = "a recipient's key is too weak: anyone could decrypt the archive"
                    throw ArchiveError(.keyInvalid, message)
                }
                stanzas.append(stanza)
            }
        }
        let nonce = KeyDerivation.randomBytes(ChunkCipher.nonceSize)
        let head = AgeHeader.encode(stanzas, fileKey: fileKey) + nonce
        return (head, ChunkCipher.key(of: fileKey, nonce: nonce))
    }
}
