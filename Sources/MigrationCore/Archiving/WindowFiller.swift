internal import MigrationArchive
internal import MigrationSystem

/// Fills windows of the archive with items, in the order in which they come.
struct WindowFiller {
    private var cutter = WindowCutter()
    private var items: [WindowItem] = []

    /// Adds an item; if the window has no room for it, ends the window and returns its items in their order.
    mutating func add(_ item: WindowItem) -> [WindowItem] {
        let size = WindowCutter.Size(item.entry.kind, at: item.entry.path)
        let full = cutter.take(size) ? takeItems() : []
        items.append(item)
        return full
    }

    /// Ends the window; returns its items in their order.
    mutating func takeAll() -> [WindowItem] {
        cutter = WindowCutter()
        return takeItems()
    }

    private mutating func takeItems() -> [WindowItem] {
        let keys = items.map { WindowKey($0.entry.kind, at: $0.entry.path) }
        var order = keys.enumerated().map { (index: $0.offset, start: $0.element.start) }
        order.sort { left, right in
            left.start.precedes(right.start) ?? (keys[left.index] < keys[right.index])
        }
        items.arrange(in: order.map(\.index))
        defer { items = [] }
        return items
    }
}

extension [WindowItem] {
    /// Moves each item to its place in `order`, without a copy: a window takes two megabytes.
    fileprivate mutating func arrange(in order: [Int]) {
        var order = order
        for start in order.indices {
            var place = start
            while order[place] != start {
                let next = order[place]
                swapAt(place, next)
                order[place] = place
                place = next
            }
            order[place] = place
        }
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

/// A part of the source that is archived under a path of its own.
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
        if source.isEmpty, archived.isEmpty, !path.bytes.isEmpty {
            return try root.descriptor.openBeneath(path.bytes[...], for: access)
        }
        let slash = UInt8(ascii: "/")
        var place = source
        place += path.bytes.dropFirst(archived.count)
        let relative = source.isEmpty ? place.drop { $0 == slash } : place[...]
        guard !relative.isEmpty else { return try root.descriptor.duplicate() }
        return try root.descriptor.openBeneath(relative, for: access)
    }
}
