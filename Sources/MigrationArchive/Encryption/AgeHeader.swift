internal import MigrationSystem

/// A stanza of an age header: the file key, wrapped for one recipient.
struct AgeStanza: Equatable {
    /// The kind of recipient, and its arguments.
    let arguments: [String]
    let body: [UInt8]

    var kind: String { arguments[0] }

    /// The stanza as text.
    var encoded: [UInt8] {
        var bytes = [UInt8]("-> \(arguments.joined(separator: " "))\n".utf8)
        let text = Base64.encode(body[...], isPadded: false)
        var rest = text[...]
        while rest.count >= AgeHeader.columns {
            bytes += rest.prefix(AgeHeader.columns) + [UInt8(ascii: "\n")]
            rest = rest.dropFirst(AgeHeader.columns)
        }
        return bytes + rest + [UInt8(ascii: "\n")]
    }
}

extension AgeStanza {
    /// Reads the stanza that begins with `line`; `next` returns each following line.
    ///
    /// - Throws: ``ArchiveError`` of code `headerDamaged` if it is malformed; the errors of `next`.
    init(from line: [UInt8], _ next: () throws -> [UInt8]) throws {
        let words = line.dropFirst(3)
            .split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
        let areWords = words.allSatisfy { word in
            !word.isEmpty && word.allSatisfy { (33...126).contains($0) }
        }
        guard line.starts(with: "-> ".utf8), areWords else {
            throw AgeHeader.damage("the first line of a recipient is malformed")
        }
        var body: [UInt8] = []
        var part: [UInt8]
        repeat {
            part = try next()
            guard part.count <= AgeHeader.columns,
                let bytes = Base64.decode(part[...], isPadded: false)
            else { throw AgeHeader.damage("the body of a recipient is malformed") }
            body += bytes
        } while part.count == AgeHeader.columns
        self.init(arguments: words.map { String(decoding: $0, as: UTF8.self) }, body: body)
    }
}

/// The header of an age file (C2SP, age.md): its recipients, and its authentication code.
struct AgeHeader {
    let stanzas: [AgeStanza]
    private let code: [UInt8]
    private let authenticated: [UInt8]

    static let version = "age-encryption.org/v1"

    /// The beginning of every version.
    static let magic = [UInt8]("age-encryption.org/".utf8)

    fileprivate static let columns = 64
    private static let limit = 256 * 1024

    /// Makes the header of a new file.
    static func encode(_ stanzas: [AgeStanza], fileKey: Secret) -> [UInt8] {
        let head = [UInt8]("\(version)\n".utf8) + stanzas.flatMap(\.encoded) + [UInt8]("---".utf8)
        let code = KeyDerivation.hmac(key: macKey(fileKey), of: head)
        return head + [UInt8(ascii: " ")] + Base64.encode(code[...], isPadded: false)
            + [UInt8(ascii: "\n")]
    }

    /// Reads a header, and leaves `source` just after it.
    init(reading source: ByteReader) throws {
        let first = try source.readLine(limit: 128)
        guard first.map({ $0.elementsEqual(Self.version.utf8) }) ?? false else {
            throw Self.wrongVersion(first)
        }
        var stanzas: [AgeStanza] = []
        var bytes = [UInt8]("\(Self.version)\n".utf8)
        while true {
            let line = try Self.line(from: source, &bytes)
            if line.starts(with: "---".utf8) {
                guard line.starts(with: "--- ".utf8),
                    let code = Base64.decode(line.dropFirst(4), isPadded: false), code.count == 32
                else { throw Self.damage("its last line is malformed") }
                self.code = code
                break
            }
            stanzas.append(try AgeStanza(from: line) { try Self.line(from: source, &bytes) })
        }
        guard !stanzas.isEmpty else { throw Self.damage("it names no recipient") }
        self.stanzas = stanzas
        let lastLine = 1 + 43 + 1
        authenticated = Array(bytes.dropLast(lastLine))
    }

    /// Throws unless `fileKey` authenticates the header.
    func authenticate(with fileKey: Secret) throws(ArchiveError) {
        let expected = KeyDerivation.hmac(key: Self.macKey(fileKey), of: authenticated)
        guard KeyDerivation.isEqual(expected, code) else {
            throw Self.damage(
                "it is not the one that was written: its authentication code is wrong"
            )
        }
    }

    /// An error about a header.
    static func damage(_ problem: String) -> ArchiveError {
        ArchiveError(.headerDamaged, "the encrypted archive's header is damaged: \(problem)")
    }

    private static func macKey(_ fileKey: Secret) -> Secret {
        KeyDerivation.hkdf(fileKey, salt: [], info: "header")
    }

    private static func line(
        from source: ByteReader,
        _ bytes: inout [UInt8]
    ) throws -> [UInt8] {
        guard let line = try source.readLine(limit: max(0, limit - bytes.count)) else {
            throw damage("it has no end, or is longer than \(limit) bytes")
        }
        bytes += line + [UInt8(ascii: "\n")]
        return line
    }

    private static func wrongVersion(_ line: [UInt8]?) -> ArchiveError {
        guard let line, line.starts(with: magic), line.last != UInt8(ascii: "\r") else {
            return damage("its first line is malformed")
        }
        let version = PrintableText.escaping(Array(line.dropFirst(magic.count)))
        let message = "the archive is encrypted in version '\(version)' of the age format"
        return ArchiveError(.unsupported, "\(message), and only 'v1' is supported")
    }
}
