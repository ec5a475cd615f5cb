internal import Foundation

/// A value that a property list can hold, as JSON carries it.
///
/// Property lists themselves are not used: nobody vouches for what an extension's process sends, and
/// two hundred bytes of a binary list can stand for more than any memory holds.
indirect enum PropertyListValue: Sendable, Equatable {
    case string(String)
    case integer(Int64)
    case real(Double)
    case boolean(Bool)
    case date(Date)
    case data(Data)
    case array([PropertyListValue])
    case dictionary([String: PropertyListValue])

    /// The most levels of arrays and dictionaries that are carried.
    private static let levels = 8

    /// Takes over `value`; `nil` where a property list can't hold it, or all of what is in it.
    init?(_ value: Any) {
        self.init(value, levels: Self.levels)
    }

    private init?(_ value: Any, levels: Int) {
        guard levels > 0 else { return nil }
        switch value {
        case let value as String: self = .string(value)
        case let value as NSNumber:
            guard let number = Self.number(value) else { return nil }
            self = number
        case let value as Date:
            guard value.timeIntervalSinceReferenceDate.isFinite else { return nil }
            self = .date(value)
        case let value as Data: self = .data(value)
        case let values as [Any]:
            var array: [PropertyListValue] = []
            for value in values {
                guard let value = Self(value, levels: levels - 1) else { return nil }
                array.append(value)
            }
            self = .array(array)
        case let values as [String: Any]:
            var dictionary: [String: PropertyListValue] = [:]
            for (key, value) in values {
                guard let value = Self(value, levels: levels - 1) else { return nil }
                dictionary[key] = value
            }
            self = .dictionary(dictionary)
        default: return nil
        }
    }

    private static func number(_ number: NSNumber) -> PropertyListValue? {
        // A number that was made of a truth value is one of two objects.
        if number === true as NSNumber || number === false as NSNumber {
            return .boolean(number.boolValue)
        }
        switch unsafe String(cString: number.objCType) {
        case "f", "d": return .real(number.doubleValue)
        default:
            return Int64(exactly: number).map { .integer($0) }
        }
    }

    /// The value as Foundation has it.
    var value: Any {
        switch self {
        case .string(let value): value
        case .integer(let value): Int(value)
        case .real(let value): value
        case .boolean(let value): value
        case .date(let value): value
        case .data(let value): value
        case .array(let values): values.map(\.value)
        case .dictionary(let values): values.mapValues(\.value)
        }
    }
}

extension PropertyListValue: Codable {
    private enum CodingKeys: String, CodingKey {
        case string, integer, real, boolean, date, data, array, dictionary
    }

    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        try values.checkLevel()
        switch values.allKeys.first {
        case .string?: self = .string(try values.decode(String.self, forKey: .string))
        case .integer?: self = .integer(try values.decode(Int64.self, forKey: .integer))
        case .real?:
            // JSON has no number that is none, and none that is infinite.
            let text = try values.decode(String.self, forKey: .real)
            self = .real(Double(text) ?? .nan)
        case .boolean?: self = .boolean(try values.decode(Bool.self, forKey: .boolean))
        case .date?:
            let interval = try values.decode(Double.self, forKey: .date)
            self = .date(Date(timeIntervalSinceReferenceDate: interval))
        case .data?: self = .data(try values.decode(Data.self, forKey: .data))
        case .array?:
            self = .array(try values.decode([PropertyListValue].self, forKey: .array))
        case .dictionary?:
            let dictionary = try values.decode(
                [String: PropertyListValue].self,
                forKey: .dictionary
            )
            self = .dictionary(dictionary)
        case nil: throw values.invalid("a value of a property list")
        }
    }

    func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        switch self {
        case .string(let value): try values.encode(value, forKey: .string)
        case .integer(let value): try values.encode(value, forKey: .integer)
        case .real(let value): try values.encode("\(value)", forKey: .real)
        case .boolean(let value): try values.encode(value, forKey: .boolean)
        case .date(let value):
            try values.encode(value.timeIntervalSinceReferenceDate, forKey: .date)
        case .data(let value): try values.encode(value, forKey: .data)
        case .array(let value): try values.encode(value, forKey: .array)
        case .dictionary(let value): try values.encode(value, forKey: .dictionary)
        }
    }
}

extension KeyedDecodingContainer {
    /// Throws where what is decoded is nested deeper than anything that was encoded.
    func checkLevel() throws {
        guard codingPath.count <= 64 else { throw invalid("nested less deep") }
    }

    fileprivate func invalid(_ expected: String) -> DecodingError {
        let context = DecodingError.Context(
            codingPath: codingPath,
            debugDescription: "it is not \(expected)"
        )
        return .dataCorrupted(context)
    }
}
