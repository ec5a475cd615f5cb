internal import Foundation
internal import MigrationArchive
internal import MigrationSystem

/// Where an app's extension imports: a fresh container, and beside it the directory in which the
/// extension finds what an archive holds.
///
/// Both lie in the staging directory, and nothing else does but its token. Moving a file from one to the
/// other is a mere renaming, and an extension that empties the container keeps what it is to import.
struct ImportDirectory {
    private static let name = ByteString(utf8: "import")

    private let staging: StagingDirectory
    private let owner: FileOwner?

    /// The open directory.
    let directory: OpenFile

    /// Makes a fresh container in `staging`, which is empty, with an empty import directory beside it.
    ///
    /// It is to take the place of the container that is open as `root`.
    init(in staging: StagingDirectory, for root: OpenFile) throws(SystemError) {
        self.staging = staging
        owner = try FileOwner(servedIn: root.descriptor)
        try ContainerLayout.makeSkeleton(in: staging.directory)
        let holder = staging.parent
        try holder.descriptor.makeDirectory(Self.name, permissions: 0o700)
        directory = OpenFile(try holder.descriptor.open(Self.name, .directory))
    }

    /// The absolute path.
    var path: PathName { PathName(parent: staging.holderPath.path, name: Self.name) }

    /// The absolute path of the directory that holds both.
    var holder: PathName { staging.holderPath }

    /// The absolute path of the container.
    var containerPath: PathName { staging.path }

    /// Gives the container and the import directory to the container's owner, as whom the extension runs.
    ///
    /// The directory that holds both stays root's, so that the extension can't touch the staging token.
    func handOver() throws(SystemError) {
        guard let owner else { return }
        for path in ContainerLayout.skeleton {
            try staging.directory.descriptor.setOwner(owner, of: ByteString(utf8: path))
        }
        for file in [staging.directory, directory] {
            try file.descriptor.setOwner(owner)
        }
        try staging.parent.descriptor.setPermissions(0o711)
    }

    /// Takes back what was handed over, so that only root reaches it until the commit.
    private func takeBack() throws(SystemError) {
        guard owner != nil else { return }
        try staging.parent.descriptor.setPermissions(0o700)
        try staging.directory.descriptor.setOwner(FileOwner(user: 0, group: 0))
        try staging.directory.descriptor.setPermissions(0o700)
    }

    /// Gives the owner what an extension in this process, which is root's, has made in the container.
    ///
    /// A file that has names elsewhere stays root's: those may not be the owner's to change.
    func giveAway(_ cancellation: CancellationFlag) throws {
        guard let owner else { return }
        let root = try staging.directory.descriptor.duplicate()
        var walker = SourceWalker(root: root, cancellation: cancellation)
        var gift = Gift(owner: owner)
        try walker.walk(&gift)
    }

    /// Removes the directory and what in the container is not the app's, whoever made it.
    ///
    /// - Throws: ``MigrationError`` of code `extensionFailed` where the extension has put another
    ///   directory in its container's place.
    func remove() throws {
        try takeBack()
        for name in ContainerLayout.ownNames {
            do throws(SystemError) {
                try staging.directory.descriptor.removeTree(name)
            } catch {
                guard error.isMissing else { throw error }
            }
        }
        try staging.removeRest()
        guard try staging.isContainerInPlace() else {
            let message = "the extension removed or replaced its container's directory"
            throw MigrationError(.extensionFailed, message, path: containerPath.path)
        }
        // Who moves a directory must be able to write it.
        try staging.directory.descriptor.setPermissions(0o700)
    }
}

/// A walk that gives to an owner what is root's.
private struct Gift: SourceVisitor {
    let owner: FileOwner

    /// How many names were found of files that have several.
    private var names: [FileStatus.Identity: UInt64] = [:]

    init(owner: FileOwner) {
        self.owner = owner
    }

    mutating func visit(_ item: SourceItem) throws {
        let status = item.status
        guard status.owner == 0 else { return }
        if status.linkCount > 1 {
            names[status.identity, default: 0] += 1
            guard names[status.identity] == status.linkCount else { return }
        }
        try item.directory.descriptor.setOwner(owner, of: item.name)
    }

    func enter(_ item: SourceItem, opened: OpenFile) -> Bool { true }

    mutating func leave(_ directory: WalkedDirectory) throws {
        // The container itself is handed over by the commit.
        guard directory.status.owner == 0, !directory.path.isEmpty else { return }
        try directory.opened.descriptor.setOwner(owner)
    }

    func passesOver(_ item: SourceItem) -> Bool { false }
}
