/// The records of a pax extended header: `length key=value\n` (POSIX.1-2017, pax, "pax Extended Header").
package struct PaxRecords: Equatable {
    package struct Record: Equatable {
        package let key: [UInt8]
        package let value: [UInt8]
    }

    /// What is wrong with the bytes of an extended header.
    package struct Malformation: Error {
        let reason: String
    }

    package private(set) var records: [Record] = []

    /// Makes an empty list.
    package init() {}

    var isEmpty: Bool { records.isEmpty }

    package mutating func append(_ key: String, _ value: [UInt8]) {
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
            Self.append(record.key, record.value, to: &output)
        }
    }

    /// Appends one record to `output`.
    static func append(_ key: [UInt8], _ value: [UInt8], to output: inout [UInt8]) {
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
    /// Reads the records in `bytes`, every one of which must be well formed.
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
                throw Malformation(reason: "a record's length is no number")
            }
            length = length * 10 + Int(digit)
            position += 1
        }
        guard position > start, position < bytes.count, bytes[start] != UInt8(ascii: "0") else {
            throw Malformation(reason: "a record's length is no number")
        }
        position += 1
        return length
    }
}
