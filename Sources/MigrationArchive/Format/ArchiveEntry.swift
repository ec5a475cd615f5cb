public import MigrationSystem

/// One entry of an archive: a file, a directory or a link, with everything but its content.
public struct ArchiveEntry: Hashable, Sendable {
    /// The kind of an entry.
    public enum Kind: Hashable, Sendable {
        /// A regular file of `size` bytes.
        case file(size: UInt64)

        /// A directory.
        case directory

        /// A symbolic link to `target`, whose bytes are kept unchanged.
        case symbolicLink(target: [UInt8])

        /// Another name of the earlier entry at `target`.
        case hardLink(target: EntryPath)
    }

    package struct Fields: Hashable, Sendable {
        let path: EntryPath
        package var kind: Kind
        package var permissions: UInt16
        package var modificationTime: FileTime
        package var extendedAttributes: [ExtendedAttribute]
        package var owner: FileOwner?
    }

    /// Shared by copies, because an entry is copied more often than it is made.
    private var fields: Shared<Fields>

    /// The path of the entry, relative to the root that was archived.
    public var path: EntryPath { fields.value.path }

    /// The kind of the entry.
    public var kind: Kind { fields.value.kind }

    /// The permission bits, from 0 to 0o7777.
    public var permissions: UInt16 { fields.value.permissions }

    /// When the content was last changed.
    public var modificationTime: FileTime { fields.value.modificationTime }

    /// The extended attributes, in byte order of their names.
    public var extendedAttributes: [ExtendedAttribute] { fields.value.extendedAttributes }

    /// The owner; `nil` if the archive holds none.
    public var owner: FileOwner? { fields.value.owner }

    /// Makes an entry.
    ///
    /// - Parameters:
    ///   - path: The path of the entry, relative to the root that was archived.
    ///   - kind: The kind of the entry.
    ///   - permissions: The permission bits, from 0 to 0o7777.
    ///   - modificationTime: When the content was last changed.
    ///   - extendedAttributes: The extended attributes, in byte order of their names; none for links.
    ///   - owner: The owner, if the archive holds ``ExtraMetadata/owners``.
    public init(
        path: EntryPath,
        kind: Kind,
        permissions: UInt16,
        modificationTime: FileTime,
        extendedAttributes: [ExtendedAttribute] = [],
        owner: FileOwner? = nil
    ) {
        fields = Shared(
            Fields(
                path: path,
                kind: kind,
                permissions: permissions,
                modificationTime: modificationTime,
                extendedAttributes: extendedAttributes,
                owner: owner
            )
        )
    }
}

extension ArchiveEntry {
    /// A copy of the entry, whose fields `change` changes.
    package func changing(_ change: (inout Fields) -> Void) -> ArchiveEntry {
        var (entry, fields) = (self, fields.value)
        change(&fields)
        entry.fields = Shared(fields)
        return entry
    }
}

/// A value that its copies share.
private final class Shared<Value: Hashable & Sendable>: Hashable, Sendable {
    let value: Value

    init(_ value: Value) { self.value = value }

    static func == (left: Shared, right: Shared) -> Bool { left.value == right.value }

    func hash(into hasher: inout Hasher) { hasher.combine(value) }
}

extension ArchiveEntry {
    /// The bytes of content that follow the entry in the archive; 0 for all but files.
    public var contentSize: UInt64 {
        if case .file(let size) = kind { size } else { 0 }
    }

    /// Whether the entry is a symbolic or a hard link.
    var isLink: Bool { kind.isLink }
}

extension ArchiveEntry.Kind {
    package var isDirectory: Bool {
        if case .directory = self { true } else { false }
    }

    var isSymbolicLink: Bool {
        if case .symbolicLink = self { true } else { false }
    }

    /// Whether it is a symbolic or a hard link.
    var isLink: Bool {
        switch self {
        case .symbolicLink, .hardLink: true
        case .file, .directory: false
        }
    }
}

extension ArchiveEntry {
    /// Whether the entry is a hard link to its own path, which GNU tar writes for a file that is
    /// named twice on its command line.
    package var isLinkToItself: Bool {
        if case .hardLink(path) = kind { true } else { false }
    }
}
