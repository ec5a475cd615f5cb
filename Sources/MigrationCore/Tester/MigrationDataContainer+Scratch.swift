internal import Foundation
internal import MigrationSystem

extension MigrationDataContainer {
    /// Makes a fresh container in `directory`, as a migration imports into.
    ///
    /// Where nothing says whose it is, it is of the app that the extension's entitlement names.
    ///
    /// - Throws: ``MigrationError`` of code `outputFailed`.
    package static func makeFresh(
        in directory: PrivateDirectory,
        bundleIdentifier: String?,
        for appExtension: MigrationExtension
    ) throws(MigrationError) -> MigrationDataContainer {
        let path = PathName(parent: directory.path.path, name: ByteString(utf8: "container"))
        do throws(SystemError) {
            let parent = try FileDescriptor.open(path.parent, .directory)
            try parent.makeDirectory(path.name, permissions: 0o755)
            try ContainerLayout.makeSkeleton(
                in: OpenFile(try parent.open(path.name, .directory))
            )
        } catch {
            let message = "a container can't be made"
            throw MigrationError(.outputFailed, message, path: path.path, cause: error)
        }
        let container = MigrationDataContainer(root: path, knownIdentifier: bundleIdentifier)
        guard bundleIdentifier == nil else { return container }
        // What is wrong with the entitlement a tester says.
        let entitled = try? Entitlement.check(appExtension, for: container)
        return MigrationDataContainer(root: path, knownIdentifier: entitled?.identifier)
    }

    /// Replaces everything in the container, its bookkeeping too, by the directories of a fresh one.
    ///
    /// It waits for its turn as testers do.
    ///
    /// - Throws: ``MigrationError`` of codes `containerBusy`, `containerInvalid` and `outputFailed`;
    ///   `CancellationError`.
    package func clear() throws {
        let lock = try MigrationHost.forTests.wait(CancellationFlag()).lock(rootPath)
        defer { lock.release() }
        do throws(SystemError) {
            let listing = try DirectoryListing(of: lock.root.descriptor)
            for index in 0..<listing.count where listing[index] != ContainerLayout.metadataName {
                try lock.root.descriptor.removeTree(listing[index])
            }
            try ContainerLayout.makeSkeleton(in: lock.root)
        } catch {
            let message = "the container can't be emptied"
            throw MigrationError(.outputFailed, message, path: rootPath.path, cause: error)
        }
    }
}
