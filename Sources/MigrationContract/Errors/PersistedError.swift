public import Foundation
internal import MigrationArchive

/// An error as it is carried out of an extension's process, and persisted for the app.
///
/// It holds what an `NSError` says to a person and, of its other keys, those whose values a property list
/// can hold. What can't be carried is dropped key by key: other values, and what is left when all of it
/// takes more than 40 KiB.
public struct PersistedError: Sendable, Equatable {
    /// The domain of the error.
    public let domain: String

    /// The code of the error in its domain.
    public let code: Int

    /// What the error says to a person.
    public let description: String

    /// Why it failed, if the error says it.
    public private(set) var failureReason: String?

    /// What the person can do about it, if the error says it.
    public private(set) var recoverySuggestion: String?

    /// Where help is to be found, if the error says it.
    public private(set) var helpAnchor: String?

    /// The error beneath this one, if there is one.
    public var underlyingError: PersistedError? { underlying.first }

    /// The errors beneath this one, where there are several.
    public private(set) var underlyingErrors: [PersistedError] = []

    private var underlying: [PersistedError] = []
    private var information: [String: PropertyListValue] = [:]

    package init(domain: String, code: Int, description: String) {
        self.domain = ErrorText.domain(domain)
        self.code = code
        self.description = ErrorText.description(description)
    }
}

// MARK: - From an error

extension PersistedError {
    /// The most bytes that an error takes, with all that is beneath it.
    private static let room = 40 << 10

    /// The most errors of which each is beneath the one before.
    private static let levels = 8

    /// The key of several errors beneath one, which Foundation on Linux does not name.
    private static let underlyingErrorsKey = "NSMultipleUnderlyingErrorsKey"

    /// What has a place of its own.
    private static let ownKeys: Set = [
        NSLocalizedDescriptionKey, NSLocalizedFailureReasonErrorKey,
        NSLocalizedRecoverySuggestionErrorKey, NSHelpAnchorErrorKey, NSUnderlyingErrorKey,
        underlyingErrorsKey,
    ]

    /// Takes over what is to be carried of an error.
    ///
    /// Of an error of a migration that is what it says to a person; paths of the host, and what an
    /// extension printed, are for a report.
    ///
    /// - Parameter error: The error, such as an extension threw it.
    public init(_ error: any Error) {
        var room = Self.room
        self.init(error, levels: Self.levels, room: &room)
    }

    private init(_ error: any Error, levels: Int, room: inout Int) {
        let bridged = error as NSError
        self.init(domain: bridged.domain, code: bridged.code, description: error.wordsForPerson)
        room -= ErrorText.writtenSize(of: domain) + ErrorText.writtenSize(of: description) + 256
        guard !(error is MigrationError || error is ArchiveError || error is CancellationError)
        else {
            return
        }
        let values = bridged.userInfo
        func text(_ key: String, _ own: String?) -> String? {
            guard let text = values[key] as? String ?? own else { return nil }
            let short = ErrorText.detail(text)
            return Self.take(ErrorText.writtenSize(of: short) + key.utf8.count, from: &room)
                ? short : nil
        }
        let localized = error as? any LocalizedError
        failureReason = text(NSLocalizedFailureReasonErrorKey, localized?.failureReason)
        recoverySuggestion = text(
            NSLocalizedRecoverySuggestionErrorKey,
            localized?.recoverySuggestion
        )
        helpAnchor = text(NSHelpAnchorErrorKey, localized?.helpAnchor)
        for (key, value) in values.sorted(by: { $0.key < $1.key }) where !Self.ownKeys.contains(key)
        {
            guard let value = PropertyListValue(value),
                Self.take(Self.size(of: value) + ErrorText.writtenSize(of: key) + 16, from: &room)
            else { continue }
            information[key] = value
        }
        guard levels > 1 else { return }
        let beneath = (values[NSUnderlyingErrorKey] as? any Error).map { [$0] } ?? []
        underlying = Self.persisted(beneath, levels: levels - 1, room: &room)
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

    /// How many bytes JSON writes for `value`, about.
    private static func size(of value: PropertyListValue) -> Int {
        switch value {
        case .string(let text): ErrorText.writtenSize(of: text) + 16
        case .data(let data): data.count * 4 / 3 + 16
        case .array(let values): values.reduce(32) { $0 + size(of: $1) + 16 }
        case .dictionary(let values):
            values.reduce(32) { $0 + ErrorText.writtenSize(of: $1.key) + size(of: $1.value) + 16 }
        default: 64
        }
    }
}

extension PersistedError {
    /// The error again, as an `NSError` that has all that was carried.
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
    /// - Parameter decoder: What the form is read from.
    /// - Throws: An error for a form that is malformed.
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
    /// - Parameter encoder: What the form is written to.
    /// - Throws: What the encoder throws.
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
