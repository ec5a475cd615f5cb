/// How an export is made.
public struct ExportOptions: Sendable {
    /// The platform that the data comes from; `nil` takes that of the container.
    public var platform: MigrationPlatform?

    /// The version of the data's format, for the importing app to read.
    public var resourcesVersion = "1.0"

    /// Whether the content is worth compressing; `false` stores it.
    public var isCompressible = true

    /// The zstd compression level, from 1 to 19.
    public var compressionLevel = 3

    /// Whether `Library/Caches` is archived too.
    public var includesCaches = false

    /// Patterns of what is left out, as ``ExclusionPattern`` reads them.
    public var exclusions: [ExclusionPattern] = []

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

    /// The number of threads that decompress, from 1 to 64; `nil` takes one a core, three at most.
    public var threadCount: Int?

    /// Makes the default options.
    public init() {}
}
