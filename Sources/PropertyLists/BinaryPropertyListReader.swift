/// Reads a binary property list.
///
/// The format is the one of Core Foundation's `CFBinaryPList.c`, version 00. Every length and offset
/// is checked before it is used. An object that refers to itself ends at the limit of levels.
struct BinaryPropertyListReader {
    static let magic = [UInt8]("bplist".utf8)

    private static let headerSize = 8
    private static let trailerSize = 32

    private let bytes: [UInt8]
    private let offsetSize: Int
    private let referenceSize: Int
    private let objectCount: Int
    /// The position of the table of offsets, where the objects end.
    private let table: Int
    private var budget: PropertyListBudget

    static func read(
        _ bytes: [UInt8],
        limits: PropertyListLimits
    ) throws(PropertyListError) -> PropertyListValue {
        let trailer = bytes.count - trailerSize
        guard trailer >= headerSize, bytes.starts(with: magic + [UInt8]("00".utf8)) else {
            throw PropertyListError("it is cut short, or of an unknown version")
        }
        var reader = try Self(bytes, trailer: trailer, limits: limits)
        let root = try reader.number(at: trailer + 16, size: 8, below: reader.objectCount)
        return try reader.value(of: root, level: 0)
    }

    private init(
        _ bytes: [UInt8],
        trailer: Int,
        limits: PropertyListLimits
    ) throws(PropertyListError) {
        self.bytes = bytes
        budget = PropertyListBudget(limits)
        offsetSize = Int(bytes[trailer + 6])
        referenceSize = Int(bytes[trailer + 7])
        objectCount = try Self.number(in: bytes, at: trailer + 8, size: 8, below: bytes.count)
        table = try Self.number(in: bytes, at: trailer + 24, size: 8, below: trailer + 1)
        guard (1...8).contains(offsetSize), (1...8).contains(referenceSize),
            table >= Self.headerSize, objectCount <= (trailer - table) / offsetSize
        else { throw Self.damaged }
    }

    private static let damaged = PropertyListError("its lengths or offsets are wrong")

    /// Reads a big-endian number of at most 8 bytes that has to be below `limit`.
    private static func number(
        in bytes: [UInt8],
        at position: Int,
        size: Int,
        below limit: Int
    ) throws(PropertyListError) -> Int {
        let value = bytes[position..<position + size].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        guard value < UInt64(max(0, limit)) else { throw damaged }
        return Int(value)
    }

    private func number(
        at position: Int,
        size: Int,
        below limit: Int
    ) throws(PropertyListError) -> Int {
        try Self.number(in: bytes, at: position, size: size, below: limit)
    }

    // MARK: - Values

    /// Reads the object of a number, which lies below `level` arrays and dictionaries.
    private mutating func value(
        of object: Int,
        level: Int
    ) throws(PropertyListError) -> PropertyListValue {
        try budget.takeValue()
        let place = table + object * offsetSize
        let offset = try number(at: place, size: offsetSize, below: table)
        guard offset >= Self.headerSize else { throw Self.damaged }
        let low = Int(bytes[offset] & 0xF)
        switch bytes[offset] >> 4 {
        case 0x0 where low == 0x8 || low == 0x9: return .boolean(low == 0x9)
        case 0x1 where low <= 4: return try integer(content(at: offset + 1, 1 << low))
        case 0x2 where low == 2 || low == 3: return .real(try real(at: offset + 1, 1 << low))
        case 0x3 where low == 3: return .date(secondsSince2001: try real(at: offset + 1, 8))
        case 0x4: return .data(Array(try elements(of: 1, at: offset)))
        case 0x5: return .string(try ascii(elements(of: 1, at: offset)))
        case 0x6: return .string(try utf16(elements(of: 2, at: offset)))
        case 0x8 where low < 8:
            return .uid(try content(at: offset + 1, low + 1).reduce(0) { $0 << 8 | UInt64($1) })
        case 0xA: return .array(try array(at: offset, level: level + 1))
        case 0xD: return .dictionary(try dictionary(at: offset, level: level + 1))
        default: throw PropertyListError("it holds a value of an unknown type")
        }
    }

    /// The `count` bytes at `position`, which have to lie before the table of offsets.
    private func content(
        at position: Int,
        _ count: Int
    ) throws(PropertyListError) -> ArraySlice<UInt8> {
        guard position <= table, count <= table - position else { throw Self.damaged }
        return bytes[position..<position + count]
    }

    /// The bytes of all elements that the object at `offset` claims, `size` bytes each.
    private mutating func elements(
        of size: Int,
        at offset: Int
    ) throws(PropertyListError) -> ArraySlice<UInt8> {
        var (start, count) = (offset + 1, Int(bytes[offset] & 0xF))
        if count == 0xF {
            guard start < table, bytes[start] >> 4 == 0x1, bytes[start] & 0xF <= 3 else {
                throw Self.damaged
            }
            let width = 1 << Int(bytes[start] & 0xF)
            start += 1
            _ = try content(at: start, width)
            count = try number(at: start, size: width, below: table)
            start += width
        }
        let (length, overflow) = count.multipliedReportingOverflow(by: size)
        guard !overflow else { throw Self.damaged }
        let elements = try content(at: start, length)
        try budget.take(bytes: length)
        return elements
    }

    private func integer(
        _ content: ArraySlice<UInt8>
    ) throws(PropertyListError) -> PropertyListValue {
        let number = content.suffix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        guard content.count >= 8 else { return .integer(Int64(number)) }
        // Numbers of 16 bytes exist for those that 8 bytes with a sign can't hold.
        let signed = Int64(bitPattern: number)
        let high = content.dropLast(8)
        if high.allSatisfy({ $0 == (signed < 0 ? 0xFF : 0) }) { return .integer(signed) }
        guard high.allSatisfy({ $0 == 0 }) else {
            throw PropertyListError("it holds a number that takes more than 64 bits")
        }
        return .unsigned(number)
    }

    private func real(at position: Int, _ size: Int) throws(PropertyListError) -> Double {
        let bits = try content(at: position, size).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return size == 4
            ? Double(Float(bitPattern: UInt32(truncatingIfNeeded: bits))) : Double(bitPattern: bits)
    }

    private func ascii(_ content: ArraySlice<UInt8>) throws(PropertyListError) -> String {
        guard let text = String(validating: content, as: UTF8.self) else {
            throw PropertyListError("it holds a text that isn't valid ASCII")
        }
        return text
    }

    private func utf16(_ content: ArraySlice<UInt8>) throws(PropertyListError) -> String {
        let start = content.startIndex
        let units = (0..<content.count / 2).lazy.map { index in
            UInt16(content[start + 2 * index]) << 8 | UInt16(content[start + 2 * index + 1])
        }
        guard let text = String(validating: units, as: UTF16.self) else {
            throw PropertyListError("it holds a text that isn't valid UTF-16")
        }
        return text
    }

    // MARK: - Arrays and dictionaries

    private mutating func array(
        at offset: Int,
        level: Int
    ) throws(PropertyListError) -> [PropertyListValue] {
        try budget.check(level: level)
        let references = try elements(of: referenceSize, at: offset)
        var values: [PropertyListValue] = []
        for place in stride(from: references.startIndex, to: references.endIndex, by: referenceSize)
        {
            values.append(try value(of: reference(at: place), level: level))
        }
        return values
    }

    private mutating func dictionary(
        at offset: Int,
        level: Int
    ) throws(PropertyListError) -> [String: PropertyListValue] {
        try budget.check(level: level)
        // The references to all keys lie before those to the values.
        let references = try elements(of: 2 * referenceSize, at: offset)
        let middle = references.startIndex + references.count / 2
        var values: [String: PropertyListValue] = [:]
        for place in stride(from: references.startIndex, to: middle, by: referenceSize) {
            guard case .string(let key) = try value(of: reference(at: place), level: level) else {
                throw PropertyListError("it has a key that isn't a text")
            }
            let object = try reference(at: place + references.count / 2)
            let old = values.updateValue(try value(of: object, level: level), forKey: key)
            guard old == nil else { throw PropertyListError("it has one key twice") }
        }
        return values
    }

    private func reference(at place: Int) throws(PropertyListError) -> Int {
        try number(at: place, size: referenceSize, below: objectCount)
    }
}
