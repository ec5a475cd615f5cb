package import Foundation
internal import MigrationCore
package import MigrationSystem

/// A temporary directory that only this user can enter, removed with the last reference to it.
///
/// It stays locked while it is in use. A directory without a lock belonged to a killed process;
/// making the next private directory removes it.
package final class PrivateDirectory: Sendable {
    private static let attempts = 16

    /// The path of the directory.
    package let path: BytePath

    /// The locked directory; the lock ends with the process, however that ends.
    private let directory: OpenFile

    /// Makes an empty directory among the temporary files.
    ///
    /// - Throws: ``MigrationError`` of code `outputFailed`.
    package init(
        in common: BytePath = Environment.temporaryDirectory
    ) throws(MigrationError) {
        do throws(SystemError) {
            let parent = try BytePath(resolvingWhole: common)
            let opened = OpenFile(try FileDescriptor.open(parent, .directory))
            AbandonedDirectories(in: opened).remove()
            let name: [UInt8]
            (name, directory) = try Self.make(in: opened)
            path = parent / name
        } catch {
            let message = "a temporary directory can't be made"
            throw MigrationError(.outputFailed, message, path: common, cause: error)
        }
    }

    /// Makes a directory and locks it; tries again if another process removed it as abandoned
    /// before.
    private static func make(in parent: OpenFile) throws(SystemError) -> ([UInt8], OpenFile) {
        var attempt = 1
        while true {
            let name = AbandonedDirectories.makeName()
            try parent.descriptor.makeDirectory(name, permissions: 0o700)
            do throws(SystemError) {
                let directory = OpenFile(try parent.descriptor.open(name, .directory))
                try directory.descriptor.lock(.exclusive)
                // If it was removed before it was locked, its name is gone.
                _ = try parent.descriptor.status(of: name)
                return (name, directory)
            } catch {
                guard error.isBusy || error.isMissing, attempt < attempts else { throw error }
                attempt += 1
            }
        }
    }

    /// Makes a directory in this one for `owner`, when root works for them.
    package func makeDirectory(
        _ name: [UInt8],
        for owner: FileOwner
    ) throws(MigrationError) -> BytePath {
        try letPass()
        try changing { () throws(SystemError) in
            try directory.descriptor.makeDirectory(name, permissions: 0o700)
            try directory.descriptor.setOwner(owner, of: name)
        }
        return path / name
    }

    /// Lets users who know the names in the directory pass through it.
    package func letPass() throws(MigrationError) {
        try changing { () throws(SystemError) in
            try directory.descriptor.setPermissions(AbandonedDirectories.passable)
        }
    }

    private func changing(
        _ body: () throws(SystemError) -> Void
    ) throws(MigrationError) {
        do {
            try body()
        } catch {
            let message = "a temporary directory can't be shared with the container's owner"
            throw MigrationError(.outputFailed, message, path: path, cause: error)
        }
    }

    package var url: URL { URL(directoryAtPath: path) }

    deinit {
        remove()
    }

    /// Removes the directory with everything in it, if it still exists.
    package func remove() {
        do throws(SystemError) {
            let parent = try FileDescriptor.open(path.parent, .directory)
            try parent.removeTree(path.lastComponent)
        } catch {
            // Best effort; making the next private directory retries.
        }
    }
}

/// The private directories of this user's processes that were killed.
///
/// They are recognized by name, owner and kind, and by having no lock.
private struct AbandonedDirectories {
    private static let prefix = [UInt8](utf8: "migration-private-")

    /// The permissions of a directory that another user may pass through.
    static let passable: UInt16 = 0o711

    private let parent: OpenFile

    /// Searches in `parent`.
    init(in parent: OpenFile) {
        self.parent = parent
    }

    /// Makes a unique name that distinguishes the directory from other files.
    static func makeName() -> [UInt8] {
        prefix + [UInt8](utf8: UUID().uuidString)
    }

    /// Removes them as far as possible.
    func remove() {
        do throws(SystemError) {
            // If others may rename files that are not theirs, a name doesn't prove anything.
            let permissions = try parent.descriptor.status().permissions
            guard permissions & 0o022 == 0 || permissions & 0o1000 != 0 else { return }
            for name in try DirectoryListing(of: parent.descriptor) where Self.isName(name) {
                removeIfAbandoned(name)
            }
        } catch {
            // Best effort; the next run retries.
        }
    }

    private func removeIfAbandoned(_ name: [UInt8]) {
        do throws(SystemError) {
            let directory = OpenFile(try parent.descriptor.open(name, .directory))
            let status = try directory.descriptor.status()
            guard status.owner == ThisProcess.user,
                [0o700, Self.passable].contains(status.permissions)
            else { return }
            try directory.descriptor.lock(.exclusive)
            try parent.descriptor.removeTree(name)
        } catch {
            // It is in use, or another process was faster.
        }
    }

    private static func isName(_ name: [UInt8]) -> Bool {
        guard name.starts(with: prefix) else { return false }
        let mark = String(decoding: name.dropFirst(prefix.count), as: UTF8.self)
        return UUID(uuidString: mark)?.uuidString == mark
    }
}
