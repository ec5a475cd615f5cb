internal import Foundation
package import MigrationContract
internal import MigrationSystem
internal import PropertyLists

/// An `.xcappdata` bundle that an import makes, in the form that Xcode's *Replace Container* and
/// its Run scheme accept.
///
/// The container is imported into a bundle in a directory beside the final path, which is then
/// renamed. So a bundle under its own name is complete.
package struct NewBundle {
    private let path: BytePath
    private let parent: OpenFile
    private let token: StagingToken

    /// The directory that holds the bundle and a file named after the token of the import.
    private let holder: OpenFile
    private let holderName: [UInt8]

    private var stagedPath: BytePath { path.parent / holderName / path.lastComponent }

    /// Passes the container to import into to `body`: `container` itself, or one in a new bundle if
    /// its bundle doesn't exist.
    ///
    /// If `body` throws, nothing is left of the bundle.
    package static func making<Result>(
        for container: MigrationDataContainer,
        _ body: (MigrationDataContainer) throws -> Result
    ) throws -> Result {
        let place = container.place
        guard place.isBundle else { return try body(container) }
        removeLeftovers(of: place.path)
        guard try isMissing(place.path) else { return try body(container) }
        let bundle = try NewBundle(at: place.path)
        do {
            let staged = ContainerPlace(bundle.stagedPath, isBundle: true)
            let result = try body(container.placed(in: staged))
            try bundle.finish(for: container)
            return result
        } catch {
            bundle.remove()
            throw bundle.placed(error)
        }
    }

    private static func isMissing(_ path: BytePath) throws(MigrationError) -> Bool {
        do throws(SystemError) {
            return try FileDescriptor.statusIfPresent(atPath: path) == nil
        } catch {
            throw failure(at: path, cause: error)
        }
    }

    private init(at path: BytePath) throws(MigrationError) {
        self.path = path
        token = StagingToken()
        holderName = StagingDirectory.nameBeside(path, token: token)
        do throws(SystemError) {
            parent = OpenFile(try FileDescriptor.open(path.parent, .directory))
            try parent.descriptor.makeDirectory(holderName, permissions: 0o700)
            holder = OpenFile(try parent.descriptor.open(holderName, .directory))
            try holder.descriptor.lock(.exclusive)
            let access = FileDescriptor.Access.creating(permissions: 0o600)
            try holder.descriptor.open(token.name, access).close()
            let name = path.lastComponent
            try holder.descriptor.makeDirectory(name, permissions: 0o755)
            let bundle = OpenFile(try holder.descriptor.open(name, .directory))
            try bundle.descriptor.makeDirectory(ContainerLayout.dataName, permissions: 0o755)
        } catch {
            throw Self.failure(at: path, cause: error)
        }
    }

    /// Removes what killed imports into the new bundle at `path` left beside it, unless someone uses it.
    static func removeLeftovers(of path: BytePath) {
        // Best effort: the next command tries again.
        guard let parent = try? OpenFile(FileDescriptor.open(path.parent, .directory)),
            let listing = try? DirectoryListing(of: parent.descriptor)
        else { return }
        for name in listing {
            let ending = name.suffix(StagingToken().name.count)
            guard let token = StagingToken(String(decoding: ending, as: UTF8.self)),
                name == StagingDirectory.nameBeside(path, token: token)
            else { continue }
            // Best effort: the next command tries again.
            try? removeLeftover(name, in: parent, of: token)
        }
    }

    private static func removeLeftover(
        _ name: [UInt8],
        in parent: OpenFile,
        of token: StagingToken
    ) throws(SystemError) {
        let left = OpenFile(try parent.descriptor.open(name, .directory))
        // The staging directory of an existing container may hold data that must be kept.
        guard try left.descriptor.statusIfPresent(of: StagingDirectory.containerName) == nil else {
            return
        }
        let isMarked = try left.descriptor.statusIfPresent(of: token.name) != nil
        let isEmpty = try DirectoryListing(of: left.descriptor).count == 0
        guard isMarked || isEmpty else { return }
        try left.descriptor.lock(.exclusive)
        try parent.descriptor.removeTree(name, endingWith: token.name)
    }

    /// Removes the directory that holds or held the bundle.
    private func remove() {
        // Best effort; the next import into the bundle removes the rest.
        try? parent.descriptor.removeTree(holderName, endingWith: token.name)
    }

    /// Writes the property list and gives the bundle its name.
    private func finish(for container: MigrationDataContainer) throws {
        let staged = try MigrationDataContainer(atPath: stagedPath)
        let identifier = staged.knownIdentifier ?? container.exportedIdentifier
        let info = try PropertyListValue.dictionary(
            identifier.map { ["CFBundleIdentifier": .string($0)] } ?? [:]
        ).xml()
        do throws(SystemError) {
            // The import exchanged the original one.
            let bundle = OpenFile(try holder.descriptor.open(path.lastComponent, .directory))
            let access = FileDescriptor.Access.creating(permissions: 0o644)
            let list = OpenFile(try bundle.descriptor.open(ContainerLayout.infoName, access))
            try list.descriptor.writeAll(info.span)
            try bundle.descriptor.synchronizeFileSystem()
            try holder.descriptor.renameExclusively(
                path.lastComponent,
                to: path.lastComponent,
                in: parent.descriptor
            )
            try parent.descriptor.synchronize()
        } catch {
            throw Self.failure(at: path, cause: error)
        }
        remove()
    }

    private static func failure(at path: BytePath, cause error: SystemError) -> MigrationError {
        MigrationError(
            error.isOutOfSpace ? .outOfSpace : .outputFailed,
            "the bundle can't be made",
            path: path,
            cause: error
        )
    }

    /// The error with the final path of the bundle.
    private func placed(_ error: any Error) -> any Error {
        guard let error = error as? MigrationError,
            let moved = error.bytePath?.moved(from: stagedPath, to: path)
        else { return error }
        return MigrationError(
            error.code,
            error.message,
            path: moved,
            cause: error.cause,
            printedLines: error.printedLines,
            remedy: error.remedy
        )
    }
}
