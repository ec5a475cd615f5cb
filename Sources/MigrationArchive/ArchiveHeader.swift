/// What an archive says of itself in its first bytes.
public struct ArchiveHeader: Hashable, Sendable, Codable {
    /// The bundle identifier of the app whose data this is.
    public let bundleIdentifier: String

    /// The platform that the data comes from, such as `iOS` or `linux`.
    public let platform: String

    /// The version of the data's format, which an importing app tells formats apart by.
    public let resourcesVersion: String

    /// The estimate of the content's bytes that was made before the export.
    public let sizeEstimate: UInt64

    /// Whether the exporter held compression to be worth while.
    public let isCompressible: Bool

    /// The program that wrote the archive, with its version.
    public let creator: String

    /// The apps on another platform that may import the data, each as `TEAM.bundle`; `nil` where the
    /// exporting app names none.
    public let importers: [String]?

    /// Makes a header.
    ///
    /// - Parameters:
    ///   - bundleIdentifier: The bundle identifier of the app whose data this is.
    ///   - platform: The platform that the data comes from.
    ///   - resourcesVersion: The version of the data's format.
    ///   - sizeEstimate: The estimate of the content's bytes.
    ///   - isCompressible: Whether compression is held to be worth while.
    ///   - creator: The program that writes the archive, with its version.
    ///   - importers: The apps on another platform that may import the data, each as `TEAM.bundle`.
    public init(
        bundleIdentifier: String,
        platform: String,
        resourcesVersion: String,
        sizeEstimate: UInt64,
        isCompressible: Bool,
        creator: String,
        importers: [String]? = nil
    ) {
        self.bundleIdentifier = bundleIdentifier
        self.platform = platform
        self.resourcesVersion = resourcesVersion
        self.sizeEstimate = sizeEstimate
        self.isCompressible = isCompressible
        self.creator = creator
        self.importers = importers
    }

    private enum CodingKeys: String, CodingKey {
        case bundleIdentifier
        case platform
        case resourcesVersion
        case sizeEstimate
        case isCompressible = "compressible"
        case creator
        case importers
    }
}
