/// Whether what a binary property list claims lies within it.
///
/// Foundation's decoder adds and multiplies claimed lengths before it compares them, and ends the
/// process where the result is no number. The form is that of Core Foundation's `CFBinaryPList.c`.
struct BinaryPropertyListBounds {
    private let bytes: [UInt8]
    private let referenceSize: Int
    /// Where the objects end and their offsets begin.
    private let end: Int

    private static let headerSize = 8
    private static let trailerSize = 32

    /// Looks at every object of the list in `bytes`.
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

    /// The number that takes `size` bytes at `position`, the highest first, where it is below `limit`.
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

    /// Whether the elements that the object at `offset` counts are there, `size` bytes each.
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
