import Foundation
import MigrationArchive

extension ArchiveHeader {
    /// The header of an archive of little data.
    static func sample(activity: Data? = nil) -> ArchiveHeader {
        ArchiveHeader(
            bundleIdentifier: "a.b",
            platform: "linux",
            resourcesVersion: "1.0",
            sizeEstimate: 0,
            isCompressible: true,
            creator: "test",
            activity: activity
        )
    }
}
