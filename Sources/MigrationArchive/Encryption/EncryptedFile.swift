/// An encrypted file around an archive, recognized by its first bytes.
enum EncryptedFile {
    /// Returns the content of `raw`, decrypted where it is an encrypted file.
    ///
    /// - Throws: ``ArchiveError`` of code `keyMissing` where it is encrypted and `decryption` is `nil`,
    ///   and of the codes of wrong keys and damage.
    static func open(
        _ raw: any ByteSource,
        with decryption: ArchiveDecryption?
    ) throws -> any ByteSource {
        let source = LookAheadSource(raw)
        if try source.peek(AgeHeader.magic.count).elementsEqual(AgeHeader.magic) {
            return try open(source, raw, with: decryption)
        }
        if try beginsWithArmor(source) {
            let armor = LookAheadSource(try ArmorSource(reading: source))
            return try open(armor, armor, with: decryption)
        }
        return raw.size == nil ? source : raw
    }

    private static func open(
        _ source: LookAheadSource,
        _ raw: any ByteSource,
        with decryption: ArchiveDecryption?
    ) throws -> any ByteSource {
        let header = try AgeHeader(reading: source)
        guard let decryption else { throw ArchiveDecryption.keyMissing(header) }
        let fileKey = try decryption.fileKey(of: header)
        try header.authenticate(with: fileKey)
        let nonce = Array(try source.peek(PayloadStream.nonceSize))
        guard nonce.count == PayloadStream.nonceSize else {
            throw AgeHeader.damage("the archive ends behind it")
        }
        source.skip(nonce.count)
        let key = PayloadKey(fileKey: fileKey, nonce: nonce)
        guard let size = raw.size else { return SequentialPayload(reading: source, key) }
        return try SeekablePayload(reading: raw, size: size, from: source.position, key)
    }

    /// Whether an armor comes, perhaps behind white space.
    private static func beginsWithArmor(_ source: LookAheadSource) throws -> Bool {
        let magic = AgeArmor.magic
        var ahead = try source.peek(magic.count)
        if let first = ahead.first, AgeArmor.spaces.contains(first) {
            ahead = try source.peek(AgeArmor.spaceLimit + magic.count)
        }
        return ahead.drop { AgeArmor.spaces.contains($0) }.starts(with: magic)
    }
}
