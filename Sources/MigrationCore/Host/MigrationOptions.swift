public import Foundation

/// How an export is made.
public struct ExportOptions: Sendable {
    /// The platform that the data comes from; `nil` takes that of the container.
    public var platform: MigrationPlatform?

    /// The platform that the data goes to, which an app's extension is told.
    public var destinationPlatform = MigrationPlatform.android

    /// The options of the destination that an app's extension gets, by name.
    public var destinationOptions: [String: Data] = [:]

    /// The version of the data's format, for the importing app to read; an app's extension says its own.
    public var resourcesVersion = "1.0"

    /// Whether the content is worth compressing, where no extension says it; `false` stores it.
    public var isCompressible = true

    /// The zstd compression level, from 1 to 19.
    public var compressionLevel = 3

    /// Whether `Library/Caches` is archived too, where no extension of the app's decides.
    public var includesCaches = false

    /// Patterns of what is left out, as ``ExclusionPattern`` reads them, where no extension decides.
    public var exclusions: [ExclusionPattern] = []

    /// Whether the export fails where something is of a kind that no archive holds: a socket, a FIFO,
    /// a device, an access control list or an attribute outside `user.*`; otherwise the report says so.
    public var isStrict = false

    /// The number of threads that compress, from 1 to 64; `nil` takes one a core, three at most.
    public var threadCount: Int?

    /// Makes the default options.
    public init() {}
}

/// What becomes of symbolic links that lead out of the place they are restored to.
public enum ExternalLinkPolicy: String, Sendable, CaseIterable {
    /// The import fails.
    case refuse

    /// They are restored as they are; they are never followed.
    case keep

    /// They are left out, and the report says so.
    case skip
}

/// How an import is made.
public struct ImportOptions: Sendable {
    /// Whether a container that holds data is replaced; otherwise it is refused.
    public var replacesData = false

    /// What becomes of symbolic links that lead out of the container.
    public var externalLinks = ExternalLinkPolicy.refuse

    /// The app that the data comes from, as far as the archive does not say it.
    public var source = ImportSource()

    /// The number of threads that decompress, from 1 to 64; `nil` takes one a core, three at most.
    public var threadCount: Int?

    /// Makes the default options.
    public init() {}
}

/// What an app's extension is told of the app that exported; what is `nil` the archive says.
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
