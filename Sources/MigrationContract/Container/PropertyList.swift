internal import Foundation

/// A dictionary in a property list that nobody vouches for, of which only strings are wanted.
///
/// In a binary list one object may stand in many places at every level, so that two hundred bytes hold
/// more than any memory. So nothing is made of a list but what is asked for.
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

    /// Reads `bytes`; `nil` where they are no property list or no dictionary.
    package init?(_ bytes: [UInt8]) {
        guard let data = Self.binary(of: bytes),
            let list = try? PropertyListDecoder().decode(Self.self, from: data)
        else { return nil }
        self = list
    }

    /// The list as a binary one: Foundation's decoder follows a text as deep as it nests, until the
    /// stack is used up; what serializes has a limit, and in a text nothing stands in two places.
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

    /// The string for `key`; `nil` where there is none.
    package func string(for key: String) -> String? {
        try? values.decode(String.self, forKey: Key(stringValue: key))
    }

    /// The array of strings for `key`, of at most `limit` of them; `nil` where there is none.
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
