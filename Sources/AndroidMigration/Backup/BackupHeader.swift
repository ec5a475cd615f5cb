internal import MigrationArchive
internal import MigrationSystem

/// The lines at the start of an `.ab` file.
struct BackupHeader {
    /// The first line of every `.ab` file.
    static let mark = [UInt8]("ANDROID BACKUP\n".utf8)

    private static let lineLimit = 1024
    /// More rounds than any device uses; they still take only a few seconds.
    private static let roundLimit = 10_000_000

    let version: Int
    let isCompressed: Bool

    /// The encryption of the content; `nil` if it isn't encrypted.
    let lock: BackupLock?

    /// Reads the header and leaves the input at the start of the content.
    init(_ input: ArchiveInput) throws {
        _ = try Self.line(of: input, "the mark")
        let version = try Self.line(of: input, "the version")
        guard let number = Int(version) else {
            throw Self.damaged("the version '\(PrintableText.escaping(version))' isn't a number")
        }
        guard (1...5).contains(number) else {
            let message = "the backup is of version \(number), and versions 1 to 5 are known"
            throw AndroidMigrationError(.unsupported, message)
        }
        self.version = number
        let compression = try Self.line(of: input, "the compression")
        guard ["0", "1"].contains(compression) else {
            throw Self.damaged(
                "the compression '\(PrintableText.escaping(compression))' is unknown"
            )
        }
        isCompressed = compression == "1"
        switch try Self.line(of: input, "the encryption") {
        case "none": lock = nil
        case "AES-256": lock = try Self.lock(of: input)
        case let other:
            let message = "the encryption '\(PrintableText.escaping(other))' is not known"
            throw AndroidMigrationError(.unsupported, message)
        }
    }

    private static func lock(of input: ArchiveInput) throws -> BackupLock {
        let userSalt = try hexadecimal(line(of: input, "the salt"), count: 64...64, as: "the salt")
        let checksumSalt = try hexadecimal(
            line(of: input, "the checksum's salt"),
            count: 64...64,
            as: "the checksum's salt"
        )
        let rounds = try line(of: input, "the rounds")
        guard let number = Int(rounds), number > 0 else {
            throw damaged("the number of rounds is none")
        }
        guard number <= roundLimit else {
            let message = "the password takes \(number) rounds, and at most \(roundLimit) are run"
            throw AndroidMigrationError(.unsupported, message)
        }
        return BackupLock(
            userSalt: userSalt,
            checksumSalt: checksumSalt,
            rounds: number,
            userVector: try hexadecimal(
                line(of: input, "the vector"),
                count: 16...16,
                as: "the vector"
            ),
            blob: try hexadecimal(line(of: input, "the key"), count: 16...256, as: "the key")
        )
    }

    private static func hexadecimal(
        _ line: String,
        count: ClosedRange<Int>,
        as content: String
    ) throws -> [UInt8] {
        let digits = line.compactMap(\.hexDigitValue)
        guard digits.count == line.utf8.count, digits.count.isMultiple(of: 2),
            count.contains(digits.count / 2)
        else { throw damaged("\(content) is not of hexadecimal digits in the right number") }
        return stride(from: 0, to: digits.count, by: 2).map {
            UInt8(digits[$0] << 4 | digits[$0 + 1])
        }
    }

    private static func line(of input: ArchiveInput, _ content: String) throws -> String {
        let available = try input.lookAhead(lineLimit)
        guard let end = input.ahead.prefix(available).firstIndex(of: UInt8(ascii: "\n")) else {
            throw damaged("the header ends before \(content)")
        }
        let line = [UInt8](input.ahead[..<end])
        var taken = [UInt8](repeating: 0, count: line.count + 1)
        try input.readExactly(into: &taken, from: 0, count: taken.count)
        return String(decoding: line, as: UTF8.self)
    }

    private static func damaged(_ reason: String) -> AndroidMigrationError {
        AndroidMigrationError(.damaged, "the backup's header is damaged: \(reason)")
    }
}
