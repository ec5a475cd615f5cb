package import Foundation
package import MigrationSystem

/// A temporary directory that only this user can enter, removed with the last reference to it.
package final class PrivateDirectory: Sendable {
    /// Where it is.
    package let path: PathName

    /// Makes an empty directory among the temporary files.
    ///
    /// - Throws: ``MigrationError`` of code `outputFailed`.
    package init() throws(MigrationError) {
        let common = ByteString(pathOf: FileManager.default.temporaryDirectory)
        do throws(SystemError) {
            let parent = try PathName(resolving: common)
            let name = ByteString(utf8: "migration-\(UUID().uuidString)")
            let directory = try FileDescriptor.open(parent.path, .directory)
            try directory.makeDirectory(name, permissions: 0o700)
            path = PathName(parent: parent.path, name: name)
        } catch {
            let message = "a temporary directory can't be made"
            throw MigrationError(.outputFailed, message, path: common, cause: error)
        }
    }

    /// The directory as Foundation names it.
    package var url: URL { URL(directoryAtPath: path.path) }

    deinit {
        remove()
    }

    /// Removes the directory with everything in it, where it is still there.
    package func remove() {
        do throws(SystemError) {
            let parent = try FileDescriptor.open(path.parent, .directory)
            try parent.removeTree(path.name)
        } catch {
            // Nothing is in it that anybody needs; the system removes temporary files in time.
        }
    }
}
