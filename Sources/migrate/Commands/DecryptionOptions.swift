import Foundation
import MigrationArchive
import MigrationCore
import MigrationSystem

/// What the command line says of an encrypted archive that is read.
struct DecryptionOptions: Hashable, Sendable {
    static let descriptions =
        [
            OptionDescription(
                name: "identity",
                help:
                    "The file of a key that opens the archive where it is encrypted, as 'age-keygen' "
                    + "writes it; may be given again. MIGRATE_IDENTITY names one too.",
                valueName: "file",
                isRepeatable: true,
                completion: .file
            )
        ]
        + PassphraseOptions.descriptions(
            asked: "Ask at the terminal for the passphrase that opens the archive."
        ) + [
            OptionDescription(
                name: "max-work-factor",
                help:
                    "Take passphrases that need 2^n KiB of memory, up to 30; 20 by default, a gigabyte.",
                valueName: "n"
            )
        ]

    private let identityPaths: [[UInt8]]
    private let passphrase: PassphraseOptions?
    private let maximumWorkFactor: Int?

    /// Takes what `arguments` or the environment say; `nil` where they say nothing.
    init?(_ arguments: ParsedArguments) throws(UsageError) {
        passphrase = try PassphraseOptions(arguments)
        maximumWorkFactor = try arguments.number("max-work-factor", in: 1...30)
        let given = arguments.values["identity"] ?? []
        guard !given.contains([]) else {
            throw UsageError("option '--identity' has an empty value")
        }
        let environment = ProcessInfo.processInfo.environment["MIGRATE_IDENTITY"] ?? ""
        let hasOther = !given.isEmpty || passphrase != nil || environment.isEmpty
        identityPaths = hasOther ? given : [[UInt8](environment.utf8)]
        if identityPaths.isEmpty, passphrase == nil { return nil }
    }

    /// Reads the keys.
    func decryption() throws -> ArchiveDecryption {
        var decryption = ArchiveDecryption()
        if let maximumWorkFactor { decryption.maximumWorkFactor = maximumWorkFactor }
        for path in identityPaths {
            var text = try KeyFile.read(path, "identity file")
            do throws(ArchiveError) {
                try decryption.addIdentities(wiping: &text)
            } catch {
                let message = "the identity file is not valid: \(error.message)"
                throw MigrationError(.invalidOption, message, path: path)
            }
        }
        if var bytes = try passphrase?.read(isNew: false) {
            try decryption.usePassphrase(wiping: &bytes)
        }
        return decryption
    }

    /// The option that helps where an archive can't be opened.
    static func hint(for code: ArchiveError.Code) -> String {
        switch code {
        case .keyMissing: "; give '--identity', '--passphrase' or '--passphrase-file'"
        case .workFactorTooLarge: "; '--max-work-factor' allows more"
        default: ""
        }
    }
}

/// What the command line says of an archive that is to be encrypted.
struct EncryptionOptions: Sendable {
    static let descriptions =
        [
            OptionDescription(
                name: "recipient",
                help:
                    "Encrypt the archive for this public key, as 'age-keygen' writes it; may be given "
                    + "again.",
                valueName: "key",
                isRepeatable: true
            ),
            OptionDescription(
                name: "recipients-file",
                help: "Encrypt the archive for the public keys in the file, one on a line.",
                valueName: "file",
                isRepeatable: true,
                completion: .file
            ),
        ]
        + PassphraseOptions.descriptions(
            asked: "Encrypt the archive with a passphrase, asked for at the terminal."
        ) + [
            OptionDescription(name: "armor", help: "Write the encrypted archive as text.")
        ]

    private let recipients: [String]
    private let recipientFiles: [[UInt8]]
    private let passphrase: PassphraseOptions?
    private let isArmored: Bool

    /// Takes what `arguments` say; `nil` where nothing is encrypted.
    init?(_ arguments: ParsedArguments) throws(UsageError) {
        recipients = try arguments.texts("recipient")
        recipientFiles = arguments.values["recipients-file"] ?? []
        passphrase = try PassphraseOptions(arguments)
        isArmored = arguments.has("armor")
        let hasRecipients = !recipients.isEmpty || !recipientFiles.isEmpty
        if hasRecipients, passphrase != nil {
            throw UsageError(
                "an archive is encrypted for recipients or with a passphrase, not both"
            )
        }
        if !hasRecipients, passphrase == nil {
            guard !isArmored else {
                throw UsageError("option '--armor' needs '--recipient' or '--passphrase'")
            }
            return nil
        }
        if !recipients.isEmpty { _ = try Self.checked(recipients) }
    }

    /// Reads the keys, or asks for the passphrase twice.
    func encryption() throws -> ArchiveEncryption {
        var encryption: ArchiveEncryption
        if var bytes = try passphrase?.read(isNew: true) {
            encryption = try .passphrase(wiping: &bytes)
        } else {
            var all = recipients
            for path in recipientFiles {
                let text = try KeyFile.read(path, "recipients file")
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

/// Where a passphrase comes from; never the command line, which everyone may read.
private struct PassphraseOptions: Hashable, Sendable {
    private enum Origin: Hashable {
        case file([UInt8])
        case terminal
    }

    private let origin: Origin

    static func descriptions(asked: String) -> [OptionDescription] {
        [
            OptionDescription(
                name: "passphrase-file",
                help: "The file that holds the passphrase, in one line.",
                valueName: "file",
                completion: .file,
                rival: "passphrase"
            ),
            OptionDescription(name: "passphrase", help: asked),
        ]
    }

    init?(_ arguments: ParsedArguments) throws(UsageError) {
        if arguments.isGiven("passphrase-file") {
            origin = .file(try arguments.path("passphrase-file"))
        } else if arguments.has("passphrase") {
            origin = .terminal
        } else {
            return nil
        }
    }

    /// Reads the passphrase; a new one is asked for twice.
    func read(isNew: Bool) throws -> [UInt8] {
        switch origin {
        case .terminal:
            var first = try ask("Passphrase: ")
            guard isNew else { return first }
            var second = try ask("The same again: ")
            defer { KeyFile.wipe(&second) }
            guard first == second else {
                KeyFile.wipe(&first)
                throw UsageError("the two passphrases differ")
            }
            return first
        case .file(let path):
            var bytes = try KeyFile.read(path, "passphrase file")
            guard KeyFile.takeLine(&bytes) else {
                KeyFile.wipe(&bytes)
                let message = "the passphrase file holds no passphrase, or more than one line"
                throw MigrationError(.invalidOption, message, path: path)
            }
            return bytes
        }
    }

    private func ask(_ prompt: String) throws -> [UInt8] {
        do {
            let line = try SecretInput.line(
                prompt: prompt,
                limit: 4096,
                cancellation: SignalWatch.interruption
            )
            guard var bytes = line, KeyFile.takeLine(&bytes) else {
                throw UsageError("a passphrase has from 1 to 4,096 bytes")
            }
            return bytes
        } catch let error as SystemError {
            throw UsageError(
                "there is no terminal to ask for a passphrase (\(error)); '--passphrase-file' reads one"
            )
        }
    }
}

/// The files that keys are in.
private enum KeyFile {
    private static let limit = 1 << 20

    static func read(_ path: [UInt8], _ name: String) throws(MigrationError) -> [UInt8] {
        let bytes: [UInt8]?
        do throws(SystemError) {
            bytes = try SecretInput.file(path, limit: limit)
        } catch {
            throw MigrationError(
                .invalidOption,
                "the \(name) can't be read",
                path: path,
                cause: error
            )
        }
        guard let bytes else {
            let message = "the \(name) is larger than a file of keys can be"
            throw MigrationError(.invalidOption, message, path: path)
        }
        return bytes
    }

    /// Cuts off the end of the line that `bytes` hold; returns whether they hold one that is not empty.
    static func takeLine(_ bytes: inout [UInt8]) -> Bool {
        if bytes.last == UInt8(ascii: "\n") { bytes.removeLast() }
        if bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
        return !bytes.isEmpty && !bytes.contains(UInt8(ascii: "\n"))
    }

    static func wipe(_ bytes: inout [UInt8]) {
        for index in bytes.indices { bytes[index] = 0 }
    }
}
