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

    /// Whether the export fails where an app's extension leaves something behind, in the container or in an
    /// app group, outside of `Library/Caches` and `tmp`; otherwise the report says so.
    public var expectsComplete = false

    /// The number of threads that compress, from 1 to 64; `nil` takes one a core, three at most.
    public var threadCount: Int?

    /// Makes the default options.
    public init() {}
}
