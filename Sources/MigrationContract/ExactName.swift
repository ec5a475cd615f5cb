internal import Foundation

/// A name in the file system as stored in JSON: exactly, whatever its bytes are.
///
/// A name in valid UTF-8 is text under its key. Any other is in Base64 under a second key, and the first
/// one is absent, so that no two names look alike.
package struct ExactName: Hashable, Sendable {
    /// The bytes of the name.
    package let bytes: [UInt8]

    package init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// The name as text; `nil` if it is not valid UTF-8.
    package var text: String? { String(validating: bytes, as: UTF8.self) }

    /// The name in Base64.
    package var base64: String { Data(bytes).base64EncodedString() }
}

extension KeyedEncodingContainer {
    /// Encodes `name` under `key`, or under `base64Key` if it is not valid UTF-8.
    package mutating func encode(_ name: ExactName, forKey key: Key, or base64Key: Key) throws {
        if let text = name.text {
            try encode(text, forKey: key)
        } else {
            try encode(name.base64, forKey: base64Key)
        }
    }
}

extension KeyedDecodingContainer {
    /// Decodes the name that is under `key` or `base64Key`.
    package func decodeName(forKey key: Key, or base64Key: Key) throws -> ExactName {
        if let text = try decodeIfPresent(String.self, forKey: key) {
            return ExactName([UInt8](text.utf8))
        }
        guard let data = Data(base64Encoded: try decode(String.self, forKey: base64Key)) else {
            throw DecodingError.dataCorruptedError(
                forKey: base64Key,
                in: self,
                debugDescription: "not Base64"
            )
        }
        return ExactName([UInt8](data))
    }
}
