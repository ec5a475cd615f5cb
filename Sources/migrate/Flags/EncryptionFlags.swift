internal import MigrationCore
internal import MigrationReports
internal import MigrationSystem

/// The flags that open an encrypted archive.
struct DecryptionFlags: FlagGroup {
    private var identityPaths: [BytePath] = []
    private var passphrase = PassphraseFlags()
    private var maximumWorkFactor: Int?

    static let topic: FlagTopic? = .encryption

    static let identity = Flag<Self>(
        "identity",
        value: "file",
        as: .path,
        appendingTo: \.identityPaths
    )
    .help(
        "A file with a private key that opens the encrypted archive, as 'age-keygen' or a "
            + "plugin of age writes it, itself perhaps encrypted with a passphrase; may be "
            + "repeated. MIGRATE_IDENTITY names one too."
    )

    static let maximumWorkFactor = Flag<Self>(
        "max-work-factor",
        value: "n",
        as: .number(in: 1...30),
        to: \.maximumWorkFactor
    )
    .help(
        "Accept passphrases that need up to 2^n KiB of memory, n at most 30; by default 20, "
            + "which is a gigabyte."
    )

    static var flags: [Flag<Self>] {
        identity
        PassphraseFlags.flags(asking: "Ask at the terminal for the passphrase of the archive.")
            .map { $0.included(at: \.passphrase) }
        maximumWorkFactor
    }

    /// Reads the keys that the flags or the environment name; `nil` if they name none.
    func decryption() throws -> ArchiveDecryption? {
        var (identityPaths, namer) = (identityPaths, "--identity")
        if identityPaths.isEmpty, !passphrase.isGiven {
            namer = "MIGRATE_IDENTITY"
            guard let path = Environment.path(in: namer) else { return nil }
            identityPaths = [path]
        }
        var decryption = ArchiveDecryption()
        if let maximumWorkFactor { decryption.maximumWorkFactor = maximumWorkFactor }
        var hasEncryptedIdentity = false
        for path in identityPaths {
            var text = try InputFile.readKeys(path, of: namer)
            let isEncrypted = ArchiveDecryption.isEncrypted(identities: text)
            hasEncryptedIdentity = hasEncryptedIdentity || isEncrypted
            var secret = isEncrypted ? try passphrase.read(of: path) : []
            do throws(ArchiveError) {
                if isEncrypted {
                    try decryption.addIdentities(encrypted: text, wiping: &secret)
                } else {
                    try decryption.addIdentities(wiping: &text)
                }
            } catch  where [.passphraseWrong, .workFactorTooLarge].contains(error.code) {
                throw error
            } catch {
                let message = "the identity file is not valid: \(error.message)"
                throw MigrationError(.invalidOption, message, path: path)
            }
        }
        // The passphrase is for the identity file, if that needs one.
        if !hasEncryptedIdentity, var bytes = try passphrase.read(isNew: false) {
            try decryption.usePassphrase(wiping: &bytes)
        }
        return decryption
    }
}

/// The flags that encrypt a new archive.
struct EncryptionFlags: FlagGroup {
    private var recipients: [String] = []
    private var recipientFiles: [BytePath] = []
    private var passphrase = PassphraseFlags()
    private var isArmored = false

    static let topic: FlagTopic? = .encryption

    static var flags: [Flag<Self>] {
        Flag("recipient", value: "key", as: .text, appendingTo: \.recipients)
            .help(
                "Encrypt the archive for this public key, as 'age-keygen' or a plugin of age "
                    + "writes it; may be repeated."
            )
        Flag("recipients-file", value: "file", as: .path, appendingTo: \.recipientFiles)
            .help(
                "Encrypt the archive for the public keys in this file, one per line; may be "
                    + "repeated."
            )
        PassphraseFlags.flags(
            asking: "Encrypt the archive with a passphrase, which is asked for at the terminal."
        ).map { $0.included(at: \.passphrase) }
        Flag("armor", sets: \.isArmored).help("Write the encrypted archive as text.")
    }

    private var hasRecipients: Bool { !recipients.isEmpty || !recipientFiles.isEmpty }

    /// Whether the archive will be encrypted.
    var isGiven: Bool { hasRecipients || passphrase.isGiven }

    /// Checks that the flags are compatible, and that the keys on the command line are valid.
    func check() throws(UsageError) {
        if hasRecipients, passphrase.isGiven {
            throw UsageError(
                "an archive is encrypted for recipients or with a passphrase, not both"
            )
        }
        if isArmored, !isGiven {
            throw UsageError("option '--armor' needs '--recipient' or '--passphrase'")
        }
        if !recipients.isEmpty { _ = try Self.checked(recipients) }
    }

    /// Reads the keys or asks for the passphrase twice; `nil` if nothing is encrypted.
    func encryption() throws -> ArchiveEncryption? {
        var encryption: ArchiveEncryption
        if var bytes = try passphrase.read(isNew: true) {
            encryption = try .passphrase(wiping: &bytes)
        } else if recipients.isEmpty, recipientFiles.isEmpty {
            return nil
        } else {
            var all = recipients
            for path in recipientFiles {
                let text = try InputFile.readKeys(path, of: "--recipients-file")
                let found = ArchiveEncryption.recipients(inFile: text)
                do throws(ArchiveError) {
                    _ = try ArchiveEncryption.recipients(found)
                } catch {
                    let message = "the recipients file is not valid: \(error.message)"
                    throw MigrationError(.invalidOption, message, path: path)
                }
                all += found
            }
            encryption = try Self.checked(all)
        }
        encryption.isArmored = isArmored
        return encryption
    }

    private static func checked(_ recipients: [String]) throws(UsageError) -> ArchiveEncryption {
        do throws(ArchiveError) {
            return try .recipients(recipients)
        } catch {
            throw UsageError("option '--recipient': \(error.message)")
        }
    }
}

/// The source of a passphrase; never the command line, which other users can read.
private struct PassphraseFlags: Sendable {
    private var file: BytePath?
    private var isAskedFor = false

    var isGiven: Bool { file != nil || isAskedFor }

    static func flags(asking help: String) -> [Flag<Self>] {
        let asked = Flag<Self>("passphrase", sets: \.isAskedFor).help(help)
        let file = Flag<Self>("passphrase-file", value: "file", as: .path, to: \.file)
            .help("A file that holds the passphrase in one line.")
        return [file.excluding(asked), asked]
    }

    /// Reads the passphrase of an identity file, which is asked for unless a file holds it.
    func read(of identity: BytePath) throws -> [UInt8] {
        if file != nil, let bytes = try read(isNew: false) { return bytes }
        return try ask("Passphrase of '\(PrintableText.escaping(identity))': ")
    }

    /// Reads the passphrase, if one is given; a new one is asked for twice.
    func read(isNew: Bool) throws -> [UInt8]? {
        if let file {
            var bytes = try InputFile.readKeys(file, of: "--passphrase-file")
            guard bytes.takeLine() else {
                Secret.wipe(&bytes)
                let message = "the passphrase file holds no passphrase, or more than one line"
                throw MigrationError(.invalidOption, message, path: file)
            }
            return bytes
        }
        guard isAskedFor else { return nil }
        var first = try ask("Passphrase: ")
        guard isNew else { return first }
        var second = try ask("Repeat the passphrase: ")
        defer { Secret.wipe(&second) }
        guard first == second else {
            Secret.wipe(&first)
            throw UsageError("the two passphrases differ")
        }
        return first
    }

    private func ask(_ prompt: String) throws -> [UInt8] {
        do {
            let line = try SecretInput.line(
                prompt: prompt,
                limit: 4096,
                cancellation: SignalWatch.interruption
            )
            guard var bytes = line, bytes.takeLine() else {
                throw UsageError("a passphrase must have 1 to 4,096 bytes")
            }
            return bytes
        } catch let error as SystemError {
            throw UsageError(
                "there is no terminal to ask for a passphrase (\(error)); '--passphrase-file' reads one"
            )
        }
    }
}

extension [UInt8] {
    /// Removes the line ending; returns whether the bytes are one line that is not empty.
    fileprivate mutating func takeLine() -> Bool {
        if last == UInt8(ascii: "\n") { removeLast() }
        if last == UInt8(ascii: "\r") { removeLast() }
        return !isEmpty && !contains(UInt8(ascii: "\n"))
    }
}
