internal import MigrationSystem

/// How much an archive holds.
public struct ArchiveTotals: Hashable, Sendable, Codable {
    /// The number of regular files; additional names of a file count as hard links.
    public var files: UInt64 = 0

    /// The number of directories.
    public var directories: UInt64 = 0

    /// The number of symbolic links.
    public var symbolicLinks: UInt64 = 0

    /// The number of hard links.
    public var hardLinks: UInt64 = 0

    /// The sum of all files' sizes.
    public var contentBytes: UInt64 = 0

    /// The bytes in all files without pages of zeros, which need no disk space.
    ///
    /// A page is 4,096 bytes that begin at a multiple of 4,096 in the file. A page that spans two
    /// pieces of the stream counts as data.
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

// MARK: - Holes

/// Counts the whole pages of zeros in a file's content, as it is read piece by piece.
///
/// Pages that span two pieces count as data, so the count depends on where pieces end. A reader
/// that restores only whole pages within a piece as holes needs no more space than was counted.
struct ZeroPageCounter {
    static let pageSize = 4096

    private(set) var bytes: UInt64 = 0
    private var offset: UInt64

    /// Starts counting at `offset` of the content.
    init(from offset: UInt64 = 0) { self.offset = offset }

    /// Counts the zero pages in `part`, which is all of the content in the next piece.
    mutating func add(_ part: Span<UInt8>) {
        let start = Int(offset % UInt64(Self.pageSize))
        var page = (Self.pageSize - start) % Self.pageSize
        while page + Self.pageSize <= part.count {
            if Self.isZero(part.extracting(page..<page + Self.pageSize)) {
                bytes += UInt64(Self.pageSize)
            }
            page += Self.pageSize
        }
        offset += UInt64(part.count)
    }

    /// Whether every byte of `span` is zero.
    static func isZero(_ span: Span<UInt8>) -> Bool {
        guard !span.isEmpty, span[0] == 0 else { return span.isEmpty }
        return span.extracting(droppingFirst: 1).isEqual(to: span.extracting(droppingLast: 1))
    }
}
