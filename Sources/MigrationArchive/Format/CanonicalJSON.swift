/// A JSON value with exactly one encoding, so that equal values have equal bytes.
///
/// There is no white space. Keys come in byte order, each once. Numbers are whole, from 0 to 2⁶⁴ −
/// 1, in decimal digits. Strings are written as in RFC 8785: only `"`, `\` and the control
/// characters below U+0020 are escaped, in the shortest form.
enum CanonicalJSON: Equatable, Sendable {
    case string(String)
    case number(UInt64)
    case boolean(Bool)
    case array([CanonicalJSON])
    case object([String: CanonicalJSON])

    /// How deeply values may be nested, so that hostile text can't exhaust the stack.
    private static let depthLimit = 16

    /// The values of an object; `nil` for any other value.
    subscript(key: String) -> CanonicalJSON? {
        if case .object(let members) = self { members[key] } else { nil }
    }

    /// The text of a string; `nil` for any other value.
    var string: String? {
        if case .string(let text) = self { text } else { nil }
    }

    /// The strings of an array that holds nothing else; `nil` for any other value.
    var strings: [String]? {
        guard case .array(let elements) = self else { return nil }
        let strings = elements.compactMap(\.string)
        return strings.count == elements.count ? strings : nil
    }

    /// The value of a number; `nil` for any other value.
    var number: UInt64? {
        if case .number(let value) = self { value } else { nil }
    }

    /// The value of a boolean; `nil` for any other value.
    var boolean: Bool? {
        if case .boolean(let value) = self { value } else { nil }
    }
}

// MARK: - Writing

extension CanonicalJSON {
    /// The bytes of the value.
    var encoded: [UInt8] {
        var bytes: [UInt8] = []
        append(to: &bytes)
        return bytes
    }

    private func append(to bytes: inout [UInt8]) {
        switch self {
        case .string(let text): Self.append(text, to: &bytes)
        case .number(let value): bytes += "\(value)".utf8
        case .boolean(let value): bytes += "\(value)".utf8
        case .array(let elements):
            bytes.append(UInt8(ascii: "["))
            for (index, element) in elements.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                element.append(to: &bytes)
            }
            bytes.append(UInt8(ascii: "]"))
        case .object(let members):
            let sorted = members.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
            bytes.append(UInt8(ascii: "{"))
            for (index, member) in sorted.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                Self.append(member.key, to: &bytes)
                bytes.append(UInt8(ascii: ":"))
                member.value.append(to: &bytes)
            }
            bytes.append(UInt8(ascii: "}"))
        }
    }

    private static func append(_ text: String, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        for byte in text.utf8 {
            if let escape = escape(of: byte) { bytes += escape } else { bytes.append(byte) }
        }
        bytes.append(UInt8(ascii: "\""))
    }

    /// How a string holds `byte`; `nil` for a byte that stands for itself.
    private static func escape(of byte: UInt8) -> [UInt8]? {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"): [UInt8(ascii: "\\"), byte]
        case 0x08: [UInt8]("\\b".utf8)
        case 0x09: [UInt8]("\\t".utf8)
        case 0x0A: [UInt8]("\\n".utf8)
        case 0x0C: [UInt8]("\\f".utf8)
        case 0x0D: [UInt8]("\\r".utf8)
        case 0..<0x20:
            [UInt8]("\\u00".utf8) + [byte < 16 ? 0x30 : 0x31]
                + String(byte % 16, radix: 16).utf8
        default: nil
        }
    }
}

// MARK: - Reading

extension CanonicalJSON {
    /// Reads `bytes`; returns `nil` unless they are a value in this form.
    init?(_ bytes: ArraySlice<UInt8>) {
        var rest = bytes
        guard let value = Self.value(&rest, depth: 0), rest.isEmpty else { return nil }
        self = value
    }

    private static func value(_ rest: inout ArraySlice<UInt8>, depth: Int) -> CanonicalJSON? {
        guard depth < depthLimit, let first = rest.first else { return nil }
        switch first {
        case UInt8(ascii: "\""): return text(&rest).map { .string($0) }
        case UInt8(ascii: "["): return elements(&rest, depth: depth).map { .array($0) }
        case UInt8(ascii: "{"): return members(&rest, depth: depth).map { .object($0) }
        default: break
        }
        for value in [true, false] where rest.take("\(value)") { return .boolean(value) }
        let digits = rest.prefix { (0x30...0x39).contains($0) }
        guard digits.count == 1 || digits.first != UInt8(ascii: "0"),
            let number = UInt64(String(decoding: digits, as: UTF8.self))
        else { return nil }
        rest.removeFirst(digits.count)
        return .number(number)
    }

    private static func elements(
        _ rest: inout ArraySlice<UInt8>,
        depth: Int
    ) -> [CanonicalJSON]? {
        var elements: [CanonicalJSON] = []
        guard rest.take("["), !rest.take("]") else { return elements }
        repeat {
            guard let element = value(&rest, depth: depth + 1) else { return nil }
            elements.append(element)
        } while rest.take(",")
        return rest.take("]") ? elements : nil
    }

    private static func members(
        _ rest: inout ArraySlice<UInt8>,
        depth: Int
    ) -> [String: CanonicalJSON]? {
        var members: [String: CanonicalJSON] = [:]
        var previous: String?
        guard rest.take("{"), !rest.take("}") else { return members }
        repeat {
            guard let key = text(&rest), rest.take(":"),
                previous?.utf8.lexicographicallyPrecedes(key.utf8) ?? true,
                let member = value(&rest, depth: depth + 1)
            else { return nil }
            members[key] = member
            previous = key
        } while rest.take(",")
        return rest.take("}") ? members : nil
    }

    private static func text(_ rest: inout ArraySlice<UInt8>) -> String? {
        guard rest.take("\"") else { return nil }
        var bytes: [UInt8] = []
        while let byte = rest.first, byte != UInt8(ascii: "\"") {
            guard byte != UInt8(ascii: "\\") else {
                guard let escaped = takeEscape(&rest) else { return nil }
                bytes.append(escaped)
                continue
            }
            guard byte >= 0x20 else { return nil }
            bytes.append(byte)
            rest.removeFirst()
        }
        guard rest.take("\"") else { return nil }
        return String(validating: bytes, as: UTF8.self)
    }

    /// Takes the escape that `rest` begins with; returns the byte that it stands for.
    private static func takeEscape(_ rest: inout ArraySlice<UInt8>) -> UInt8? {
        let escaped = (0..<0x20).map { $0 as UInt8 } + [UInt8(ascii: "\""), UInt8(ascii: "\\")]
        for byte in escaped {
            guard let escape = escape(of: byte), rest.starts(with: escape) else { continue }
            rest.removeFirst(escape.count)
            return byte
        }
        return nil
    }
}

extension ArraySlice<UInt8> {
    /// Takes `text` if the slice begins with it; returns whether it does.
    fileprivate mutating func take(_ text: String) -> Bool {
        guard starts(with: text.utf8) else { return false }
        removeFirst(text.utf8.count)
        return true
    }
}
