internal import MigrationSystem

/// The records of a pax extended header: `length key=value\n` (POSIX.1-2017, pax, "pax Extended Header").
package struct PaxRecords: Equatable {
    package struct Record: Equatable {
        package let key: [UInt8]
        package let value: [UInt8]
    }

    /// The problem with the bytes of an extended header.
    package struct Malformation: Error {
        let reason: String
    }

    package private(set) var records: [Record] = []

    /// Makes an empty list.
    package init() {}

    var isEmpty: Bool { records.isEmpty }

    package mutating func append(key: String, value: [UInt8]) {
        records.append(Record(key: [UInt8](key.utf8), value: value))
    }

    mutating func append(key: [UInt8], value: [UInt8]) {
        records.append(Record(key: key, value: value))
    }
}

// MARK: - Encoding

extension PaxRecords {
    /// Appends the records, in their order, to `output`.
    package func encode(to output: inout [UInt8]) {
        for record in records {
            Self.append(key: record.key, value: record.value, to: &output)
        }
    }

    /// Appends one record to `output`.
    static func append(key: [UInt8], value: [UInt8], to output: inout [UInt8]) {
        output.append(decimal: UInt64(length(of: key.count + value.count + 3)))
        output.append(UInt8(ascii: " "))
        output.append(contentsOf: key)
        output.append(UInt8(ascii: "="))
        output.append(contentsOf: value)
        output.append(UInt8(ascii: "\n"))
    }

    /// The bytes of a record whose length counts its own digits.
    private static func length(of rest: Int) -> Int {
        var length = rest
        while true {
            let next = rest + UInt64(length).decimalDigits
            if next == length { return length }
            length = next
        }
    }
}

// MARK: - Decoding

extension PaxRecords {
    /// Reads the records in `bytes`, which must all be well formed.
    package init(parsing bytes: [UInt8]) throws(Malformation) {
        var position = 0
        while position < bytes.count {
            let start = position
            let length = try Self.parseLength(in: bytes, at: &position)
            guard length <= bytes.count - start else {
                throw Malformation(reason: "a record is longer than its header")
            }
            let end = start + length
            guard end > position, bytes[end - 1] == UInt8(ascii: "\n") else {
                throw Malformation(reason: "a record does not end with a newline")
            }
            let body = bytes[position..<end - 1]
            guard let equals = body.firstIndex(of: UInt8(ascii: "=")), equals > position else {
                throw Malformation(reason: "a record has no key")
            }
            guard !body[..<equals].contains(0) else {
                throw Malformation(reason: "a record's key holds a zero byte")
            }
            append(key: [UInt8](body[..<equals]), value: [UInt8](body[(equals + 1)...]))
            position = end
        }
    }

    private static func parseLength(
        in bytes: [UInt8],
        at position: inout Int
    ) throws(Malformation) -> Int {
        var length = 0
        let start = position
        while position < bytes.count, bytes[position] != UInt8(ascii: " ") {
            let digit = bytes[position] &- UInt8(ascii: "0")
            guard digit <= 9, position - start < 8 else {
                throw Malformation(reason: "a record's length is not a number")
            }
            length = length * 10 + Int(digit)
            position += 1
        }
        guard position > start, position < bytes.count, bytes[start] != UInt8(ascii: "0") else {
            throw Malformation(reason: "a record's length is not a number")
        }
        position += 1
        return length
    }
}

/// The keywords of pax records that this project uses.
enum PaxKey {
    static let path = [UInt8]("path".utf8)
    static let linkPath = [UInt8]("linkpath".utf8)
    static let size = [UInt8]("size".utf8)
    static let user = [UInt8]("uid".utf8)
    static let group = [UInt8]("gid".utf8)
    static let modificationTime = [UInt8]("mtime".utf8)
    static let headerCharacterSet = [UInt8]("hdrcharset".utf8)
    static let attributePrefix = [UInt8]("SCHILY.xattr.".utf8)
    static let accessListPrefix = [UInt8]("SCHILY.acl.".utf8)
    static let accessList = [UInt8]("SCHILY.acl.access".utf8)
    static let defaultAccessList = [UInt8]("SCHILY.acl.default".utf8)
    static let securityLabel = [UInt8]("RHT.security.selinux".utf8)

    /// The attribute that a record carries, with `%25` and `%3D` read back as GNU tar writes them.
    static func attributeName(of key: [UInt8]) -> [UInt8]? {
        guard key.starts(with: attributePrefix), key.count > attributePrefix.count else {
            return nil
        }
        var name: [UInt8] = []
        var rest = key.dropFirst(attributePrefix.count)
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), rest.starts(with: "25".utf8) {
                name.append(UInt8(ascii: "%"))
                rest = rest.dropFirst(2)
            } else if byte == UInt8(ascii: "%"), rest.starts(with: "3D".utf8) {
                name.append(UInt8(ascii: "="))
                rest = rest.dropFirst(2)
            } else {
                name.append(byte)
            }
        }
        return name
    }

    /// Reads a number in decimal digits; `nil` for other text, or a number greater than 2^63 - 1.
    static func number(_ text: [UInt8]) -> UInt64? {
        digits(text[...]).flatMap { $0 <= UInt64(Int64.max) ? $0 : nil }
    }

    /// Reads a number in decimal digits; `nil` for other text, or a number that doesn't fit.
    fileprivate static func digits(_ text: ArraySlice<UInt8>) -> UInt64? {
        text.allSatisfy(isDigit) ? UInt64(String(decoding: text, as: UTF8.self)) : nil
    }

    fileprivate static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }
}

// MARK: - Times

/// Times in pax records: decimal seconds with a fraction, negative before 1970.
enum PaxTime {
    /// The decimal number of whole seconds.
    static func encode(seconds: Int64) -> [UInt8] {
        var text: [UInt8] = seconds < 0 ? [UInt8(ascii: "-")] : []
        text.append(decimal: UInt64(seconds.magnitude))
        return text
    }

    /// Reads a time; the result is `nil` if the text is not one.
    ///
    /// Digits beyond nanoseconds are dropped, toward the past.
    static func decode(_ text: [UInt8]) -> FileTime? {
        var digits = text[...]
        let isNegative = digits.first == UInt8(ascii: "-")
        if isNegative { digits = digits.dropFirst() }
        let whole = digits.prefix { $0 != UInt8(ascii: ".") }
        let rest = digits.dropFirst(whole.count)
        let decimals = rest.dropFirst()
        guard whole.count <= 19, let seconds = PaxKey.digits(whole),
            decimals.allSatisfy(PaxKey.isDigit)
        else { return nil }
        let fraction = (0..<9).reduce(UInt32(0)) { value, place in
            let digit = decimals.dropFirst(place).first ?? UInt8(ascii: "0")
            return value * 10 + UInt32(digit - UInt8(ascii: "0"))
        }
        if !isNegative {
            return Int64(exactly: seconds).map { FileTime(seconds: $0, nanoseconds: fraction) }
        }
        let hasMore = decimals.dropFirst(9).contains { $0 != UInt8(ascii: "0") }
        let total = fraction + (hasMore ? 1 : 0)
        // Counted down from -1, so that the smallest number of seconds doesn't overflow.
        let (steps, forward) = total == 0 ? (seconds, 0) : (seconds + 1, 1_000_000_000 - total)
        guard steps > 0 else { return FileTime(seconds: 0) }
        return Int64(exactly: steps - 1).map { FileTime(seconds: -1 - $0, nanoseconds: forward) }
    }
}

extension UInt64 {
    /// The number of decimal digits.
    var decimalDigits: Int {
        var (rest, count) = (self / 10, 1)
        while rest > 0 {
            rest /= 10
            count += 1
        }
        return count
    }
}

extension [UInt8] {
    /// Appends the digits of `number` without making a string.
    mutating func append(decimal number: UInt64) {
        let start = count
        append(contentsOf: repeatElement(UInt8(ascii: "0"), count: number.decimalDigits))
        var (rest, index) = (number, count)
        while index > start {
            index -= 1
            self[index] += UInt8(rest % 10)
            rest /= 10
        }
    }
}
