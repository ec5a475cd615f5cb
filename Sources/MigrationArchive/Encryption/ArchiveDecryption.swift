internal import MigrationSystem

/// The keys that open encrypted archives: identities, a passphrase, or both.
///
/// The keys are wiped when the last copy of the value is destroyed. Until then the process writes no
/// core dump. An archive that is not encrypted is read without keys.
public struct ArchiveDecryption: Sendable {
    /// The largest accepted work factor of a passphrase, as a power of two.
    ///
    /// A work factor of 20 takes 1 GiB of memory.
    public var maximumWorkFactor = 20

    private var identities: [X25519.Identity] = []
    /// The identities of plugins, as text.
    private var plugins: [AgePlugin: [Secret]] = [:]
    private var passphrase: Passphrase?

    /// Makes a value without keys.
    public init() {}

    /// Adds the identities in a file that `age-keygen` wrote.
    ///
    /// - Parameter text: The file's bytes, which are wiped.
    /// - Throws: ``ArchiveError`` of code `keyInvalid` if a line is not an identity, or the file has none.
    public mutating func addIdentities(wiping text: inout [UInt8]) throws(ArchiveError) {
        defer { Secret.wipe(&text) }
        var count = 0
        let lines = text.split(omittingEmptySubsequences: false) { $0 == UInt8(ascii: "\n") }
        for (index, rawLine) in lines.enumerated() {
            let line = rawLine.last == UInt8(ascii: "\r") ? rawLine.dropLast() : rawLine
            if line.isEmpty || line.first == UInt8(ascii: "#") { continue }
            count += 1
            if let identity = X25519.Identity(line) {
                identities.append(identity)
            } else if let plugin = AgePlugin(identity: line) {
                plugins[plugin, default: []].append(Secret(copying: line))
            } else {
                throw Self.wrongIdentity(line, number: index + 1)
            }
        }
        guard count > 0 else { throw ArchiveError(.keyInvalid, "the file holds no identity") }
    }

    /// Adds the identities in a file that is itself encrypted with a passphrase.
    ///
    /// - Parameters:
    ///   - text: The file's bytes, for which ``isEncrypted(identities:)`` holds.
    ///   - passphrase: The passphrase of the file, which is wiped.
    /// - Throws: ``ArchiveError`` of codes `keyInvalid`, `passphraseWrong` and `workFactorTooLarge`.
    public mutating func addIdentities(
        encrypted text: [UInt8],
        wiping passphrase: inout [UInt8]
    ) throws(ArchiveError) {
        var key = ArchiveDecryption()
        key.maximumWorkFactor = maximumWorkFactor
        try key.usePassphrase(wiping: &passphrase)
        var plain: [UInt8]
        do {
            plain = try EncryptedFile.content(of: text, with: key)
        } catch let error as ArchiveError where error.code == .passphraseWrong {
            let message = "the passphrase does not open the identity file"
            throw ArchiveError(.passphraseWrong, message)
        } catch let error as ArchiveError {
            throw error
        } catch {
            throw ArchiveError(.keyInvalid, "the identity file can't be decrypted: \(error)")
        }
        try addIdentities(wiping: &plain)
    }

    /// Whether a file of identities is itself encrypted, as by `age -p`.
    ///
    /// - Parameter text: The file's bytes.
    /// - Returns: Whether they begin like an encrypted file or its text form.
    public static func isEncrypted(identities text: [UInt8]) -> Bool {
        text.starts(with: AgeHeader.magic) || text.starts(with: AgeArmor.begin)
    }

    /// Uses a passphrase, for an archive that was encrypted with one.
    ///
    /// It is wiped as soon as a key is derived from it, so the value opens only that archive.
    ///
    /// - Parameter passphrase: The passphrase's bytes, which are wiped.
    /// - Throws: ``ArchiveError`` of code `keyInvalid` if it is empty.
    public mutating func usePassphrase(wiping passphrase: inout [UInt8]) throws(ArchiveError) {
        self.passphrase = try Passphrase(wiping: &passphrase)
    }

    /// An error that doesn't repeat the line, which may be a key.
    private static func wrongIdentity(_ line: ArraySlice<UInt8>, number: Int) -> ArchiveError {
        let roundabout = "; decrypt with 'age -d' and import from its pipe"
        let kinds: [(start: String, message: String)] = [
            ("AGE-PLUGIN-", "is not an identity as an age plugin writes it"),
            ("-----BEGIN", "is an SSH or other key, which is not supported\(roundabout)"),
            (
                "AGE-SECRET-KEY-PQ-",
                "is a post-quantum identity, which is not supported\(roundabout)"
            ),
        ]
        let kind = kinds.first { line.starts(with: $0.start.utf8) }
        let message = kind?.message ?? "is not an identity as 'age-keygen' writes it"
        return ArchiveError(.keyInvalid, "line \(number) \(message)")
    }
}

// MARK: - Opening

extension ArchiveDecryption {
    /// Unwraps the file key in a header.
    func fileKey(of header: AgeHeader, on operation: MigrationOperation) throws -> Secret {
        if let stanza = header.stanzas.first(where: { $0.kind == ScryptStanza.kind }) {
            guard header.stanzas.count == 1 else {
                throw AgeHeader.damage(
                    "it has a passphrase and other recipients, which the format forbids"
                )
            }
            return try fileKey(of: try ScryptStanza(stanza))
        }
        var isSupported = false
        var fileKey: Secret?
        for stanza in header.stanzas where stanza.kind == X25519.kind {
            guard stanza.arguments.count == 2,
                let share = Base64.decode([UInt8](stanza.arguments[1].utf8)[...], isPadded: false),
                share.count == 32, stanza.body.count == 32
            else { throw AgeHeader.damage("a recipient of kind X25519 is malformed") }
            isSupported = true
            for identity in identities where fileKey == nil {
                fileKey = try identity.unwrap(share: share, body: stanza.body)
            }
        }
        for (plugin, keys) in plugins.sorted(by: { $0.key.name < $1.key.name }) where fileKey == nil
        {
            isSupported = true
            fileKey = try plugin.unwrap(header.stanzas, with: keys, on: operation)
        }
        if let fileKey { return fileKey }
        let who = Self.description(of: header)
        guard isSupported else { throw Self.unsupported(who) }
        guard !identities.isEmpty || !plugins.isEmpty else {
            let message = "the archive is encrypted \(who), and no identity was given"
            throw ArchiveError(.keyMissing, message)
        }
        let message = "none of the identities opens the archive, encrypted \(who)"
        throw ArchiveError(.keyRefused, message)
    }

    private func fileKey(of stanza: ScryptStanza) throws(ArchiveError) -> Secret {
        guard let passphrase else {
            let message = "the archive is encrypted with a passphrase, and none was given"
            throw ArchiveError(.keyMissing, message)
        }
        guard stanza.workFactor <= maximumWorkFactor else {
            let message =
                "the archive's passphrase has a work factor of \(stanza.workFactor), which takes "
                + "more memory than the limit of \(maximumWorkFactor) allows"
            throw ArchiveError(.workFactorTooLarge, message)
        }
        let key = try passphrase.key(salt: stanza.salt, workFactor: stanza.workFactor)
        guard let fileKey = ChunkCipher.unwrap(stanza.body, with: key) else {
            throw ArchiveError(.passphraseWrong, "the passphrase does not open the archive")
        }
        return fileKey
    }

    /// The error for a caller without a key.
    static func keyMissing(_ header: AgeHeader) -> ArchiveError {
        let who = description(of: header)
        let isOpenable = header.stanzas.contains {
            [X25519.kind, ScryptStanza.kind].contains($0.kind)
        }
        guard isOpenable else { return unsupported(who) }
        return ArchiveError(.keyMissing, "the archive is encrypted \(who)")
    }

    private static func unsupported(_ who: String) -> ArchiveError {
        let message = "the archive is encrypted \(who), which only other programs open: "
        return ArchiveError(
            .keyRefused,
            message
                + "give the identity of an age plugin, or decrypt it with 'age -d' and read its pipe"
        )
    }

    /// The number and kinds of recipients, in words.
    private static func description(of header: AgeHeader) -> String {
        if header.stanzas.contains(where: { $0.kind == ScryptStanza.kind }) {
            return "with a passphrase"
        }
        var counts: [(kind: String, count: Int)] = []
        for stanza in header.stanzas {
            if let index = counts.firstIndex(where: { $0.kind == stanza.kind }) {
                counts[index].count += 1
            } else {
                counts.append((stanza.kind, 1))
            }
        }
        let shown = counts.prefix(8).map { kind, count in
            let name = PrintableText.escaping(String(kind.prefix(40)))
            return "\(count) \(count == 1 ? "recipient" : "recipients") of kind \(name)"
        }
        let rest = counts.count > 8 ? " and of other kinds" : ""
        return "for \(shown.joined(separator: ", "))\(rest)"
    }
}

// MARK: - The file

/// An encrypted file, which is recognized by its first bytes.
enum EncryptedFile {
    /// Returns the content of `raw`, decrypted if `raw` is an encrypted file.
    ///
    /// - Throws: ``ArchiveError`` of code `keyMissing` if it is encrypted and `decryption` is `nil`,
    ///   and of the codes for wrong keys and damage.
    static func open(
        _ raw: any ByteSource,
        with decryption: ArchiveDecryption?,
        on operation: MigrationOperation = MigrationOperation()
    ) throws -> ByteReader {
        let source = ByteReader(raw, on: operation)
        _ = try source.lookAhead(AgeHeader.magic.count)
        if source.ahead.starts(with: AgeHeader.magic) {
            return try payload(of: source, with: decryption)
        }
        guard try beginsWithArmor(source) else { return source }
        let armor = ByteReader(try ArmorSource(reading: source), on: operation)
        return try payload(of: armor, with: decryption)
    }

    /// The content of a small encrypted file in memory.
    static func content(
        of bytes: [UInt8],
        with decryption: ArchiveDecryption
    ) throws -> [UInt8] {
        let reader = try open(ByteArraySource(bytes), with: decryption)
        var content = [UInt8](repeating: 0, count: bytes.count)
        do {
            let count = try reader.fill(&content, count: content.count)
            // The rest was never written: it is zeros.
            content.removeLast(content.count - count)
            return content
        } catch {
            Secret.wipe(&content)
            throw error
        }
    }

    private static func payload(
        of source: ByteReader,
        with decryption: ArchiveDecryption?
    ) throws -> ByteReader {
        let header = try AgeHeader(reading: source)
        guard let decryption else { throw ArchiveDecryption.keyMissing(header) }
        let fileKey = try decryption.fileKey(of: header, on: source.operation)
        try header.authenticate(with: fileKey)
        guard try source.lookAhead(ChunkCipher.nonceSize) >= ChunkCipher.nonceSize else {
            throw AgeHeader.damage("the archive ends behind it")
        }
        let nonce = Array(source.ahead.prefix(ChunkCipher.nonceSize))
        source.skip(nonce.count)
        let key = ChunkCipher.key(of: fileKey, nonce: nonce)
        let payload: any ByteSource =
            if source.size == nil {
                SequentialPayload(reading: source, key)
            } else {
                try SeekablePayload(reading: source.source, from: source.position, key)
            }
        return ByteReader(payload, on: source.operation)
    }

    /// Whether `source` begins with an armor, perhaps after white space.
    private static func beginsWithArmor(_ source: ByteReader) throws -> Bool {
        let magic = AgeArmor.magic
        let most = AgeArmor.spaceLimit + magic.count
        if try source.lookAhead(magic.count) > 0, let first = source.ahead.first,
            AgeArmor.spaces.contains(first)
        {
            _ = try source.lookAhead(most)
        }
        let start = source.ahead.prefix(most).drop { AgeArmor.spaces.contains($0) }
        return start.starts(with: magic)
    }
}
