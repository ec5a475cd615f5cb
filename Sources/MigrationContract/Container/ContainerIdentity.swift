internal import Foundation
internal import MigrationSystem

/// The app and the platform of a container, as the import that filled it recorded them.
///
/// The file is in the container's bookkeeping and stays when the import's status is cleared.
package struct ContainerIdentity: Hashable, Sendable {
    /// The name of the file in the bookkeeping.
    package static let fileName = "identity.json"

    private static let version = 1
    private static let sizeLimit = 64 << 10

    /// The bundle identifier of the container's app; `nil` if it isn't known.
    package let bundleIdentifier: String?

    /// The platform of the data; `nil` if it isn't known.
    package let platform: MigrationPlatform?

    package init(bundleIdentifier: String?, platform: MigrationPlatform?) {
        (self.bundleIdentifier, self.platform) = (bundleIdentifier, platform)
    }

    /// Reads the identity in the bookkeeping of the directory at `root`; returns `nil` if there is
    /// none.
    static func recorded(in root: BytePath) throws(MigrationError) -> ContainerIdentity? {
        let path = root / ContainerLayout.bookkeepingName / BytePath(fileName)
        do {
            let directory = try FileDescriptor.open(root, .directory)
            let bookkeeping = try directory.open(ContainerLayout.bookkeepingName, .directory)
            let file = try bookkeeping.open([UInt8](utf8: fileName), .reading)
            let bytes = try file.readAll(limit: sizeLimit) ?? []
            return try JSONDecoder().decode(Self.self, from: Data(bytes))
        } catch let error as SystemError {
            if error.isMissing || error.isNotDirectory { return nil }
            let message = "the container's recorded identity can't be read"
            throw MigrationError(.containerInvalid, message, path: path, cause: error)
        } catch {
            let message =
                "the container's recorded identity can't be understood; if no newer version wrote it, "
                + "remove it"
            throw MigrationError(.containerInvalid, message, path: path)
        }
    }
}

extension ContainerIdentity: Codable {
    private enum CodingKeys: String, CodingKey {
        case version, bundleIdentifier, platform
    }

    package init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        let version = try values.decode(Int.self, forKey: .version)
        guard version == Self.version else {
            let reason = "version \(version) is newer than this program"
            throw DecodingError.dataCorruptedError(
                forKey: .version,
                in: values,
                debugDescription: reason
            )
        }
        bundleIdentifier = try values.decodeIfPresent(String.self, forKey: .bundleIdentifier)
        platform = try values.decodeIfPresent(MigrationPlatform.self, forKey: .platform)
    }

    package func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(Self.version, forKey: .version)
        try values.encodeIfPresent(bundleIdentifier, forKey: .bundleIdentifier)
        try values.encodeIfPresent(platform, forKey: .platform)
    }
}
