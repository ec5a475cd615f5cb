internal import Foundation
internal import MigrationArchive
internal import MigrationSystem

/// The directory in which an app's extension finds what an archive holds.
///
/// It lies in the bookkeeping of the staged container, so that moving a file from it to the container is
/// a mere renaming. It is gone before the container is committed.
struct ImportDirectory {
    private static let name = ByteString(utf8: "import")

    private let staging: StagingDirectory

    /// The open directory.
    let directory: OpenFile

    /// Makes a fresh container of `staging`, which is empty, with an empty import directory.
    init(in staging: StagingDirectory) throws(SystemError) {
        self.staging = staging
        let root = staging.directory
        try ContainerLayout.makeSkeleton(in: root)
        let bookkeeping = try BookkeepingDirectory.make(in: root).openDirectory
        try bookkeeping.descriptor.makeDirectory(Self.name, permissions: 0o700)
        directory = OpenFile(try bookkeeping.descriptor.open(Self.name, .directory))
    }

    /// The absolute path.
    var path: ByteString {
        let slash = [UInt8(ascii: "/")]
        return staging.path.path + slash + ContainerLayout.bookkeepingName + slash + Self.name
    }

    /// Removes it, with all else in the container that is not the app's, whoever made it.
    func remove() throws(SystemError) {
        for name in ContainerLayout.ownNames {
            do {
                try staging.directory.descriptor.removeTree(name)
            } catch {
                guard error.isMissing else { throw error }
            }
        }
    }
}
