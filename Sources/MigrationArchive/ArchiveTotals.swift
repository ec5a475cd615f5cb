internal import MigrationSystem

/// How much an archive holds.
public struct ArchiveTotals: Hashable, Sendable, Codable {
    /// The number of regular files; further names of the same file count as hard links.
    public var files: UInt64 = 0

    /// The number of directories.
    public var directories: UInt64 = 0

    /// The number of symbolic links.
    public var symbolicLinks: UInt64 = 0

    /// The number of hard links.
    public var hardLinks: UInt64 = 0

    /// The bytes in all files, as their sizes say.
    public var contentBytes: UInt64 = 0

    /// The bytes in all files less those in whole pages of zeros, which need no room on a disk.
    public var dataBytes: UInt64 = 0

    /// Makes totals of an empty archive.
    public init() {}

    /// The number of entries of every kind.
    public var entries: UInt64 { files + directories + symbolicLinks + hardLinks }
}

extension ArchiveTotals {
    /// Counts `entry`.
    package mutating func count(_ entry: ArchiveEntry) {
        switch entry.kind {
        case .file(let size): countFile(of: size)
        case .directory: directories += 1
        case .symbolicLink: symbolicLinks += 1
        case .hardLink: hardLinks += 1
        }
    }

    /// Counts a file of `size` bytes.
    mutating func countFile(of size: UInt64) {
        files += 1
        contentBytes.addSaturating(size)
    }
}
