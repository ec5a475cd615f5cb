internal import Foundation
internal import PropertyLists

/// Converts between Foundation's values and those of property lists.
///
/// `PropertyListSerialization` isn't used: its casts of arrays fail in a statically linked program,
/// and it has no limit on nesting.
extension PropertyListValue {
    /// Which of Foundation's values are converted.
    enum Scope {
        /// The types that property lists have.
        case propertyList
        /// Also URLs, UUIDs, sets and null, as dictionaries with a tag.
        case tagged
    }

    /// Converts `value`; returns `nil` if it, or a value in it, is outside the scope, or if arrays
    /// and dictionaries nest more than `levels` times.
    init?(_ value: Any, _ scope: Scope, levels: Int) {
        guard levels > 0 else { return nil }
        let value = (value as? AnyHashable)?.base ?? value
        let next = { (value: Any) in Self(value, scope, levels: levels - 1) }
        if let scalar = Self.scalar(value) {
            self = scalar
        } else if scope == .tagged, let tagged = Self.tagged(value, next) {
            self = tagged
        } else if let values = Self.elements(of: value) {
            guard let array = Self.converted(values, next) else { return nil }
            self = .array(array)
        } else if let members = Self.members(of: value) {
            let converted = members.compactMapValues(next)
            guard converted.count == members.count else { return nil }
            let isLikeTag = converted.count == 1 && converted.keys.allSatisfy(Self.isTag)
            let dictionary = PropertyListValue.dictionary(converted)
            self =
                scope == .tagged && isLikeTag
                ? .dictionary([Tag.dictionary: dictionary]) : dictionary
        } else {
            return nil
        }
    }

    private static func scalar(_ value: Any) -> PropertyListValue? {
        switch value {
        case let value as String: return .string(value)
        case let value as Date:
            let seconds = value.timeIntervalSinceReferenceDate
            return seconds.isFinite ? .date(secondsSince2001: seconds) : nil
        case let value as Data: return .data([UInt8](value))
        // Foundation's numbers can be cast to `Bool` too.
        case let truth as Bool where type(of: value) == Bool.self: return .boolean(truth)
        case let value as any BinaryInteger: return integer(value)
        case let value as any BinaryFloatingPoint: return .real(Double(value))
        case let value as NSNumber: return number(value)
        default: return nil
        }
    }

    private static func number(_ number: NSNumber) -> PropertyListValue? {
        // A number made from a `Bool` is one of two objects.
        if number === true as NSNumber || number === false as NSNumber {
            return .boolean(number.boolValue)
        }
        switch unsafe String(cString: number.objCType) {
        case "f", "d": return .real(number.doubleValue)
        case "Q": return integer(number.uint64Value)
        default: return Int64(exactly: number).map { .integer($0) }
        }
    }

    private static func integer(_ number: some BinaryInteger) -> PropertyListValue? {
        Int64(exactly: number).map { .integer($0) } ?? UInt64(exactly: number).map { .unsigned($0) }
    }

    private static func elements(of value: Any) -> [Any]? {
        if let array = value as? [Any] { return array }
        return (value as? NSArray).map { array in (0..<array.count).map { array.object(at: $0) } }
    }

    private static func members(of value: Any) -> [String: Any]? {
        if let members = value as? [String: Any] { return members }
        guard let dictionary = value as? NSDictionary else { return nil }
        var members: [String: Any] = [:]
        for key in dictionary.allKeys {
            guard let name = key as? String, let member = dictionary.object(forKey: key) else {
                return nil
            }
            members[name] = member
        }
        return members
    }

    private static func converted(
        _ values: [Any],
        _ convert: (Any) -> PropertyListValue?
    ) -> [PropertyListValue]? {
        var converted: [PropertyListValue] = []
        for value in values {
            guard let value = convert(value) else { return nil }
            converted.append(value)
        }
        return converted
    }

    /// The value in Foundation's types.
    var value: Any {
        switch self {
        case .string(let value): value
        case .integer(let value): Int(value)
        case .unsigned(let value), .uid(let value): value
        case .real(let value): value
        case .boolean(let value): value
        case .date(let seconds): Date(timeIntervalSinceReferenceDate: seconds)
        case .data(let bytes): Data(bytes)
        case .array(let values): values.map(\.value)
        case .dictionary(let members): members.mapValues(\.value)
        }
    }
}

// MARK: - Values with a tag

extension PropertyListValue {
    /// The kinds of values that property lists don't have, each the only key of a dictionary.
    private enum Tag {
        static let prefix = "migration:"
        static let url = "migration:url"
        static let uuid = "migration:uuid"
        static let null = "migration:null"
        static let set = "migration:set"
        /// A dictionary whose only key begins like a tag.
        static let dictionary = "migration:dictionary"
    }

    private static func isTag(_ key: String) -> Bool { key.hasPrefix(Tag.prefix) }

    private static func tagged(
        _ value: Any,
        _ convert: (Any) -> PropertyListValue?
    ) -> PropertyListValue? {
        switch value {
        case let value as URL: return .dictionary([Tag.url: .string(value.absoluteString)])
        case let value as UUID: return .dictionary([Tag.uuid: .string(value.uuidString)])
        case is NSNull: return .dictionary([Tag.null: .boolean(true)])
        default:
            let members = (value as? Set<AnyHashable>).map { $0.map(\.base) }
            guard let members = members ?? (value as? NSSet)?.allObjects,
                let values = converted(members, convert)
            else { return nil }
            // Sorted, so that equal sets have equal bytes. A value that XML can't hold is refused
            // when it is written.
            let sorted = values.map { (value: $0, text: (try? $0.xml()) ?? []) }
                .sorted { $0.text.lexicographicallyPrecedes($1.text) }
            return .dictionary([Tag.set: .array(sorted.map(\.value))])
        }
    }

    /// A value with a tag that can't be understood.
    struct UnknownTag: Error, CustomStringConvertible {
        let tag: String

        var description: String {
            "it has a value with the tag '\(BoundedText.name(tag))', which is unknown or of another type"
        }
    }

    /// The value in Foundation's types, including those of dictionaries with tags.
    var taggedValue: AnyHashable {
        get throws(UnknownTag) {
            switch self {
            case .string(let value): return value
            case .integer(let value): return Int(value)
            case .unsigned(let value), .uid(let value): return value
            case .real(let value): return value
            case .boolean(let value): return value
            case .date(let seconds): return Date(timeIntervalSinceReferenceDate: seconds)
            case .data(let bytes): return Data(bytes)
            case .array(let values): return try Self.tagged(values)
            case .dictionary(let members):
                guard let tag = members.first, members.count == 1, Self.isTag(tag.key) else {
                    return try Self.tagged(members)
                }
                return try Self.value(of: tag.value, with: tag.key)
            }
        }
    }

    private static func tagged(
        _ values: [PropertyListValue]
    ) throws(UnknownTag) -> [AnyHashable] {
        var tagged: [AnyHashable] = []
        for value in values { tagged.append(try value.taggedValue) }
        return tagged
    }

    private static func tagged(
        _ members: [String: PropertyListValue]
    ) throws(UnknownTag) -> [String: AnyHashable] {
        var tagged: [String: AnyHashable] = [:]
        for (key, value) in members { tagged[key] = try value.taggedValue }
        return tagged
    }

    private static func value(
        of value: PropertyListValue,
        with tag: String
    ) throws(UnknownTag) -> AnyHashable {
        switch (tag, value) {
        case (Tag.url, .string(let text)):
            if let url = URL(string: text) { return url }
        case (Tag.uuid, .string(let text)):
            if let uuid = UUID(uuidString: text) { return uuid }
        case (Tag.null, .boolean(true)): return NSNull()
        case (Tag.set, .array(let values)): return Set(try tagged(values))
        case (Tag.dictionary, .dictionary(let members)): return try tagged(members)
        default: break
        }
        throw UnknownTag(tag: tag)
    }
}
