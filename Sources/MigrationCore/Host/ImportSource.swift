/// What an app's extension is told of the app that exported; what is `nil` the archive says.
///
/// The import's record keeps what the extension was told.
public struct ImportSource: Sendable {
    /// The bundle identifier, or what the source platform has in its place.
    public var bundleIdentifier: String?

    /// The platform.
    public var platform: MigrationPlatform?

    /// The store; `nil` takes Google Play for Android and the App Store for iOS.
    public var store: MigrationAppIdentifier.StoreIdentifier?

    /// The version of the exported format.
    public var version: String?

    /// Makes a source of which the archive says everything.
    public init() {}
}
