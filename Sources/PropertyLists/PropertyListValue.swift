/// A value in a property list.
///
/// Read one with ``read(_:limits:)``, and write one with ``xml()``.
package indirect enum PropertyListValue: Hashable, Sendable {
    case string(String)
    case integer(Int64)
    /// A number above `Int64.max`; smaller ones are ``integer(_:)``.
    case unsigned(UInt64)
    case real(Double)
    case boolean(Bool)
    /// A moment, in seconds since 2001-01-01 00:00:00 UTC.
    case date(secondsSince2001: Double)
    case data([UInt8])
    case array([PropertyListValue])
    case dictionary([String: PropertyListValue])
    /// The number of an object in a keyed archive. Only binary lists hold one.
    case uid(UInt64)

    /// The maximum size of a list that describes an app or a container.
    package static let fileSizeLimit = 256 << 10

    /// Reads a binary list, or one in XML.
    ///
    /// A binary list can refer to one object many times at every level, so 200 bytes can expand to
    /// more than fits in memory. `limits` bounds the expanded size.
    ///
    /// - Parameters:
    ///   - bytes: The list. Its length isn't limited here.
    ///   - limits: How much the list may hold.
    /// - Returns: The value that the list holds.
    /// - Throws: ``PropertyListError`` if the bytes aren't a property list, or hold too much.
    package static func read(
        _ bytes: [UInt8],
        limits: PropertyListLimits = PropertyListLimits()
    ) throws(PropertyListError) -> PropertyListValue {
        bytes.starts(with: BinaryPropertyList.magic)
            ? try BinaryPropertyListReader.read(bytes, limits: limits)
            : try XMLPropertyListReader.read(bytes, limits: limits)
    }

    /// Reads a list that comes in pieces.
    ///
    /// For a list in XML, only its values are kept; a binary list is kept completely while it is
    /// read.
    ///
    /// - Parameters:
    ///   - limits: How much the list may hold.
    ///   - keys: The keys whose values aren't kept.
    ///   - next: Called for the next bytes; there are none at the end.
    /// - Returns: The value that the list holds; `nil` if there are no bytes at all.
    /// - Throws: ``PropertyListError``, and the errors of `next`.
    package static func read(
        limits: PropertyListLimits,
        leavingOut keys: Set<String>,
        from next: () throws -> ArraySlice<UInt8>
    ) throws -> PropertyListValue? {
        var piece = try next()
        if piece.isEmpty { return nil }
        if piece.starts(with: BinaryPropertyList.magic) {
            var bytes: [UInt8] = []
            while !piece.isEmpty {
                bytes += piece
                guard bytes.count <= limits.binaryBytes else {
                    let limit = "\(limits.binaryBytes) bytes"
                    throw PropertyListError("it is a binary list that takes more than \(limit)")
                }
                piece = try next()
            }
            return try BinaryPropertyListReader.read(bytes, limits: limits, leavingOut: keys)
        }
        let reader = XMLPropertyListReader(limits: limits, leavingOut: keys)
        while !piece.isEmpty {
            try reader.take(piece)
            piece = try next()
        }
        return try reader.finish()
    }

    /// Reads a list that describes an app or a container, which has to be a dictionary.
    ///
    /// - Parameter bytes: The list; `nil` if its file takes more than ``fileSizeLimit``.
    /// - Returns: The dictionary.
    /// - Throws: ``PropertyListError`` if it isn't a dictionary, or holds too much.
    package static func read(
        dictionaryIn bytes: [UInt8]?
    ) throws(PropertyListError) -> PropertyListValue {
        guard let bytes else {
            throw PropertyListError("it takes more than \(fileSizeLimit) bytes")
        }
        let value = try read(bytes)
        guard value.dictionary != nil else { throw PropertyListError("it isn't a dictionary") }
        return value
    }

    // MARK: Values by their type

    /// The text; `nil` if the value isn't a string.
    package var string: String? {
        if case .string(let value) = self { value } else { nil }
    }

    /// The whole number; `nil` if the value isn't one, or is above `Int64.max`.
    package var integer: Int64? {
        if case .integer(let value) = self { value } else { nil }
    }

    /// The truth value; `nil` if the value isn't one.
    package var boolean: Bool? {
        if case .boolean(let value) = self { value } else { nil }
    }

    /// The bytes; `nil` if the value isn't data.
    package var data: [UInt8]? {
        if case .data(let value) = self { value } else { nil }
    }

    /// The elements; `nil` if the value isn't an array.
    package var array: [PropertyListValue]? {
        if case .array(let value) = self { value } else { nil }
    }

    /// The values by their keys; `nil` if the value isn't a dictionary.
    package var dictionary: [String: PropertyListValue]? {
        if case .dictionary(let value) = self { value } else { nil }
    }

    /// The number of an object in a keyed archive; `nil` if the value isn't one.
    package var uid: UInt64? {
        if case .uid(let value) = self { value } else { nil }
    }

    /// The value for `key`; `nil` if there is none, or if this isn't a dictionary.
    package subscript(key: String) -> PropertyListValue? {
        dictionary?[key]
    }

    /// The elements as texts; `nil` if the value isn't an array of strings.
    package var strings: [String]? {
        guard let array else { return nil }
        let strings = array.compactMap(\.string)
        return strings.count == array.count ? strings : nil
    }
}

/// How much a property list may hold.
package struct PropertyListLimits: Sendable {
    /// The maximum number of values; a shared one counts each time that it is used.
    package let values: Int
    /// The maximum bytes of texts and data; shared ones count each time that they are used.
    package let expandedBytes: Int
    /// The maximum number of levels of arrays and dictionaries.
    package let depth: Int
    /// The maximum bytes of a binary list that comes in pieces, all of which are kept.
    package let binaryBytes: Int

    /// Makes limits; those that aren't given suit lists that describe an app or a container.
    package init(
        values: Int = 100_000,
        expandedBytes: Int = 16 << 20,
        depth: Int = 64,
        binaryBytes: Int = 8 << 20
    ) {
        (self.values, self.expandedBytes, self.depth) = (values, expandedBytes, depth)
        self.binaryBytes = binaryBytes
    }
}

/// Why bytes can't be read as a property list, or a value can't be written as one.
package struct PropertyListError: Error, Hashable, CustomStringConvertible {
    /// The problem, as the end of a sentence.
    package let description: String

    package init(_ description: String) {
        self.description = description
    }
}

/// The rest of the limits while a list is read.
struct PropertyListBudget {
    private var values: Int
    private var bytes: Int
    private let depth: Int

    init(_ limits: PropertyListLimits) {
        values = limits.values
        bytes = limits.expandedBytes
        depth = limits.depth
    }

    /// Subtracts one value from the budget.
    mutating func takeValue() throws(PropertyListError) {
        values -= 1
        guard values >= 0 else { throw PropertyListError("it holds too many values") }
    }

    /// Subtracts the bytes of a text or of data from the budget.
    mutating func take(bytes count: Int) throws(PropertyListError) {
        let (left, overflow) = bytes.subtractingReportingOverflow(count)
        guard !overflow, left >= 0 else { throw PropertyListError("it expands to too many bytes") }
        bytes = left
    }

    /// Checks that an array or a dictionary may be at `level`, counted from 1.
    func check(level: Int) throws(PropertyListError) {
        guard level <= depth else {
            throw PropertyListError("it nests more than \(depth) levels, or refers to itself")
        }
    }
}
