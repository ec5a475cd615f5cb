internal import Foundation
internal import Glibc
internal import MigrationSystem

/// The temporary directories that this user's processes left behind when they were killed.
///
/// They are told by name, owner and kind, and by having no lock.
struct AbandonedDirectories {
    private static let prefix = ByteString(utf8: "migration-private-")

    /// The permissions of a directory that another user passes through.
    static let passable: UInt16 = 0o711

    private let parent: OpenFile

    /// Looks among the files of `parent`.
    init(in parent: OpenFile) {
        self.parent = parent
    }

    /// Makes a name that no other directory has, and that tells it apart from other files.
    static func makeName() -> ByteString {
        prefix + ByteString(utf8: UUID().uuidString)
    }

    /// Removes them, as far as that is possible.
    func remove() {
        do throws(SystemError) {
            // Where others may rename what is not theirs, a name says nothing.
            let permissions = try parent.descriptor.status().permissions
            guard permissions & 0o022 == 0 || permissions & 0o1000 != 0 else { return }
            let listing = try DirectoryListing(of: parent.descriptor)
            for index in 0..<listing.count where Self.isName(listing[index]) {
                removeIfAbandoned(listing[index])
            }
        } catch {
            // They are in nobody's way; who comes next tries again.
        }
    }

    private func removeIfAbandoned(_ name: ByteString) {
        do throws(SystemError) {
            let directory = OpenFile(try parent.descriptor.open(name, .directory))
            let status = try directory.descriptor.status()
            guard status.owner == geteuid(), [0o700, Self.passable].contains(status.permissions)
            else { return }
            try directory.descriptor.lock(.exclusive)
            try parent.descriptor.removeTree(name)
        } catch {
            // It is in use, or somebody else was faster.
        }
    }

    private static func isName(_ name: ByteString) -> Bool {
        guard name.starts(with: prefix) else { return false }
        let mark = String(decoding: name.dropFirst(prefix.count), as: UTF8.self)
        return UUID(uuidString: mark)?.uuidString == mark
    }
}
