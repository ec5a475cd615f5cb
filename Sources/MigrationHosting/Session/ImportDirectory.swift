internal import Foundation
internal import MigrationArchive
internal import MigrationContainers
internal import MigrationCore
internal import MigrationSystem

/// The directories for an extension's import: a fresh container, and beside it the import directory
/// with the archive's files.
///
/// Both are in the staging directory, which otherwise holds only its token. Moving a file from one
/// to the other only renames it, and an extension that empties the container keeps its input.
struct ImportDirectory {
    private static let name = [UInt8](utf8: "import")

    private let staging: StagingDirectory
    private let owner: FileOwner?

    let directory: OpenFile

    /// Makes a fresh container in `staging`, which is empty, and an empty import directory beside
    /// it.
    ///
    /// The container will replace the one that is open as `root`.
    init(in staging: StagingDirectory, for root: OpenFile) throws(SystemError) {
        self.staging = staging
        owner = try FileOwner(servedIn: root.descriptor)
        try ContainerLayout.makeSkeleton(in: staging.directory)
        let holder = staging.parent
        try holder.descriptor.makeDirectory(Self.name, permissions: 0o700)
        directory = OpenFile(try holder.descriptor.open(Self.name, .directory))
    }

    /// The absolute path.
    var path: BytePath { staging.holderPath / Self.name }

    /// The absolute path of the directory that holds both.
    var holder: BytePath { staging.holderPath }

    /// The absolute path of the container.
    var containerPath: BytePath { staging.path }

    /// Gives both directories to the container's owner, because the extension runs as that user.
    ///
    /// Their parent still belongs to root, so that the extension can't change the staging token.
    func handOver() throws(SystemError) {
        guard let owner else { return }
        for path in ContainerLayout.skeleton {
            try staging.directory.descriptor.setOwner(owner, of: [UInt8](utf8: path))
        }
        for file in [staging.directory, directory] {
            try file.descriptor.setOwner(owner)
        }
        try staging.setPassable(true)
    }

    /// Takes both directories back, so that only root can reach them until the commit.
    private func reclaim() throws(SystemError) {
        guard owner != nil else { return }
        try staging.setPassable(false)
        try staging.directory.descriptor.setOwner(FileOwner(user: 0, group: 0))
        try staging.directory.descriptor.setPermissions(0o700)
    }

    /// Gives the owner all files that an extension in this process, run by root, made in the
    /// container.
    ///
    /// A file with other names elsewhere still belongs to root, because the owner may not be
    /// allowed to change it.
    func handOverContents(on operation: MigrationOperation) throws {
        guard let owner else { return }
        var transfer = OwnershipTransfer(owner: owner)
        try SourceWalker.walk(staging.directory, on: operation, visiting: &transfer)
    }

    /// Removes the import directory, and everything in the container that does not belong to the
    /// app.
    ///
    /// - Throws: ``MigrationError`` of code `extensionFailed` if the extension replaced its
    ///   container's directory.
    func remove() throws {
        try reclaim()
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
            throw MigrationError(.extensionFailed, message, path: containerPath)
        }
        // Moving a directory needs the permission to write it.
        try staging.directory.descriptor.setPermissions(0o700)
    }
}

/// A walk that gives root's files to an owner.
private struct OwnershipTransfer: SourceVisitor {
    let owner: FileOwner

    /// How many names of each file with several names were found.
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
        try item.directory.descriptor.setOwner(owner, of: [UInt8](item.name))
    }

    func enter(_ item: SourceItem, opened: OpenFile) -> Bool { true }

    mutating func leave(_ directory: WalkedDirectory) throws {
        // The commit hands over the container itself.
        guard directory.status.owner == 0, !directory.path.isEmpty else { return }
        try directory.opened.descriptor.setOwner(owner)
    }

    func passesOver(_ item: SourceItem) -> Bool { false }
}
