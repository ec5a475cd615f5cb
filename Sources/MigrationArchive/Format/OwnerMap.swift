internal import MigrationSystem

/// The accounts that restored entries get in place of those in the archive.
public struct OwnerMap: Hashable, Sendable {
    /// The numbers of users, by those that the archive has.
    public var users: [UInt32: UInt32] = [:]

    /// The numbers of groups, by those that the archive has.
    public var groups: [UInt32: UInt32] = [:]

    /// Makes a map that changes nothing.
    public init() {}

    /// The user that restored entries get in place of `user`.
    func user(_ user: UInt32) -> UInt32 { users[user] ?? user }

    /// The group that restored entries get in place of `group`.
    func group(_ group: UInt32) -> UInt32 { groups[group] ?? group }

    /// The owner that restored entries get in place of `owner`.
    func owner(_ owner: FileOwner) -> FileOwner {
        FileOwner(user: user(owner.user), group: group(owner.group))
    }
}
