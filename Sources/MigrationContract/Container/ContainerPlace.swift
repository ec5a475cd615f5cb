package import MigrationSystem

/// Where a container is: the directory that is locked, holds the bookkeeping and is exchanged by an
/// import.
///
/// That is the container's own directory or, for a container in an `.xcappdata` bundle, the bundle.
/// So the bookkeeping of a bundle is beside `AppData`, and isn't copied to the device with the
/// data.
package struct ContainerPlace: Hashable, Sendable {
    /// The path of the directory.
    package let path: BytePath

    /// Whether the directory is a bundle, whose `AppData` is the container.
    package let isBundle: Bool

    package init(_ path: BytePath, isBundle: Bool = false) {
        (self.path, self.isBundle) = (path, isBundle)
    }

    package var containerPath: BytePath { isBundle ? path / ContainerLayout.dataName : path }

    /// Opens the container in `directory`, which is this directory or has the same layout.
    package func openContainer(in directory: OpenFile) throws(SystemError) -> OpenFile {
        guard isBundle else { return directory }
        return OpenFile(try directory.descriptor.open(ContainerLayout.dataName, .directory))
    }

    /// Makes the directories of this layout in `directory`, which is empty; if `resuming`, they may
    /// already exist.
    package func makeContainer(
        in directory: OpenFile,
        resuming: Bool = false
    ) throws(SystemError) {
        guard isBundle else { return }
        do {
            try directory.descriptor.makeDirectory(ContainerLayout.dataName, permissions: 0o700)
        } catch {
            guard error.isExisting && resuming else { throw error }
        }
    }

    /// Removes the empty directories of this layout from `directory`.
    package func removeEmptyContainer(from directory: OpenFile) {
        // Best effort; a directory that isn't empty holds data.
        try? directory.descriptor.removeDirectory(ContainerLayout.bookkeepingName)
        if isBundle { try? directory.descriptor.removeDirectory(ContainerLayout.dataName) }
    }
}
