package import Foundation
internal import PropertyLists

/// What a person was doing in an app when its data was exported, for the app to go on there.
///
/// It travels with the data and is kept beside the import status. The app takes it once, by
/// ``MigrationStatus/takeResumeActivity(ofTypes:)``. An addition to Apple's interface, after
/// `NSUserActivity`.
public struct ResumeActivity: Sendable, Equatable {
    /// The most bytes of an encoded activity.
    public static let sizeLimit = 64 * 1024

    /// The type of the activity, such as `com.example.notes.editing`.
    public let activityType: String

    /// The title of the activity, for a person; `nil` if it has none.
    public let title: String?

    /// The activity as a property list in XML, in which no value can stand for many.
    package let encoded: Data

    private enum Key {
        static let type = "activityType"
        static let title = "title"
        static let userInfo = "userInfo"
    }

    /// Makes an activity.
    ///
    /// - Parameters:
    ///   - activityType: The type, by which an app knows the activity.
    ///   - title: The title, for a person.
    ///   - userInfo: What the app needs to go on: texts, numbers, dates, data, and arrays and
    ///     dictionaries of these.
    /// - Throws: ``MigrationError`` of code `invalidOption` where the type is empty, a value is of
    ///   another type, or all of it takes more than 64 KiB.
    public init(
        activityType: String,
        title: String? = nil,
        userInfo: [String: Any] = [:]
    ) throws(MigrationError) {
        var list: [String: Any] = [Key.type: activityType, Key.userInfo: userInfo]
        list[Key.title] = title
        guard PropertyListSerialization.propertyList(list, isValidFor: .xml),
            let data = try? PropertyListSerialization.data(
                fromPropertyList: list,
                format: .xml,
                options: 0
            )
        else {
            throw Self.error("its userInfo holds something other than property-list types")
        }
        try self.init(encoded: data)
    }

    /// Reads an activity from a property list in a file, in any form.
    ///
    /// - Parameter list: A dictionary with `activityType`, and perhaps `title` and `userInfo`.
    /// - Throws: ``MigrationError`` of code `invalidOption` where it is none.
    package init(list: [UInt8]) throws(MigrationError) {
        // Foundation has no limits of its own.
        let known = try? PropertyListValue.read(dictionaryIn: list)
        let value = try? unsafe PropertyListSerialization.propertyList(
            from: Data(list),
            format: nil
        )
        guard known != nil, let value = value as? [String: Any],
            let type = value[Key.type] as? String
        else { throw Self.error("it is not a property list with an activityType") }
        let userInfo = value[Key.userInfo] ?? [String: Any]()
        guard let userInfo = userInfo as? [String: Any] else {
            throw Self.error("its userInfo is not a dictionary")
        }
        try self.init(
            activityType: type,
            title: value[Key.title] as? String,
            userInfo: userInfo
        )
    }

    /// Reads an activity as it is archived.
    package init(encoded: Data) throws(MigrationError) {
        guard encoded.count <= Self.sizeLimit else {
            throw Self.error("it takes \(encoded.count) bytes, and at most 64 KiB are kept")
        }
        // A binary list could stand for far more than it takes.
        guard encoded.starts(with: Data("<?xml".utf8)),
            let list = try? PropertyListValue.read(dictionaryIn: [UInt8](encoded)),
            let type = list[Key.type]?.string
        else { throw Self.error("it is not a property list with an activityType") }
        guard !type.isEmpty else { throw Self.error("its activityType is empty") }
        activityType = type
        title = list[Key.title]?.string
        self.encoded = encoded
    }

    /// What the app needs to go on; empty where the exporting app gave nothing.
    public var userInfo: [String: Any] {
        let list = try? unsafe PropertyListSerialization.propertyList(from: encoded, format: nil)
        return (list as? [String: Any])?[Key.userInfo] as? [String: Any] ?? [:]
    }

    private static func error(_ message: String) -> MigrationError {
        MigrationError(.invalidOption, "the activity can't be used: \(message)")
    }
}

/// An exporting extension that also names what the person was doing.
///
/// An addition to Apple's interface. The host asks before the export.
public protocol ResumeActivityExporting: AppMigrationExtension {
    /// What the person was doing; `nil` if there is nothing to go on with.
    var resumeActivity: ResumeActivity? { get async }
}
