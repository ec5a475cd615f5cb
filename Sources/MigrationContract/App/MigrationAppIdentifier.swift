/// What identifies an app on a platform.
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

    /// Makes an identifier of its parts.
    public init(
        storeIdentifier: MigrationAppIdentifier.StoreIdentifier,
        bundleIdentifier: String,
        platform: MigrationPlatform
    ) {
        self.storeIdentifier = storeIdentifier
        self.bundleIdentifier = bundleIdentifier
        self.platform = platform
    }
}

/// Encodes the three parts, each as a string under the name of its property.
extension MigrationAppIdentifier: Codable {}
