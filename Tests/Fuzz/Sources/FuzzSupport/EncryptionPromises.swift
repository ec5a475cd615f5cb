@testable internal import MigrationArchive

/// The rules that every file must satisfy, whether or not it is encrypted.
public enum EncryptionPromises {
    private static let opened = "encrypted file that was opened"
    private static let refused = "payload that was refused"
    private static let parsed = "header that is in its form"
    private static let unarmored = "armor that was taken off"

    /// The milestones that the seeds must reach.
    public static let milestones = [opened, refused, parsed, unarmored]

    private static let identity =
        "AGE-SECRET-KEY-1EGTZVFFV20835NWYV6270LXYVK2VKNX2MMDKWYKLMGR48UAWX40Q2P2LM0"

    /// Uses the first byte to choose the form of the rest: a whole file, a header, what is in an
    /// armor, or chunks.
    public static func check(_ bytes: [UInt8]) throws {
        let rest = [UInt8](bytes.dropFirst())
        switch (bytes.first ?? 0) & 3 {
        case 0: try checkFile(rest)
        case 1: try checkHeader(rest)
        case 2: try checkArmor(rest)
        default: try checkChunks(rest)
        }
    }

    /// Seeds of each kind.
    public static var seeds: [[UInt8]] {
        let key = KeyDerivation.randomSecret(16)
        guard let recipient = X25519.Identity([UInt8](identity.utf8)[...])?.recipient,
            let stanza = recipient.wrap(key)
        else { fatalError("no key") }
        let header = AgeHeader.encode(
            [stanza, AgeStanza(arguments: ["grease", "a"], body: [])],
            fileKey: key
        )
        let armored = armored(header)
        return [[0] + header, [1] + header, [0] + armored, [2] + armored] + [
            [3, 0, 0x81], [3, 0x80], [3, 0, 0, 0x85], [3, 0, 0x40], [3, 1, 0x81], [3, 0xC0, 0x80],
        ]
    }

    private static var decryption: ArchiveDecryption {
        get throws {
            var decryption = ArchiveDecryption()
            decryption.maximumWorkFactor = 4
            var text = [UInt8](identity.utf8)
            try decryption.addIdentities(wiping: &text)
            var passphrase = [UInt8]("word".utf8)
            try decryption.usePassphrase(wiping: &passphrase)
            return decryption
        }
    }

    /// The content, read as from a file or from a pipe; `nil` if it is refused.
    private static func content(_ file: [UInt8], isFile: Bool) throws -> [UInt8]? {
        do {
            let source = MemoryBytes(file, isSequential: !isFile)
            return try EncryptedFile.open(source, with: decryption).readAll()
        } catch is ArchiveError {
            return nil
        }
    }

    private static func checkFile(_ file: [UInt8]) throws {
        let content = try content(file, isFile: true)
        FuzzTarget.require(
            try content == Self.content(file, isFile: false),
            "a file and a pipe give the same"
        )
        if content != nil { Milestones.reach(opened) }
    }

    private static func checkHeader(_ bytes: [UInt8]) throws {
        let source = ByteReader(MemoryBytes(bytes, isSequential: true))
        let header = try AgeHeader(reading: source)
        Milestones.reach(parsed)
        let again =
            [UInt8]("\(AgeHeader.version)\n".utf8) + header.stanzas.flatMap(\.encoded)
            + [UInt8]("---".utf8)
        FuzzTarget.require(bytes.starts(with: again), "there is one way to write a header")
    }

    private static func armored(_ bytes: [UInt8]) -> [UInt8] {
        var armored: [UInt8] = []
        let armor = try? ArmorWriter { part in
            for index in part.indices { armored.append(part[index]) }
        }
        try? armor?.append(bytes.span)
        try? armor?.finish()
        return armored
    }

    private static func checkArmor(_ bytes: [UInt8]) throws {
        let source = ByteReader(MemoryBytes(bytes, isSequential: true))
        let content = try ByteReader(ArmorSource(reading: source)).readAll()
        Milestones.reach(unarmored)
        let spaces = AgeArmor.spaces
        let given = bytes.filter { $0 != UInt8(ascii: "\r") }.drop { spaces.contains($0) }
        let again = armored(content).dropLast()
        FuzzTarget.require(given.starts(with: again), "there is one way to write an armor")
    }

    /// Seals a chunk for each byte: its lowest bits are the number, bit 6 makes it short, bit 7 marks it
    /// as the last.
    private static func checkChunks(_ script: [UInt8]) throws {
        let steps = script.prefix(12)
        let key = KeyDerivation.randomSecret(16)
        guard let recipient = X25519.Identity([UInt8](identity.utf8)[...])?.recipient,
            let stanza = recipient.wrap(key)
        else { fatalError("no key") }
        let nonce = KeyDerivation.randomBytes(ChunkCipher.nonceSize)
        let cipher = ChunkCipher(ChunkCipher.key(of: key, nonce: nonce))
        var file = AgeHeader.encode([stanza], fileKey: key) + nonce
        var expected: [UInt8] = []
        for step in steps {
            // A marked chunk is shorter, and empty where its number is even and it is short.
            let size =
                step & 0x40 != 0 ? Int(step & 1) * 100 : ChunkCipher.chunkSize - Int(step >> 7)
            var chunk = [UInt8](repeating: step, count: size + ChunkCipher.tagSize)
            expected += chunk[..<size]
            chunk.withUnsafeMutableBytes { chunk in
                cipher.seal(
                    [UnsafeRawBufferPointer(rebasing: chunk[..<size])],
                    into: chunk,
                    number: UInt64(step & 0x3F),
                    isLast: step & 0x80 != 0
                )
            }
            file += chunk
        }
        let isWhole =
            !steps.isEmpty
            && steps.enumerated().allSatisfy { index, step in
                let isLast = index == steps.count - 1
                let isFull = step & 0x40 == 0
                guard step & 0x3F == UInt8(index), isLast == (step & 0x80 != 0) else {
                    return false
                }
                return isLast ? isFull || step & 1 == 1 || index == 0 : isFull
            }
        for isFile in [true, false] {
            let content = try content(file, isFile: isFile)
            FuzzTarget.require(
                content == (isWhole ? expected : nil),
                "exactly the chunks that were sealed one after another are released"
            )
        }
        Milestones.reach(isWhole ? opened : refused)
    }
}

extension ByteReader {
    fileprivate func readAll() throws -> [UInt8] {
        var content: [UInt8] = []
        try readAll(into: &content)
        return content
    }
}
