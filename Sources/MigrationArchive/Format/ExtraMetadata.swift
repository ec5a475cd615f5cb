package import MigrationSystem

/// Metadata of files that an archive holds only if requested: owners, access control lists, and
/// attributes outside `user.*`.
///
/// The archive's header names the kinds that it holds; a reader that doesn't know one refuses the
/// archive. The fingerprint covers these names.
public struct ExtraMetadata: OptionSet, Hashable, Sendable {
    /// One bit for each kind.
    public let rawValue: UInt8

    /// Makes the set of these bits.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// The numbers of the owner and the group of every entry.
    public static let owners = ExtraMetadata(rawValue: 1)

    /// The access control lists of files and directories (acl(5)).
    public static let accessLists = ExtraMetadata(rawValue: 2)

    /// The extended attributes of files and directories outside `user.*`, such as `security.capability`.
    public static let attributes = ExtraMetadata(rawValue: 4)
}

extension ExtraMetadata {
    private static let known: [(name: String, value: ExtraMetadata)] = [
        ("accessLists", .accessLists), ("attributes", .attributes), ("owners", .owners),
    ]

    /// The names in a header, in byte order.
    public var names: [String] {
        Self.known.filter { contains($0.value) }.map(\.name)
    }

    /// The kind with this name in a header; `nil` if there is none.
    init?(name: String) {
        guard let value = Self.known.first(where: { $0.name == name })?.value else { return nil }
        self = value
    }

    /// The owner for the entry of a file with `status`; `nil` if owners are not archived.
    package func owner(of status: FileStatus) -> FileOwner? {
        contains(.owners) ? FileOwner(user: status.owner, group: status.group) : nil
    }

    /// Whether an archive that holds this metadata includes the attribute `name` of files.
    package func includesAttribute(_ name: [UInt8]) -> Bool {
        if ExtendedAttribute.isOfUser(name) { return true }
        return contains(AccessList.Kind(attributeName: name) == nil ? .attributes : .accessLists)
    }
}

extension ArchiveEntry {
    /// Why an archive that holds `metadata` can't hold the entry; `nil` if it can.
    func mismatch(with metadata: ExtraMetadata) -> String? {
        guard (owner != nil) == metadata.contains(.owners) else {
            return owner == nil ? "it has no owner" : "the archive holds no owners"
        }
        if let owner, !owner.isStorable { return "its owner or group has no number" }
        for attribute in extendedAttributes {
            guard metadata.includesAttribute(attribute.name) else {
                let name = PrintableText.escaping(attribute.name)
                return "the archive holds no attributes like \(name)"
            }
            guard attribute.isSettable else { return "its access control list is malformed" }
        }
        return nil
    }
}

extension FileOwner {
    /// Whether a file can have both numbers: the largest one means "unchanged" (chown(2)).
    var isStorable: Bool { user != .max && group != .max }
}
