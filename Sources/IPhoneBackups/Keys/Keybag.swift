internal import MigrationArchive

/// The keys of a backup's protection classes, which its password unlocks.
///
/// The bag is a list of records: a tag of four characters, a length of four bytes, and the value.
/// The records before the second `UUID` describe the bag, and each `UUID` after that begins a
/// class.
struct Keybag {
    private struct ClassKey {
        var number: UInt32?
        var wrapping: UInt32?
        var key: [UInt8] = []
    }

    /// The bits of `WRAP`.
    private enum Wrapping {
        static let byPassword: UInt32 = 2
    }

    private static let sizeLimit = 64 << 10
    private static let classLimit = 64
    /// The `TYPE` of a backup's bag, in the relevant bits.
    private static let backupType: UInt32 = 1
    private static let typeMask: UInt32 = 0x3FFF_FFFF
    /// The maximum accepted rounds; devices use 10,000,000 and 10,000, and more would only waste
    /// time.
    private static let roundLimits = (first: 50_000_000, second: 1_000_000)

    private var salt: [UInt8] = []
    private var rounds: Int?
    /// The salt and the rounds of the first derivation, since iOS 10.2.
    private var firstSalt: [UInt8] = []
    private var firstRounds: Int?
    private var classes: [ClassKey] = []

    /// Reads a bag.
    ///
    /// - Throws: ``ArchiveError`` of code `damaged`.
    init(_ bytes: [UInt8]) throws(ArchiveError) {
        guard bytes.count <= Self.sizeLimit else { throw Self.damaged("it takes over 64 KiB") }
        var (rest, isInClass, hasIdentity) = (bytes[...], false, false)
        while !rest.isEmpty {
            let tag = String(decoding: rest.prefix(4), as: UTF8.self)
            let length = Self.number(rest.dropFirst(4).prefix(4))
            rest = rest.dropFirst(8)
            guard let length, Int(length) <= rest.count else {
                throw Self.damaged("a record is longer than the keybag")
            }
            let value = [UInt8](rest.prefix(Int(length)))
            rest = rest.dropFirst(Int(length))
            if tag == "UUID" {
                isInClass = hasIdentity
                hasIdentity = true
                if isInClass { classes.append(ClassKey()) }
            }
            try isInClass ? takeOfClass(tag, value) : take(tag, value)
            guard classes.count <= Self.classLimit else { throw Self.damaged("too many classes") }
        }
        try check()
    }

    private mutating func take(_ tag: String, _ value: [UInt8]) throws(ArchiveError) {
        switch tag {
        case "TYPE":
            let type = try Self.number(tag, value) & Self.typeMask
            guard type == Self.backupType else { throw Self.damaged("it is of another kind") }
        case "SALT": salt = value
        case "ITER": rounds = Int(try Self.number(tag, value))
        case "DPSL": firstSalt = value
        case "DPIC": firstRounds = Int(try Self.number(tag, value))
        default: break
        }
    }

    private mutating func takeOfClass(_ tag: String, _ value: [UInt8]) throws(ArchiveError) {
        let last = classes.count - 1
        switch tag {
        case "CLAS": classes[last].number = try Self.number(tag, value)
        case "WRAP": classes[last].wrapping = try Self.number(tag, value)
        case "WPKY": classes[last].key = value
        default: break
        }
    }

    private func check() throws(ArchiveError) {
        guard let rounds, !salt.isEmpty, !classes.isEmpty else {
            throw Self.damaged("records are missing")
        }
        try Self.check(rounds, limit: Self.roundLimits.second)
        if let firstRounds {
            guard !firstSalt.isEmpty else { throw Self.damaged("records are missing") }
            try Self.check(firstRounds, limit: Self.roundLimits.first)
        }
        let numbers = classes.compactMap(\.number)
        guard numbers.count == classes.count, Set(numbers).count == numbers.count else {
            throw Self.damaged("a class has no number, or comes twice")
        }
    }

    private static func check(_ rounds: Int, limit: Int) throws(ArchiveError) {
        guard (1...limit).contains(rounds) else {
            throw damaged("it asks for \(rounds) rounds, and 1 to \(limit) are allowed")
        }
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> UInt32? {
        bytes.count == 4 ? bytes.reduce(0) { $0 << 8 | UInt32($1) } : nil
    }

    private static func number(_ tag: String, _ value: [UInt8]) throws(ArchiveError) -> UInt32 {
        guard let number = number(value[...]) else {
            throw damaged("\(tag) isn't a number of four bytes")
        }
        return number
    }

    private static func damaged(_ reason: String) -> ArchiveError {
        ArchiveError(.damaged, "the backup's keybag is damaged: \(reason)")
    }

    // MARK: - Opening

    /// Opens the classes that only the password protects.
    ///
    /// The keys of the other classes are also wrapped with a key that never leaves the device. No
    /// file of an app has such a class.
    ///
    /// - Returns: The keys by the numbers of their classes.
    /// - Throws: ``ArchiveError`` of codes `passphraseWrong` and `damaged`.
    func open(with password: Secret) throws(ArchiveError) -> [UInt32: Secret] {
        var secret = password
        if let firstRounds {
            secret = BackupCipher.derive(secret, salt: firstSalt, rounds: firstRounds, .sha256)
        }
        let key = BackupCipher.derive(secret, salt: salt, rounds: rounds ?? 1, .sha1)
        var keys: [UInt32: Secret] = [:]
        var failures = 0
        for item in classes where item.wrapping == Wrapping.byPassword {
            guard let number = item.number,
                let plain = BackupCipher.unwrap(item.key, with: key)
            else {
                failures += 1
                continue
            }
            keys[number] = plain
        }
        guard !keys.isEmpty || failures > 0 else {
            throw Self.damaged("it holds no class that the password opens")
        }
        guard !keys.isEmpty else {
            throw ArchiveError(.passphraseWrong, "the backup has another password")
        }
        guard failures == 0 else {
            throw Self.damaged("\(failures) of its classes can't be opened, though others can")
        }
        return keys
    }
}

/// A key that is wrapped with the key of a class in the keybag.
struct WrappedKey: Sendable {
    private static let size = 4 + BackupCipher.keySize + 8

    /// The number of the class.
    let protectionClass: UInt32
    private let wrapped: [UInt8]

    /// Reads the class's number, a little-endian one, and the key; `nil` if the length is wrong.
    init?(_ bytes: [UInt8]) {
        guard bytes.count == Self.size else { return nil }
        protectionClass = bytes.prefix(4).reversed().reduce(0) { $0 << 8 | UInt32($1) }
        wrapped = [UInt8](bytes.dropFirst(4))
    }

    /// The key; `nil` if the class is missing, or the key was changed.
    func open(with keys: [UInt32: Secret]) -> Secret? {
        keys[protectionClass].flatMap { BackupCipher.unwrap(wrapped, with: $0) }
    }
}
