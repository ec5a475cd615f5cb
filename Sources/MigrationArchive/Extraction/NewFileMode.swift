internal import MigrationSystem

/// The permissions with which files can be made, so that they need no change afterwards, and their owner.
struct NewFileMode: Sendable {
    /// The permission bits that new files don't get; `nil` where nobody can tell.
    private let withheld: UInt16?

    /// Whose new files are; `nil` for this process's own user.
    let owner: FileOwner?

    /// Nothing is known of what becomes of the permissions.
    init() { (withheld, owner) = (nil, nil) }

    /// Finds out what becomes of the permissions of a new file in `directory`: the process's mask,
    /// the directory's default access list and the file system have a say in it.
    init(in directory: borrowing FileDescriptor, owner: FileOwner? = nil) {
        self.owner = owner
        do throws(SystemError) {
            let all = try directory.openUnnamed(permissions: 0o777).status().permissions
            let none = try directory.openUnnamed(permissions: 0).status().permissions
            withheld = none == 0 ? ~all & 0o777 : nil
        } catch {
            withheld = nil
        }
    }

    /// Whether a file that is made with `permissions` has them.
    func grants(_ permissions: UInt16) -> Bool { withheld.map { permissions & $0 == 0 } ?? false }
}
