internal import MigrationSystem

/// The accounts that replace those in the archive when entries are restored.
public struct OwnerMap: Hashable, Sendable {
    /// The new numbers of users, by the numbers in the archive.
    public var users: [UInt32: UInt32] = [:]

    /// The new numbers of groups, by the numbers in the archive.
    public var groups: [UInt32: UInt32] = [:]

    /// Makes a map that changes nothing.
    public init() {}

    /// The user that replaces `user`.
    func user(_ user: UInt32) -> UInt32 { users[user] ?? user }

    /// The group that replaces `group`.
    func group(_ group: UInt32) -> UInt32 { groups[group] ?? group }

    /// The owner that replaces `owner`.
    func owner(_ owner: FileOwner) -> FileOwner {
        FileOwner(user: user(owner.user), group: group(owner.group))
    }
}
