internal import IPhoneBackups
internal import MigrationArchive
internal import MigrationSystem

/// The flags that say how to read a backup of an iPhone.
struct IPhoneBackupFlags: FlagGroup {
    private var passwordFile: BytePath?

    /// How long a password may be, in bytes.
    private static let limit = 4_096

    static let topic: FlagTopic? = .archive

    static var flags: [Flag<Self>] {
        Flag("password-file", value: "file", as: .path, to: \.passwordFile)
            .help(
                "A file whose first line is the password of an encrypted backup; without it, the "
                    + "password is asked for at the terminal."
            )
    }

    /// How to open the backup; the password is read only if it is needed.
    func options(on console: Console) -> IPhoneBackup.Options {
        var options = IPhoneBackup.Options()
        let file = passwordFile
        options.password = { try Self.password(from: file) }
        options.onDerivingKey = { console.log("migrate: deriving the key of the backup") }
        return options
    }

    private static func password(from file: BytePath?) throws -> Secret? {
        guard let file else { return try askForPassword() }
        var bytes = try InputFile.readKeys(file, of: "--password-file", limit: limit)
        return Secret(firstLineOf: &bytes)
    }

    /// Asks at the terminal; `nil` without one.
    private static func askForPassword() throws -> Secret? {
        do {
            let line = try SecretInput.line(
                prompt: "Password of the backup: ",
                limit: limit,
                cancellation: SignalWatch.interruption
            )
            guard var bytes = line else {
                throw UsageError("a password has at most 4,096 bytes")
            }
            return Secret(firstLineOf: &bytes)
        } catch is SystemError {
            return nil
        }
    }
}

extension Secret {
    /// Makes a secret of the bytes before the end of the first line, and wipes them all.
    fileprivate convenience init(firstLineOf bytes: inout [UInt8]) {
        let end = bytes.firstIndex { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }
        self.init(copying: bytes[..<(end ?? bytes.endIndex)])
        Secret.wipe(&bytes)
    }
}

extension Argument {
    static func iPhoneBackup(to path: Property<Owner, BytePath>) -> Argument {
        Argument("backup", as: .path, to: path)
            .help(
                "The directory of a backup by Finder, iTunes, Apple Devices or idevicebackup2, or "
                    + "one that holds a single backup."
            )
    }
}

extension Flag {
    static func allowUnfinished(sets property: Property<Owner, Bool>) -> Flag {
        Flag("allow-unfinished", sets: property)
            .help("Read a backup that the device did not finish.")
            .about(.archive)
    }
}
