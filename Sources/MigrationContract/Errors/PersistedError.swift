public import Foundation
internal import MigrationSystem
internal import PropertyLists

/// An error that was sent from an extension's process, or persisted for the app.
///
/// It holds the texts of an `NSError` for a person, and its other values if a property list can
/// hold them. Other values are dropped, and so are values beyond 40 KiB in all.
public struct PersistedError: Sendable, Equatable {
    /// The domain of the error.
    public let domain: String

    /// The code of the error in its domain.
    public let code: Int

    /// The description of the error for a person.
    public let description: String

    /// The reason for the failure, if the error gives one.
    public private(set) var failureReason: String?

    /// Advice for the person, if the error gives any.
    public private(set) var recoverySuggestion: String?

    /// The anchor of a help page, if the error gives one.
    public private(set) var helpAnchor: String?

    /// The error that caused this one, if there is one.
    public var underlyingError: PersistedError? { underlying.first }

    /// The errors that caused this one, if there are several.
    public private(set) var underlyingErrors: [PersistedError] = []

    private var underlying: [PersistedError] = []
    private var information: [String: PropertyListValue] = [:]

    package init(domain: String, code: Int, description: String) {
        self.domain = BoundedText.domain(domain)
        self.code = code
        self.description = BoundedText.description(description)
    }
}

// MARK: - Conversion from an error and to one

extension PersistedError {
    /// The maximum size of an error, including the errors that caused it.
    private static let room = 40 << 10

    /// The maximum depth of underlying errors.
    private static let levels = 8

    /// The maximum depth of arrays and dictionaries in another value.
    private static let valueLevels = 8

    /// The key of several underlying errors; Foundation on Linux has no constant for it.
    private static let underlyingErrorsKey = "NSMultipleUnderlyingErrorsKey"

    /// The keys whose values have their own properties.
    private static let ownKeys: Set = [
        NSLocalizedDescriptionKey, NSLocalizedFailureReasonErrorKey,
        NSLocalizedRecoverySuggestionErrorKey, NSHelpAnchorErrorKey, NSUnderlyingErrorKey,
        underlyingErrorsKey,
    ]

    /// Makes the persisted form of an error.
    ///
    /// It does not include a ``MigrationError``'s path on the host, nor the output of an extension.
    ///
    /// - Parameter error: Any error, such as one that an extension threw.
    package init(_ error: any Error) {
        var room = Self.room
        self.init(error, levels: Self.levels, room: &room)
    }

    private init(_ error: any Error, levels: Int, room: inout Int) {
        let bridged = error as NSError
        self.init(domain: bridged.domain, code: bridged.code, description: error.wordsForPerson)
        room -= BoundedText.writtenSize(of: domain) + BoundedText.writtenSize(of: description) + 256
        guard
            !(error is MigrationError || error is any DescribedError || error is CancellationError)
        else {
            return
        }
        let values = bridged.userInfo
        func text(key: String, own: String?) -> String? {
            guard let text = values[key] as? String ?? own else { return nil }
            let short = BoundedText.detail(text)
            return Self.take(BoundedText.writtenSize(of: short) + key.utf8.count, from: &room)
                ? short : nil
        }
        let localized = error as? any LocalizedError
        failureReason = text(key: NSLocalizedFailureReasonErrorKey, own: localized?.failureReason)
        recoverySuggestion = text(
            key: NSLocalizedRecoverySuggestionErrorKey,
            own: localized?.recoverySuggestion
        )
        helpAnchor = text(key: NSHelpAnchorErrorKey, own: localized?.helpAnchor)
        for (key, value) in values.sorted(by: { $0.key < $1.key }) where !Self.ownKeys.contains(key)
        {
            guard let value = PropertyListValue(value, .propertyList, levels: Self.valueLevels),
                Self.take(Self.size(of: value) + BoundedText.writtenSize(of: key) + 16, from: &room)
            else { continue }
            information[key] = value
        }
        guard levels > 1 else { return }
        let single = (values[NSUnderlyingErrorKey] as? any Error).map { [$0] } ?? []
        underlying = Self.persisted(single, levels: levels - 1, room: &room)
        let several = values[Self.underlyingErrorsKey] as? [any Error] ?? []
        underlyingErrors = Self.persisted(several, levels: levels - 1, room: &room)
    }

    private static func persisted(
        _ errors: [any Error],
        levels: Int,
        room: inout Int
    ) -> [PersistedError] {
        var persisted: [PersistedError] = []
        for error in errors {
            var rest = room
            let next = PersistedError(error, levels: levels, room: &rest)
            guard rest >= 0 else { continue }
            room = rest
            persisted.append(next)
        }
        return persisted
    }

    private static func take(_ size: Int, from room: inout Int) -> Bool {
        guard size <= room else { return false }
        room -= size
        return true
    }

    /// Estimates the number of bytes that JSON needs for `value`.
    private static func size(of value: PropertyListValue) -> Int {
        switch value {
        case .string(let text): BoundedText.writtenSize(of: text) + 16
        case .data(let data): data.count * 4 / 3 + 16
        case .array(let values): values.reduce(32) { $0 + size(of: $1) + 16 }
        case .dictionary(let values):
            values.reduce(32) { $0 + BoundedText.writtenSize(of: $1.key) + size(of: $1.value) + 16 }
        default: 64
        }
    }
}

extension PersistedError {
    /// An `NSError` with everything that was persisted.
    public var error: NSError {
        var values = information.mapValues(\.value)
        values[NSLocalizedDescriptionKey] = description
        values[NSLocalizedFailureReasonErrorKey] = failureReason
        values[NSLocalizedRecoverySuggestionErrorKey] = recoverySuggestion
        values[NSHelpAnchorErrorKey] = helpAnchor
        values[NSUnderlyingErrorKey] = underlyingError?.error
        if !underlyingErrors.isEmpty {
            values[Self.underlyingErrorsKey] = underlyingErrors.map(\.error)
        }
        return NSError(domain: domain, code: code, userInfo: values)
    }
}

// MARK: - The persisted form

extension PersistedError: Codable {
    private enum CodingKeys: String, CodingKey {
        case domain, code, description, failureReason, recoverySuggestion, helpAnchor
        case underlyingError, underlyingErrors, userInfo
    }

    /// Reads the persisted form.
    ///
    /// - Parameter decoder: The decoder to read from.
    /// - Throws: An error if the form is malformed.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        try values.checkLevel()
        self.init(
            domain: try values.decode(String.self, forKey: .domain),
            code: try values.decode(Int.self, forKey: .code),
            description: try values.decode(String.self, forKey: .description)
        )
        failureReason = try values.decodeIfPresent(String.self, forKey: .failureReason)
        recoverySuggestion = try values.decodeIfPresent(String.self, forKey: .recoverySuggestion)
        helpAnchor = try values.decodeIfPresent(String.self, forKey: .helpAnchor)
        underlying =
            try values.decodeIfPresent(PersistedError.self, forKey: .underlyingError).map { [$0] }
            ?? []
        underlyingErrors =
            try values.decodeIfPresent([PersistedError].self, forKey: .underlyingErrors) ?? []
        information =
            try values.decodeIfPresent([String: PropertyListValue].self, forKey: .userInfo) ?? [:]
    }

    /// Writes the persisted form.
    ///
    /// - Parameter encoder: The encoder to write to.
    /// - Throws: The encoder's errors.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(domain, forKey: .domain)
        try values.encode(code, forKey: .code)
        try values.encode(description, forKey: .description)
        try values.encodeIfPresent(failureReason, forKey: .failureReason)
        try values.encodeIfPresent(recoverySuggestion, forKey: .recoverySuggestion)
        try values.encodeIfPresent(helpAnchor, forKey: .helpAnchor)
        try values.encodeIfPresent(underlyingError, forKey: .underlyingError)
        if !underlyingErrors.isEmpty {
            try values.encode(underlyingErrors, forKey: .underlyingErrors)
        }
        if !information.isEmpty { try values.encode(information, forKey: .userInfo) }
    }
}

// MARK: - Other values

/// The form of a value in JSON, which names its kind.
///
/// Messages don't contain property lists, because an extension's process isn't trusted: 200 bytes
/// of a binary property list can expand to more than fits in memory.
extension PropertyListValue: Codable {
    private enum CodingKeys: String, CodingKey {
        case string, integer, real, boolean, date, data, array, dictionary
    }

    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        try values.checkLevel()
        switch values.allKeys.first {
        case .string?: self = .string(try values.decode(String.self, forKey: .string))
        case .integer?:
            // A larger number is of the other kind.
            if let number = try? values.decode(Int64.self, forKey: .integer) {
                self = .integer(number)
            } else {
                self = .unsigned(try values.decode(UInt64.self, forKey: .integer))
            }
        case .real?:
            // JSON has neither NaN nor infinity.
            let text = try values.decode(String.self, forKey: .real)
            self = .real(Double(text) ?? .nan)
        case .boolean?: self = .boolean(try values.decode(Bool.self, forKey: .boolean))
        case .date?:
            let interval = try values.decode(Double.self, forKey: .date)
            self = .date(secondsSince2001: interval)
        case .data?: self = .data([UInt8](try values.decode(Data.self, forKey: .data)))
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
        case .unsigned(let value), .uid(let value): try values.encode(value, forKey: .integer)
        case .real(let value): try values.encode("\(value)", forKey: .real)
        case .boolean(let value): try values.encode(value, forKey: .boolean)
        case .date(let seconds): try values.encode(seconds, forKey: .date)
        case .data(let bytes): try values.encode(Data(bytes), forKey: .data)
        case .array(let value): try values.encode(value, forKey: .array)
        case .dictionary(let value): try values.encode(value, forKey: .dictionary)
        }
    }
}

extension KeyedDecodingContainer {
    /// Throws if the value is nested deeper than anything that was encoded.
    fileprivate func checkLevel() throws {
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
