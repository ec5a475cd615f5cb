internal import CLibcrypto
internal import MigrationSystem

/// The text form of an encrypted file, for channels that carry only text (C2SP, age.md).
enum AgeArmor {
    static let begin = [UInt8]("-----BEGIN AGE ENCRYPTED FILE-----".utf8)
    static let end = [UInt8]("-----END AGE ENCRYPTED FILE-----".utf8)

    /// The beginning of every armor, whatever it contains.
    static let magic = [UInt8]("-----BEGIN ".utf8)

    static let columns = 64

    /// The white space that may surround an armor.
    static let spaces = [UInt8](" \t\r\n".utf8)

    /// The maximum white space before an armor.
    static let spaceLimit = 1024

    static func damage(_ problem: String) -> ArchiveError {
        ArchiveError(.damaged, "the armor of the encrypted archive is damaged: \(problem)")
    }
}

/// Decodes an armor that is read in order.
final class ArmorSource: ByteSource {
    /// Longer lines are refused before the rest is read; a line may have a carriage return at its end.
    private static let lineLimit = AgeArmor.columns + 2

    private let source: ByteReader
    private var decoded: [UInt8] = []
    private var start = 0
    /// Whether a short line was read, which must be the last one.
    private var hasShortLine = false
    private var isAtEnd = false

    init(reading source: ByteReader) throws {
        self.source = source
        while try source.lookAhead(1) > 0, let first = source.ahead.first,
            AgeArmor.spaces.contains(first)
        {
            source.skip(1)
        }
        let line = try source.readLine(limit: 128).map(Self.trimmed)
        guard line.map({ $0.elementsEqual(AgeArmor.begin) }) ?? false else {
            throw AgeArmor.damage("its first line is not that of an age file")
        }
    }

    func read(
        at _: UInt64,
        into target: inout [UInt8],
        from index: Int,
        count: Int
    ) throws -> Int {
        while start == decoded.count, !isAtEnd { try decodeNext() }
        let read = min(count, decoded.count - start)
        target.replaceSubrange(index..<index + read, with: decoded[start..<start + read])
        start += read
        return read
    }

    /// Decodes the next line, and those after it that need not be waited for.
    private func decodeNext() throws {
        var joined: [UInt8] = []
        repeat {
            try takeLine(into: &joined)
        } while !isAtEnd && joined.count < 64 * 1024 && source.ahead.count > Self.lineLimit
        if isAtEnd { try checkNothingFollows() }
        guard let bytes = Base64.decode(joined[...], isPadded: true) else {
            throw AgeArmor.damage("a line is not in base64")
        }
        (decoded, start) = (bytes, 0)
    }

    private func takeLine(into joined: inout [UInt8]) throws {
        if let line = try source.readLine(limit: Self.lineLimit) {
            return try take(line, into: &joined)
        }
        // The last line may lack its end.
        let rest = [UInt8](source.ahead)
        guard rest.count <= Self.lineLimit else { throw AgeArmor.damage("a line is too long") }
        source.skip(rest.count)
        try take(rest, into: &joined)
        guard isAtEnd else {
            throw ArchiveError(.truncated, "the armor of the encrypted archive has no end")
        }
    }

    private func take(_ rawLine: [UInt8], into joined: inout [UInt8]) throws {
        let line = Self.trimmed(rawLine)
        if line.elementsEqual(AgeArmor.end) {
            isAtEnd = true
            return
        }
        guard !hasShortLine, !line.isEmpty, line.count <= AgeArmor.columns else {
            throw AgeArmor.damage("a line does not have \(AgeArmor.columns) columns")
        }
        hasShortLine = line.count < AgeArmor.columns || line.last == UInt8(ascii: "=")
        joined += line
    }

    private func checkNothingFollows() throws {
        while try source.lookAhead(1) > 0 {
            guard source.ahead.allSatisfy({ AgeArmor.spaces.contains($0) }) else {
                throw AgeArmor.damage("something follows its last line")
            }
            source.skip(source.ahead.count)
        }
    }

    /// A line without a carriage return at its end.
    private static func trimmed(_ line: [UInt8]) -> ArraySlice<UInt8> {
        line.last == UInt8(ascii: "\r") ? line.dropLast() : line[...]
    }
}

/// Writes bytes as an armor.
final class ArmorWriter {
    private static let lineBytes = AgeArmor.columns / 4 * 3

    private let write: (Span<UInt8>) throws -> Void
    private var rest: [UInt8] = []

    /// Begins with the first line.
    init(_ write: @escaping (Span<UInt8>) throws -> Void) throws {
        self.write = write
        try write((AgeArmor.begin + [UInt8(ascii: "\n")]).span)
    }

    /// Writes the whole lines up to the end of `bytes`.
    func append(_ bytes: Span<UInt8>) throws {
        rest.append(copying: bytes)
        let whole = rest.count / Self.lineBytes * Self.lineBytes
        try write(Self.lines(rest[..<whole]).span)
        rest.removeFirst(whole)
    }

    /// Writes the last lines.
    func finish() throws {
        try write((Self.lines(rest[...]) + AgeArmor.end + [UInt8(ascii: "\n")]).span)
    }

    private static func lines(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        let text = Base64.encode(bytes, isPadded: true)
        var lines: [UInt8] = []
        lines.reserveCapacity(text.count + text.count / AgeArmor.columns + 1)
        for start in stride(from: 0, to: text.count, by: AgeArmor.columns) {
            lines += text[start..<min(start + AgeArmor.columns, text.count)]
            lines.append(UInt8(ascii: "\n"))
        }
        return lines
    }
}

// MARK: - Base64

/// Base64 (RFC 4648, section 4) that decodes only what its own encoder produces.
enum Base64 {
    /// The text of `bytes`, with padding or without.
    static func encode(_ bytes: ArraySlice<UInt8>, isPadded: Bool) -> [UInt8] {
        var text = [UInt8](repeating: 0, count: (bytes.count + 2) / 3 * 4 + 1)
        let count = unsafe bytes.withUnsafeBufferPointer { bytes in
            unsafe EVP_EncodeBlock(&text, bytes.baseAddress, CInt(bytes.count))
        }
        text.removeLast(text.count - Int(count))
        if !isPadded { while text.last == UInt8(ascii: "=") { text.removeLast() } }
        return text
    }

    /// The bytes of `text`; `nil` if encoding them gives another text.
    static func decode(_ text: ArraySlice<UInt8>, isPadded: Bool) -> [UInt8]? {
        if text.isEmpty { return [] }
        var whole = Array(text)
        while !isPadded, whole.count % 4 != 0 { whole.append(UInt8(ascii: "=")) }
        let fill = whole.reversed().prefix { $0 == UInt8(ascii: "=") }.count
        guard whole.count % 4 == 0, fill <= 2 else { return nil }
        var bytes = [UInt8](repeating: 0, count: whole.count / 4 * 3)
        let count = unsafe EVP_DecodeBlock(&bytes, whole, CInt(whole.count))
        guard count == bytes.count else { return nil }
        bytes.removeLast(fill)
        // The system's decoder is lenient: it ignores white space and surplus bits.
        guard encode(bytes[...], isPadded: isPadded)[...] == text else { return nil }
        return bytes
    }
}
