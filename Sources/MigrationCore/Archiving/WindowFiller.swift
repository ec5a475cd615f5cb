internal import MigrationArchive
internal import MigrationSystem

/// Fills windows of the archive with items, in the order in which they come.
struct WindowFiller {
    private var cutter = WindowCutter()
    private var items: [WindowItem] = []

    /// Adds an item; returns the items of the previous window if it has no room for it.
    mutating func add(_ item: WindowItem) -> [WindowItem] {
        let share = WindowCutter.Size(item.entry.kind, at: item.entry.path)
        guard cutter.take(share) else {
            items.append(item)
            return []
        }
        defer { items = [item] }
        return items
    }

    /// Ends the window; returns its items.
    mutating func takeAll() -> [WindowItem] {
        defer { self = WindowFiller() }
        return items
    }
}

/// An item that waits for its turn in a window.
struct WindowItem {
    /// The entry, without the attributes that are read later.
    let entry: ArchiveEntry

    /// Where its content is read; `nil` for an entry that is complete.
    let source: Source?

    /// A file or directory of the source, not open.
    struct Source {
        let base: SourceBase
        /// Its status when the tree was walked.
        let status: FileStatus
    }
}

/// A part of the source that is archived under its own path.
final class SourceBase: Sendable {
    private let root: OpenFile
    private let source: [UInt8]
    private let archived: [UInt8]

    /// The item at `source` beneath `root` (`root` itself if that is empty), which is archived as
    /// `archived` (the archive's root if that is empty).
    init(_ root: OpenFile, at source: [UInt8], as archived: [UInt8]) {
        (self.root, self.source, self.archived) = (root, source, archived)
    }

    /// Opens the item that is archived at `path`.
    func open(
        _ path: EntryPath,
        _ access: FileDescriptor.Access
    ) throws(SystemError) -> FileDescriptor {
        let below = path.bytes.dropFirst(archived.count)
        let relative =
            source.isEmpty ? below.drop { $0 == UInt8(ascii: "/") } : (source + below)[...]
        guard !relative.isEmpty else { return try root.descriptor.duplicate() }
        return try root.descriptor.openBeneath(relative, for: access)
    }
}
