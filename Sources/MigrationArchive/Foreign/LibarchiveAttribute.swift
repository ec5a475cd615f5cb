internal import Foundation
internal import MigrationSystem

/// An extended attribute as libarchive writes it: its name percent-encoded, its value in base 64.
///
/// It writes most a second time with the prefix of star, the name encoded there too.
enum LibarchiveAttribute {
    static let prefix = [UInt8]("LIBARCHIVE.xattr.".utf8)

    /// The name as the record has it; `nil` where the record is of something else.
    static func encodedName(in key: [UInt8]) -> [UInt8]? {
        key.starts(with: prefix) ? [UInt8](key.dropFirst(prefix.count)) : nil
    }

    /// Reads an attribute; `nil` where its name or its value is malformed.
    static func decode(_ encodedName: [UInt8], _ value: [UInt8]) -> ExtendedAttribute? {
        // libarchive leaves out the padding, which Foundation insists on.
        let padding = Data(repeating: UInt8(ascii: "="), count: (4 - value.count % 4) % 4)
        guard let name = decode(encodedName), let bytes = Data(base64Encoded: value + padding)
        else { return nil }
        return ExtendedAttribute(name: name, value: [UInt8](bytes))
    }

    private static func decode(_ encodedName: [UInt8]) -> [UInt8]? {
        var name: [UInt8] = []
        var rest = encodedName[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                name.append(byte)
                continue
            }
            let digits = String(decoding: rest.prefix(2), as: UTF8.self)
            guard digits.count == 2, digits.allSatisfy(\.isHexDigit),
                let value = UInt8(digits, radix: 16)
            else { return nil }
            name.append(value)
            rest = rest.dropFirst(2)
        }
        return name
    }
}
