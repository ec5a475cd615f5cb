internal import Foundation
internal import MigrationArchive
internal import MigrationSystem
internal import PropertyLists

/// An `.xcappdata` bundle that an import makes, as Xcode's *Replace Container* and its Run scheme take it.
///
/// The container is imported into a bundle under another name beside it, which is renamed once everything is
/// in it. So a bundle under its own name is whole.
struct NewBundle {
    private let path: BytePath
    private let parent: OpenFile
    private let name: [UInt8]
    private let directory: OpenFile
    private let token: StagingToken

    private var stagedPath: BytePath { path.parent / name }

    /// Passes the container to import into to `body`: `container` itself, or one in a new bundle if it lies
    /// in a bundle that doesn't exist.
    ///
    /// If `body` throws, nothing is left of the bundle.
    static func making<Result>(
        for container: MigrationDataContainer,
        _ body: (MigrationDataContainer) throws -> Result
    ) throws -> Result {
        guard let path = container.bundlePath, try isMissing(path) else {
            return try body(container)
        }
        let bundle = try NewBundle(at: path)
        do {
            let staged = container.placed(at: bundle.stagedPath / ContainerLayout.dataName)
            let result = try body(staged)
            try bundle.finish(for: container)
            return result
        } catch {
            // Best effort; the next import into the bundle removes the rest.
            try? bundle.parent.descriptor.removeTree(
                bundle.name,
                endingWith: bundle.token.name
            )
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
        name = StagingDirectory.nameBeside(path, token: token)
        do throws(SystemError) {
            parent = OpenFile(try FileDescriptor.open(path.parent, .directory))
            try Self.removeLeftovers(of: path, in: parent)
            try parent.descriptor.makeDirectory(name, permissions: 0o700)
            directory = OpenFile(try parent.descriptor.open(name, .directory))
            try directory.descriptor.lock(.exclusive)
            let access = FileDescriptor.Access.creating(permissions: 0o600)
            try directory.descriptor.open(token.name, access).close()
        } catch {
            throw Self.failure(at: path, cause: error)
        }
    }

    /// Removes what killed imports left: directories that hold a file of the token in their name, and that
    /// nobody uses.
    private static func removeLeftovers(
        of path: BytePath,
        in parent: OpenFile
    ) throws(SystemError) {
        let prefix = StagingDirectory.nameBeside(path) + [UInt8(ascii: "-")]
        let listing = try DirectoryListing(of: parent.descriptor)
        for index in 0..<listing.count where listing[index].starts(with: prefix) {
            let name = listing[index]
            let text = String(decoding: name.dropFirst(prefix.count), as: UTF8.self)
            guard let token = StagingToken(text) else { continue }
            do {
                let left = OpenFile(try parent.descriptor.open(name, .directory))
                guard try left.descriptor.statusIfPresent(of: token.name) != nil else { continue }
                try left.descriptor.lock(.exclusive)
            } catch {
                guard error.isBusy || error.isMissing || error.isDenied || error.isNotDirectory
                else { throw error }
                continue
            }
            try parent.descriptor.removeTree(name, endingWith: token.name, under: nil)
        }
    }

    /// Writes the property list and gives the bundle its name.
    private func finish(for container: MigrationDataContainer) throws {
        let staged = try MigrationDataContainer(atPath: stagedPath / ContainerLayout.dataName)
        if let identifier = staged.knownIdentifier ?? container.exportedIdentifier {
            let info = PropertyListValue.dictionary(["CFBundleIdentifier": .string(identifier)])
            try write(info.xml(), as: ContainerLayout.infoName)
        } else {
            try write(PropertyListValue.dictionary([:]).xml(), as: ContainerLayout.infoName)
        }
        do throws(SystemError) {
            try directory.descriptor.removeFile(token.name)
            try directory.descriptor.setPermissions(0o755)
            try directory.descriptor.synchronizeFileSystem()
            try parent.descriptor.renameExclusively(
                name,
                to: path.lastComponent,
                in: parent.descriptor
            )
            try parent.descriptor.synchronize()
        } catch {
            throw Self.failure(at: path, cause: error)
        }
    }

    private func write(_ bytes: [UInt8], as name: [UInt8]) throws(MigrationError) {
        do throws(SystemError) {
            let access = FileDescriptor.Access.creating(permissions: 0o644)
            let file = OpenFile(try directory.descriptor.open(name, access))
            try file.descriptor.writeAll(bytes.span)
        } catch {
            throw Self.failure(at: path / name, cause: error)
        }
    }

    private static func failure(at path: BytePath, cause error: SystemError) -> MigrationError {
        MigrationError(
            error.isOutOfSpace ? .outOfSpace : .outputFailed,
            "the bundle can't be made",
            path: path,
            cause: error
        )
    }

    /// The error with the path that the bundle was to have.
    private func placed(_ error: any Error) -> any Error {
        guard let error = error as? MigrationError,
            let moved = error.bytePath?.moved(from: stagedPath, to: path)
        else { return error }
        return MigrationError(
            error.code,
            error.message,
            path: moved,
            cause: error.cause,
            printedLines: error.printedLines
        )
    }
}
