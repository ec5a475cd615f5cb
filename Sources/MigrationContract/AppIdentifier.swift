/// Identifies an app on a platform.
///
/// Corresponds to AppMigrationKit's type of that name. Like Apple's it can't be compared; compare
/// its parts.
public struct MigrationAppIdentifier: Sendable {
    /// The store that the app is from.
    public let storeIdentifier: MigrationAppIdentifier.StoreIdentifier

    /// The identifier of the app in that store: a bundle identifier, or a package name.
    public let bundleIdentifier: String

    /// The platform that the app runs on.
    public let platform: MigrationPlatform

    /// Makes an identifier from its parts.
    public init(
        storeIdentifier: MigrationAppIdentifier.StoreIdentifier,
        bundleIdentifier: String,
        platform: MigrationPlatform
    ) {
        (self.storeIdentifier, self.bundleIdentifier) = (storeIdentifier, bundleIdentifier)
        self.platform = platform
    }
}

/// Encodes the three parts, each as a string under the name of its property.
extension MigrationAppIdentifier: Codable {}

// MARK: - The store

extension MigrationAppIdentifier {
    /// A store that apps are from.
    ///
    /// Corresponds to AppMigrationKit's type of that name.
    public struct StoreIdentifier: RawRepresentable, Hashable, Codable, Sendable {
        /// The type of the store's name.
        public typealias RawValue = String

        /// The store's name.
        public let rawValue: String

        /// Makes a store of any name.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// Makes a store of any name.
        public init(_ rawValue: String) {
            self.init(rawValue: rawValue)
        }

        /// Google Play.
        public static let googlePlay = StoreIdentifier("googlePlay")
    }
}

extension MigrationAppIdentifier.StoreIdentifier {
    /// Apple's App Store; an addition to Apple's constants.
    public static let appStore = Self("appStore")
}

// MARK: - The platform

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

    /// Makes the platform that a person names: a known one in upper or lower case, or any other.
    package init(named name: String) {
        let known: [MigrationPlatform] = [.android, .iOS, .linux, .macOS]
        self = known.first { $0.rawValue.lowercased() == name.lowercased() } ?? Self(name)
    }

    /// The platform that this process runs on.
    static var current: MigrationPlatform {
        #if os(macOS)
        .macOS
        #else
        .linux
        #endif
    }
}
