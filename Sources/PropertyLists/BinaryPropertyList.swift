/// A binary property list, whose objects are read on request.
///
/// The format is the one of Core Foundation's `CFBinaryPList.c`, version 00. Every length and
/// offset is checked before it is used. It doesn't follow references by itself, so a list that
/// refers to itself harms only a caller that follows references without a limit.
package struct BinaryPropertyList: Sendable {
    static let magic = [UInt8]("bplist".utf8)

    private static let headerSize = 8
    private static let trailerSize = 32

    private let bytes: [UInt8]
    private let offsetSize: Int
    private let referenceSize: Int
    private let objectCount: Int
    /// The position of the table of offsets, where the objects end.
    private let table: Int

    /// The number of the root object.
    package let root: Int

    /// Reads the trailer.
    ///
    /// - Throws: ``PropertyListError`` if the bytes aren't a binary list.
    package init(_ bytes: [UInt8]) throws(PropertyListError) {
        let trailer = bytes.count - Self.trailerSize
        guard trailer >= Self.headerSize, bytes.starts(with: Self.magic + [UInt8]("00".utf8)) else {
            throw PropertyListError("it is cut short, or of an unknown version")
        }
        self.bytes = bytes
        offsetSize = Int(bytes[trailer + 6])
        referenceSize = Int(bytes[trailer + 7])
        objectCount = try Self.number(in: bytes, at: trailer + 8, size: 8, below: bytes.count)
        table = try Self.number(in: bytes, at: trailer + 24, size: 8, below: trailer + 1)
        guard (1...8).contains(offsetSize), (1...8).contains(referenceSize),
            table >= Self.headerSize, objectCount <= (trailer - table) / offsetSize
        else { throw Self.damaged }
        root = try Self.number(in: bytes, at: trailer + 16, size: 8, below: objectCount)
    }

    private static let damaged = PropertyListError("its lengths or offsets are wrong")

    /// Reads a big-endian number of at most 8 bytes, which must be less than `limit`.
    private static func number(
        in bytes: [UInt8],
        at position: Int,
        size: Int,
        below limit: Int
    ) throws(PropertyListError) -> Int {
        var value: UInt64 = 0
        for index in position..<position + size { value = value << 8 | UInt64(bytes[index]) }
        guard value < UInt64(max(0, limit)) else { throw damaged }
        return Int(value)
    }

    // MARK: - Objects

    /// The kind of an object, and the range of its content.
    enum Content {
        /// A number, a truth value or a date.
        case plain(PropertyListValue)
        case data(Range<Int>)
        case ascii(Range<Int>)
        case utf16(Range<Int>)
        /// The references to the elements.
        case array(Range<Int>)
        /// The references to all keys, followed by those to the values.
        case dictionary(Range<Int>)
    }

    /// Reads the object of that number, but not its elements.
    func content(of object: Int) throws(PropertyListError) -> Content {
        let position = table + object * offsetSize
        let offset = try Self.number(in: bytes, at: position, size: offsetSize, below: table)
        guard offset >= Self.headerSize else { throw Self.damaged }
        let low = Int(bytes[offset] & 0xF)
        switch bytes[offset] >> 4 {
        case 0x0 where low == 0x8 || low == 0x9: return .plain(.boolean(low == 0x9))
        case 0x1 where low <= 4: return .plain(try integer(range(at: offset + 1, 1 << low)))
        case 0x2 where low == 2 || low == 3:
            return .plain(.real(try real(at: offset + 1, 1 << low)))
        case 0x3 where low == 3:
            return .plain(.date(secondsSince2001: try real(at: offset + 1, 8)))
        case 0x4: return .data(try elements(of: 1, at: offset))
        case 0x5: return .ascii(try elements(of: 1, at: offset))
        case 0x6: return .utf16(try elements(of: 2, at: offset))
        case 0x8 where low < 8:
            return .plain(.uid(bits(try range(at: offset + 1, low + 1))))
        case 0xA: return .array(try elements(of: referenceSize, at: offset))
        case 0xD: return .dictionary(try elements(of: 2 * referenceSize, at: offset))
        default: throw PropertyListError("it holds a value of an unknown type")
        }
    }

    /// The range of `count` bytes at `position`, which must be before the table of offsets.
    private func range(at position: Int, _ count: Int) throws(PropertyListError) -> Range<Int> {
        guard position <= table, count <= table - position else { throw Self.damaged }
        return position..<position + count
    }

    /// The range of all elements that the object at `offset` claims, with `size` bytes each.
    private func elements(of size: Int, at offset: Int) throws(PropertyListError) -> Range<Int> {
        var (start, count) = (offset + 1, Int(bytes[offset] & 0xF))
        if count == 0xF {
            guard start < table, bytes[start] >> 4 == 0x1, bytes[start] & 0xF <= 3 else {
                throw Self.damaged
            }
            let width = 1 << Int(bytes[start] & 0xF)
            start += 1
            _ = try range(at: start, width)
            count = try Self.number(in: bytes, at: start, size: width, below: table)
            start += width
        }
        // This can't overflow: the count is less than the bytes of the list.
        return try range(at: start, count * size)
    }

    private func bits(_ range: Range<Int>) -> UInt64 {
        range.reduce(0) { $0 << 8 | UInt64(bytes[$1]) }
    }

    private func integer(_ range: Range<Int>) throws(PropertyListError) -> PropertyListValue {
        let number = bits(range.suffix(8))
        guard range.count >= 8 else { return .integer(Int64(number)) }
        // Numbers of 16 bytes hold values that don't fit into a signed number of 8 bytes.
        let signed = Int64(bitPattern: number)
        let high = bytes[range].dropLast(8)
        if high.allSatisfy({ $0 == (signed < 0 ? 0xFF : 0) }) { return .integer(signed) }
        guard high.allSatisfy({ $0 == 0 }) else {
            throw PropertyListError("it holds a number that takes more than 64 bits")
        }
        return .unsigned(number)
    }

    private func real(at position: Int, _ size: Int) throws(PropertyListError) -> Double {
        let bits = bits(try range(at: position, size))
        return size == 4
            ? Double(Float(bitPattern: UInt32(truncatingIfNeeded: bits))) : Double(bitPattern: bits)
    }

    // MARK: - Content

    func data(_ range: Range<Int>) -> [UInt8] { [UInt8](bytes[range]) }

    func ascii(_ range: Range<Int>) throws(PropertyListError) -> String {
        guard let text = String(validating: bytes[range], as: UTF8.self) else {
            throw PropertyListError("it holds a text that isn't valid ASCII")
        }
        return text
    }

    func utf16(_ range: Range<Int>) throws(PropertyListError) -> String {
        let units = stride(from: range.lowerBound, to: range.upperBound, by: 2).lazy.map { index in
            UInt16(bytes[index]) << 8 | UInt16(bytes[index + 1])
        }
        guard let text = String(validating: units, as: UTF16.self) else {
            throw PropertyListError("it holds a text that isn't valid UTF-16")
        }
        return text
    }

    /// The number of references in the content of an array, or of members in that of a dictionary.
    func count(of references: Range<Int>, perMember size: Int = 1) -> Int {
        references.count / (size * referenceSize)
    }

    /// The number of an object that is referred to.
    func reference(_ index: Int, in references: Range<Int>) throws(PropertyListError) -> Int {
        let position = references.lowerBound + index * referenceSize
        return try Self.number(in: bytes, at: position, size: referenceSize, below: objectCount)
    }
}

// MARK: - Reading what is wanted

extension BinaryPropertyList {
    /// Reads an object that doesn't contain others; `nil` for an array or a dictionary.
    ///
    /// - Throws: ``PropertyListError`` if the object is damaged.
    package func value(of object: Int) throws(PropertyListError) -> PropertyListValue? {
        switch try content(of: object) {
        case .plain(let value): value
        case .data(let range): .data(data(range))
        case .ascii(let range): .string(try ascii(range))
        case .utf16(let range): .string(try utf16(range))
        case .array, .dictionary: nil
        }
    }

    /// Finds the number of the object for the first such key in a dictionary.
    ///
    /// - Returns: The number; `nil` if there is none, or if the object isn't a dictionary.
    /// - Throws: ``PropertyListError`` if an object on the way is damaged.
    package func member(
        _ key: String,
        of object: Int
    ) throws(PropertyListError) -> Int? {
        guard case .dictionary(let references) = try content(of: object) else { return nil }
        let count = count(of: references, perMember: 2)
        for index in 0..<count {
            let isFound =
                switch try content(of: reference(index, in: references)) {
                case .ascii(let range):
                    range.count == key.utf8.count && key.utf8.elementsEqual(bytes[range])
                // Many keys may refer to one long text, so its length comes first.
                case .utf16(let range) where range.count != 2 * key.utf16.count: false
                case .utf16(let range): try utf16(range).utf8.elementsEqual(key.utf8)
                default: throw PropertyListError("it has a key that isn't a text")
                }
            if isFound { return try reference(count + index, in: references) }
        }
        return nil
    }

    /// Finds the number of an object in an array.
    ///
    /// - Returns: The number; `nil` if there is none, or if the object isn't an array.
    /// - Throws: ``PropertyListError`` if an object on the way is damaged.
    package func element(_ index: UInt64, of object: Int) throws(PropertyListError) -> Int? {
        guard case .array(let references) = try content(of: object),
            index < UInt64(count(of: references))
        else { return nil }
        return try reference(Int(index), in: references)
    }
}
