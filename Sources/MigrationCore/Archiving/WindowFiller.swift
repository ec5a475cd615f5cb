internal import MigrationArchive
internal import MigrationSystem

/// Fills windows of the archive with items, in the order in which they come.
struct WindowFiller {
    private var cutter = WindowCutter()
    private var items: [WindowItem] = []

    /// Adds an item; returns the items of the previous window if it has no room for it.
    mutating func add(_ item: WindowItem) -> OrderedItems? {
        let share = WindowCutter.Size(item.entry.kind, at: item.entry.path)
        let full = cutter.take(share) ? takeItems() : nil
        items.append(item)
        return full
    }

    /// Ends the window; returns its items.
    mutating func takeAll() -> OrderedItems? {
        cutter = WindowCutter()
        return takeItems()
    }

    private mutating func takeItems() -> OrderedItems? {
        if items.isEmpty { return nil }
        defer { items = [] }
        return OrderedItems(items)
    }
}

/// The items of a window in their order.
///
/// They are not copied, because a window takes two megabytes.
struct OrderedItems: Sendable {
    private var items: [WindowItem]
    private let order: [Int32]

    init(_ items: [WindowItem]) {
        let keys = items.map { WindowKey($0.entry.kind, at: $0.entry.path) }
        self.items = items
        order = items.indices.map { Int32($0) }.sorted { left, right in
            let (left, right) = (Int(left), Int(right))
            return keys[left].precedes(keys[right])
                ?? keys[left].precedes(
                    keys[right],
                    items[left].entry.path,
                    items[right].entry.path
                )
        }
    }

    var count: Int { items.count }

    subscript(index: Int) -> WindowItem {
        _read { yield items[Int(order[index])] }
        _modify { yield &items[Int(order[index])] }
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

    /// Opens the file or directory.
    func open(_ source: Source) throws(SystemError) -> FileDescriptor {
        try source.base.open(entry.path, entry.kind == .directory ? .directory : .reading)
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
