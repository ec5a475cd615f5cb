/// A platform that an app's data comes from or goes to.
///
/// Corresponds to AppMigrationKit's type of that name.
public struct MigrationPlatform: RawRepresentable, Hashable, Codable, Sendable {
    /// The type of the platform's name.
    public typealias RawValue = String

    /// The platform's name.
    public let rawValue: String

    /// Makes a platform of any name.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// Makes a platform of any name.
    public init(_ rawValue: String) {
        self.init(rawValue: rawValue)
    }
}

extension MigrationPlatform {
    /// Android.
    public static let android = MigrationPlatform("android")

    /// iOS and iPadOS; an addition to Apple's constants.
    public static let iOS = MigrationPlatform("iOS")

    /// Linux; an addition to Apple's constants.
    public static let linux = MigrationPlatform("linux")

    /// macOS; an addition to Apple's constants.
    public static let macOS = MigrationPlatform("macOS")
}
