internal import Foundation
internal import MigrationArchive
internal import MigrationSystem

/// Where an app's extension imports: a fresh container, and beside it the directory in which the
/// extension finds what an archive holds.
///
/// Both lie in the staging directory and nothing else does. Moving a file from one to the other is a
/// mere renaming, and an extension that empties the container keeps what it is to import.
struct ImportDirectory {
    private static let containerName = ByteString(utf8: "container")
    private static let name = ByteString(utf8: "import")

    private let staging: StagingDirectory
    private let root: OpenFile
    private let container: OpenFile

    /// The open directory.
    let directory: OpenFile

    /// Makes a fresh container in `staging`, which is empty, with an empty import directory beside it.
    ///
    /// It is to take the place of the container that is open as `root`.
    init(in staging: StagingDirectory, for root: OpenFile) throws(SystemError) {
        self.staging = staging
        self.root = root
        let holder = staging.directory
        try holder.descriptor.makeDirectory(Self.containerName, permissions: 0o700)
        container = OpenFile(try holder.descriptor.open(Self.containerName, .directory))
        try container.descriptor.lock(.exclusive)
        try? StagingDirectory.dropInherited(container, unlike: root)
        try ContainerLayout.makeSkeleton(in: container)
        try holder.descriptor.makeDirectory(Self.name, permissions: 0o700)
        directory = OpenFile(try holder.descriptor.open(Self.name, .directory))
    }

    /// The absolute path.
    var path: PathName { PathName(parent: staging.path.path, name: Self.name) }

    /// The absolute path of the directory that holds both.
    var holder: PathName { staging.path }

    /// The absolute path of the container.
    var containerPath: PathName {
        PathName(parent: staging.path.path, name: Self.containerName)
    }

    /// Removes the directory and what in the container is not the app's, whoever made it.
    ///
    /// - Returns: The container alone, staged where both were.
    /// - Throws: ``MigrationError`` of code `extensionFailed` where the extension has put another
    ///   directory in its container's place.
    func takeContainer() throws -> StagingDirectory {
        for name in ContainerLayout.ownNames {
            do throws(SystemError) {
                try container.descriptor.removeTree(name)
            } catch {
                guard error.isMissing else { throw error }
            }
        }
        guard try isContainerInPlace() else {
            let message = "the extension removed or replaced its container's directory"
            throw MigrationError(.extensionFailed, message, path: containerPath.path)
        }
        return try staging.replace(byContentNamed: Self.containerName, container, root: root)
    }

    private func isContainerInPlace() throws(SystemError) -> Bool {
        do {
            let identity = try staging.directory.descriptor.status(of: Self.containerName).identity
            return try identity == container.descriptor.status().identity
        } catch {
            guard error.isMissing else { throw error }
            return false
        }
    }
}
