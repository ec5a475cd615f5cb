public import MigrationSystem

/// One entry of an archive: a file, a directory or a link, with everything but its content.
public struct ArchiveEntry: Hashable, Sendable {
    /// The kind of an entry.
    public enum Kind: Hashable, Sendable {
        /// A regular file of `size` bytes.
        case file(size: UInt64)

        /// A directory.
        case directory

        /// A symbolic link to `target`, whose bytes are kept as they are.
        case symbolicLink(target: [UInt8])

        /// Another name of the earlier entry at `target`.
        case hardLink(target: EntryPath)
    }

    /// The path of the entry, relative to the root that was archived.
    public let path: EntryPath

    /// The kind of the entry.
    public let kind: Kind

    /// The permission bits, from 0 to 0o7777.
    public let permissions: UInt16

    /// When the content was last changed.
    public let modificationTime: FileTime

    /// The extended attributes, in byte order of their names.
    public let extendedAttributes: [ExtendedAttribute]

    /// The owner; `nil` where the archive holds none.
    public let owner: FileOwner?

    /// Makes an entry.
    ///
    /// - Parameters:
    ///   - path: The path of the entry, relative to the root that was archived.
    ///   - kind: The kind of the entry.
    ///   - permissions: The permission bits, from 0 to 0o7777.
    ///   - modificationTime: When the content was last changed.
    ///   - extendedAttributes: The extended attributes, in byte order of their names; none for links.
    ///   - owner: The owner, where the archive holds ``ExtraMetadata/owners``.
    public init(
        path: EntryPath,
        kind: Kind,
        permissions: UInt16,
        modificationTime: FileTime,
        extendedAttributes: [ExtendedAttribute] = [],
        owner: FileOwner? = nil
    ) {
        self.path = path
        self.kind = kind
        self.permissions = permissions
        self.modificationTime = modificationTime
        self.extendedAttributes = extendedAttributes
        self.owner = owner
    }
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
    /// Whether it is a directory.
    package var isDirectory: Bool {
        if case .directory = self { true } else { false }
    }

    /// Whether it is a symbolic link.
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
    /// Whether the entry is a hard link to its own path: GNU tar writes one for a file that is named twice on
    /// its command line.
    package var isLinkToItself: Bool {
        if case .hardLink(path) = kind { true } else { false }
    }
}
