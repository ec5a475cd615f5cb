internal import Foundation

/// A dictionary in an untrusted property list; only its strings are read.
///
/// A binary list can refer to one object from many places at every level, so 200 bytes can expand
/// to more than fits in memory. For that reason only the requested values are decoded.
package struct PropertyList: Decodable {
    private struct Key: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) {
            self.stringValue = stringValue
        }

        init?(intValue: Int) { nil }
    }

    /// The most bytes of a list that are read.
    package static let sizeLimit = 256 << 10

    private static let binaryMagic = [UInt8]("bplist".utf8)

    private let values: KeyedDecodingContainer<Key>

    package init(from decoder: any Decoder) throws {
        values = try decoder.container(keyedBy: Key.self)
    }

    /// Reads `bytes`; returns `nil` if they aren't a property list that is a dictionary.
    package init?(_ bytes: [UInt8]) {
        guard let data = Self.binary(of: bytes),
            let list = try? PropertyListDecoder().decode(Self.self, from: data)
        else { return nil }
        self = list
    }

    /// Converts the list to a binary one, if it is text.
    ///
    /// Foundation's decoder follows the nesting of a text until the stack overflows, but its
    /// serializer has a limit. A text can't refer to one object twice, so it can't expand.
    private static func binary(of bytes: [UInt8]) -> Data? {
        let data = Data(bytes)
        if bytes.starts(with: binaryMagic) {
            return BinaryPropertyListBounds.hold(bytes) ? data : nil
        }
        guard let list = unsafe try? PropertyListSerialization.propertyList(from: data, format: nil)
        else { return nil }
        return try? PropertyListSerialization.data(
            fromPropertyList: list,
            format: .binary,
            options: 0
        )
    }

    /// Whether there is a value for `key`.
    package func contains(_ key: String) -> Bool {
        values.contains(Key(stringValue: key))
    }

    /// The string for `key`; `nil` if there is none.
    package func string(for key: String) -> String? {
        try? values.decode(String.self, forKey: Key(stringValue: key))
    }

    /// The first `limit` strings of the array for `key`; `nil` if there is no array of strings.
    package func strings(for key: String, limit: Int) -> [String]? {
        guard var array = try? values.nestedUnkeyedContainer(forKey: Key(stringValue: key)) else {
            return nil
        }
        var strings: [String] = []
        while !array.isAtEnd {
            guard let next = try? array.decode(String.self) else { return nil }
            if strings.count < limit { strings.append(next) }
        }
        return strings
    }
}

// MARK: - Bounds of a binary list

/// Checks that the lengths and offsets in a binary property list lie within it.
///
/// Foundation's decoder adds and multiplies the lengths before it compares them, and the process
/// traps on an overflow. The format is the one of Core Foundation's `CFBinaryPList.c`.
private struct BinaryPropertyListBounds {
    private let bytes: [UInt8]
    private let referenceSize: Int
    /// The position at which the objects end and their offsets begin.
    private let end: Int

    private static let headerSize = 8
    private static let trailerSize = 32

    /// Checks every object of the list in `bytes`.
    static func hold(_ bytes: [UInt8]) -> Bool {
        let trailer = bytes.count - trailerSize
        guard trailer >= headerSize,
            let count = number(in: bytes, at: trailer + 8, size: 8, below: bytes.count),
            number(in: bytes, at: trailer + 16, size: 8, below: count) != nil,
            let table = number(in: bytes, at: trailer + 24, size: 8, below: trailer + 1)
        else { return false }
        let (offsetSize, referenceSize) = (Int(bytes[trailer + 6]), Int(bytes[trailer + 7]))
        guard (1...8).contains(offsetSize), (1...8).contains(referenceSize),
            count <= (trailer - table) / offsetSize
        else { return false }
        let bounds = Self(bytes: bytes, referenceSize: referenceSize, end: table)
        return (0..<count).allSatisfy { index in
            let place = table + index * offsetSize
            let offset = number(in: bytes, at: place, size: offsetSize, below: table)
            return offset.map { $0 >= headerSize && bounds.holdObject(at: $0) } ?? false
        }
    }

    /// Reads a big-endian number of `size` bytes at `position`; returns `nil` if it isn't below
    /// `limit`.
    private static func number(
        in bytes: [UInt8],
        at position: Int,
        size: Int,
        below limit: Int
    ) -> Int? {
        let value = bytes[position..<position + size].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return value < UInt64(max(0, limit)) ? Int(value) : nil
    }

    private func holdObject(at offset: Int) -> Bool {
        let (kind, low) = (bytes[offset] >> 4, Int(bytes[offset] & 0xF))
        switch kind {
        case 0x0: return true
        case 0x1, 0x2: return low <= 4 && offset + 1 + (1 << low) <= end
        case 0x3: return offset + 9 <= end
        case 0x4, 0x5: return holdElements(of: 1, at: offset)
        case 0x6: return holdElements(of: 2, at: offset)
        case 0x8: return offset + 2 + low <= end
        case 0xA, 0xB, 0xC: return holdElements(of: referenceSize, at: offset)
        case 0xD: return holdElements(of: 2 * referenceSize, at: offset)
        default: return false
        }
    }

    /// Whether all elements that the object at `offset` claims are there, `size` bytes each.
    private func holdElements(of size: Int, at offset: Int) -> Bool {
        let low = Int(bytes[offset] & 0xF)
        guard low == 0xF else { return low <= (end - offset - 1) / size }
        guard offset + 1 < end, bytes[offset + 1] >> 4 == 0x1 else { return false }
        let width = 1 << Int(bytes[offset + 1] & 0xF)
        let start = offset + 2 + width
        guard width <= 8, start <= end else { return false }
        let limit = (end - start) / size + 1
        return Self.number(in: bytes, at: offset + 2, size: width, below: limit) != nil
    }
}
