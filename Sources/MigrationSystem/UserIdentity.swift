internal import CMigrationShims
internal import Glibc

/// The owner of a file.
public struct FileOwner: Sendable, Hashable {
    /// The number of the user.
    public let user: UInt32

    /// The number of the group.
    public let group: UInt32

    /// Makes the owner with these numbers.
    public init(user: UInt32, group: UInt32) {
        (self.user, self.group) = (user, group)
    }

    /// The owner of the open `directory`, if root works for them.
    ///
    /// `nil` if this process is not root, or if the directory belongs to root.
    package init?(servedIn directory: borrowing FileDescriptor) throws(SystemError) {
        let status = try directory.status()
        guard geteuid() == 0, status.owner != 0 else { return nil }
        self.init(user: status.owner, group: status.group)
    }
}

/// A user for whom root works, with all their groups.
package struct UserIdentity: Sendable, Hashable {
    /// A kind of access to a file.
    package enum Access: Sendable {
        case read
        case readAndEnter
        case readAndExecute
    }

    /// The name of the account, if there is one.
    package let name: String?
    package let user: UInt32
    package let group: UInt32
    package let groups: [UInt32]

    /// Looks up the account of `owner`; without an account the user has the file's group.
    package init(_ owner: FileOwner) {
        user = owner.user
        guard let account = unsafe getpwuid(owner.user), let text = unsafe account.pointee.pw_name
        else {
            (name, group, groups) = (nil, owner.group, [])
            return
        }
        let primary = unsafe account.pointee.pw_gid
        var count: CInt = 64
        var list = [gid_t](repeating: 0, count: Int(count))
        if unsafe getgrouplist(text, primary, &list, &count) < 0 {
            list = [gid_t](repeating: 0, count: Int(count))
            count = unsafe getgrouplist(text, primary, &list, &count) < 0 ? 0 : count
        }
        name = unsafe String(cString: text)
        group = primary
        groups = Array(list[..<Int(count)])
    }

    /// The account in a form for people.
    package var text: String { name.map { "\($0) (user \(user))" } ?? "user \(user)" }

    /// Whether the user has `access` to the file at `path` and to all directories above it.
    package func may(_ access: Access, at path: BytePath) throws(SystemError) -> Bool {
        try may(access, path: path.bytes, in: AT_FDCWD, flags: 0)
    }

    /// Whether the user may read `name` in `directory`, and enter it if it is a directory.
    ///
    /// For the user's own files the permission bits decide; for all others the kernel is asked.
    package func mayRead(
        _ name: [UInt8],
        in directory: borrowing FileDescriptor,
        status: FileStatus
    ) throws(SystemError) -> Bool {
        let isDirectory = status.kind == .directory
        if status.owner == user {
            let needed: UInt16 = isDirectory ? 0o500 : 0o400
            return status.permissions & needed == needed
        }
        let access = isDirectory ? Access.readAndEnter : .read
        return try may(access, path: name, in: directory.rawValue, flags: AT_SYMLINK_NOFOLLOW)
    }

    /// Calls `body` with the identity in C's form, which is valid until it returns.
    @safe
    func withPointer<Result>(_ body: (UnsafePointer<migration_identity>) -> Result) -> Result {
        unsafe groups.withUnsafeBufferPointer { groups in
            var identity = unsafe migration_identity(
                user: user,
                group: group,
                groups: groups.baseAddress,
                group_count: groups.count
            )
            return unsafe body(&identity)
        }
    }

    private func may(
        _ access: Access,
        path: [UInt8],
        in directory: CInt,
        flags: CInt
    ) throws(SystemError) -> Bool {
        let mode = access == .read ? R_OK : R_OK | X_OK
        let result = path.withPath { path in
            withPointer { identity in
                unsafe migration_access_as(identity, directory, path, mode, flags)
            }
        }
        if result == 0 { return true }
        let error = SystemError("faccessat2")
        guard error.isDenied || error.isMissing || error.isNotDirectory else { throw error }
        return false
    }
}
