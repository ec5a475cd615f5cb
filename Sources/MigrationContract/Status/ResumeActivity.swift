package import Foundation
internal import PropertyLists

/// What a person was doing in an app when its data was exported, so that the app can continue
/// there.
///
/// It is archived with the data and kept beside the import status. The app takes it once, with
/// ``MigrationStatus/takeResumeActivity(ofTypes:)``. An addition to Apple's interface, modelled on
/// `NSUserActivity`.
public struct ResumeActivity: Sendable, Equatable {
    /// The maximum size of an encoded activity.
    public static let sizeLimit = 64 * 1024

    /// The type of the activity, such as `com.example.notes.editing`.
    public let activityType: String

    /// The title of the activity, for a person; `nil` if it has none.
    public let title: String?

    /// The activity as a property list in XML, which can't expand when it is read.
    package let encoded: Data

    private enum Key {
        static let type = "activityType"
        static let title = "title"
        static let userInfo = "userInfo"
    }

    /// The maximum depth of arrays, sets and dictionaries in `userInfo`.
    private static let levels = 30

    /// Makes an activity.
    ///
    /// - Parameters:
    ///   - activityType: The type, by which an app recognizes the activity.
    ///   - title: The title, for a person.
    ///   - userInfo: What the app needs to continue, of the types that `NSUserActivity` allows:
    ///     texts, numbers, dates, data, URLs, UUIDs, null, and arrays, sets and dictionaries of
    ///     these. Dates are kept to the second.
    /// - Throws: ``MigrationError`` of code `invalidOption` if the type is empty, a value is of
    ///   another type, or the activity takes more than 64 KiB.
    public init(
        activityType: String,
        title: String? = nil,
        userInfo: [String: Any] = [:]
    ) throws(MigrationError) {
        var values: [String: PropertyListValue] = [:]
        for (key, value) in userInfo {
            guard let value = PropertyListValue(value, .tagged, levels: Self.levels) else {
                let name = BoundedText.name(key)
                throw Self.error(
                    "the value for '\(name)' in its userInfo is or holds something other than texts, "
                        + "numbers, dates, data, URLs, UUIDs, null, arrays, sets and dictionaries, "
                        + "or nests more than \(Self.levels) levels"
                )
            }
            values[key] = value
        }
        try self.init(activityType, title, values)
    }

    private init(
        _ type: String,
        _ title: String?,
        _ userInfo: [String: PropertyListValue]
    ) throws(MigrationError) {
        var list: [String: PropertyListValue] = [
            Key.type: .string(type), Key.userInfo: .dictionary(userInfo),
        ]
        list[Key.title] = title.map { .string($0) }
        let bytes: [UInt8]
        do throws(PropertyListError) {
            bytes = try PropertyListValue.dictionary(list).xml()
        } catch {
            throw Self.error("\(error)")
        }
        try self.init(encoded: Data(bytes))
    }

    /// Reads an activity from a property list in a file, in any form.
    ///
    /// - Parameter list: A dictionary with `activityType`, and perhaps `title` and `userInfo`, whose
    ///   values may have tags.
    /// - Throws: ``MigrationError`` of code `invalidOption` if it isn't an activity.
    package init(list: [UInt8]) throws(MigrationError) {
        let (type, title, userInfo) = try Self.read(list)
        try self.init(type, title, userInfo)
    }

    /// Reads an archived activity.
    package init(encoded: Data) throws(MigrationError) {
        guard encoded.count <= Self.sizeLimit else {
            throw Self.error("it takes \(encoded.count) bytes, and at most 64 KiB are kept")
        }
        // A binary list could expand to far more than its own size.
        guard encoded.starts(with: Data("<?xml".utf8)) else {
            throw Self.error("it is not a property list in XML")
        }
        let (type, title, userInfo) = try Self.read([UInt8](encoded))
        guard !type.isEmpty else { throw Self.error("its activityType is empty") }
        _ = try Self.values(of: userInfo)
        activityType = type
        (self.title, self.encoded) = (title, encoded)
    }

    /// What the app needs to continue; empty if the exporting app gave nothing.
    ///
    /// Arrays are of type `[AnyHashable]`, sets of type `Set<AnyHashable>` and dictionaries of type
    /// `[String: AnyHashable]`; cast them to the types of their elements.
    public var userInfo: [String: Any] {
        do throws(MigrationError) {
            return try Self.values(of: Self.read([UInt8](encoded)).userInfo)
        } catch {
            // It was already read when the activity was made.
            return [:]
        }
    }

    private typealias Parts = (
        type: String, title: String?, userInfo: [String: PropertyListValue]
    )

    private static func read(_ bytes: [UInt8]) throws(MigrationError) -> Parts {
        let list: PropertyListValue
        do throws(PropertyListError) {
            list = try PropertyListValue.read(dictionaryIn: bytes)
        } catch {
            throw Self.error("it is not a property list with an activityType: \(error)")
        }
        guard let type = list[Key.type]?.string else {
            throw Self.error("it is not a property list with an activityType")
        }
        let userInfo = list[Key.userInfo] ?? .dictionary([:])
        guard let members = userInfo.dictionary else {
            throw Self.error("its userInfo is not a dictionary")
        }
        return (type, list[Key.title]?.string, members)
    }

    private static func values(
        of members: [String: PropertyListValue]
    ) throws(MigrationError) -> [String: Any] {
        var values: [String: Any] = [:]
        do throws(PropertyListValue.UnknownTag) {
            for (key, value) in members { values[key] = try value.taggedValue.base }
        } catch {
            throw Self.error("\(error)")
        }
        return values
    }

    private static func error(_ message: String) -> MigrationError {
        MigrationError(.invalidOption, "the activity can't be used: \(message)")
    }
}

/// An exporting extension that also names what the person was doing.
///
/// An addition to Apple's interface.
public protocol ResumeActivityExporting: AppMigrationExtension {
    /// What the person was doing; `nil` if there is nothing to continue.
    ///
    /// The host asks once, before the export, because the answer is in the archive's first frame,
    /// which a stream has sent by the time of the first append.
    var resumeActivity: ResumeActivity? { get async }
}
