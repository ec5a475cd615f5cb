internal import MigrationArchive
internal import MigrationSystem

/// The items of a window in their order, read by the threads that make its pieces.
final class ItemWindow: EntryWindow {
    /// The items as they came; sorting these would copy two megabytes.
    private let items: [WindowItem]
    private let order: [Int32]
    private let reader: AttributeReader
    /// Whether the entries have all attributes that the archive holds.
    private let knowsAttributes: Bool

    convenience init(
        _ items: [WindowItem],
        _ reader: AttributeReader,
        knowsAttributes: Bool = false
    ) {
        self.init(items, in: Self.order(of: items), reader, knowsAttributes: knowsAttributes)
    }

    private init(
        _ items: [WindowItem],
        in order: [Int32],
        _ reader: AttributeReader,
        knowsAttributes: Bool
    ) {
        (self.items, self.order) = (items, order)
        (self.reader, self.knowsAttributes) = (reader, knowsAttributes)
    }

    private static func order(of items: [WindowItem]) -> [Int32] {
        let keys = items.map { WindowKey($0.entry.kind, at: $0.entry.path) }
        return items.indices.map { Int32($0) }.sorted { left, right in
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

    private subscript(index: Int) -> WindowItem {
        _read { yield items[Int(order[index])] }
    }

    func entry(at index: Int) -> ArchiveEntry { self[index].entry }

    func isRead(at index: Int) -> Bool {
        self[index].source != nil && !(knowsAttributes && self[index].entry.kind.isDirectory)
    }

    func read(
        _ part: ContentPart,
        ofEntryAt index: Int,
        into bytes: inout [UInt8]
    ) throws -> [[UInt8]] {
        guard let source = self[index].source else { return [] }
        let (isSame, attributes) = try reading(source, at: index) { file throws(SystemError) in
            var attributes: FileAttributes?
            if part.isFirst, !knowsAttributes {
                attributes = try FileAttributes(of: file, holding: reader.extra)
            }
            let (start, count) = (part.range.lowerBound, part.range.count)
            let filling = Result { () throws(SystemError) in
                try file.fill(&bytes, from: start, count: count, at: part.offset)
            }
            // Still the file that the walk saw, unchanged.
            let isUnchanged =
                self[index].entry.kind.isDirectory
                ? true : try file.status().isUnchanged(since: source.status)
            // The item that replaced it may be of a kind that can't be read like this.
            return (isUnchanged ? try filling.get() == count : false, attributes)
        }
        guard isSame else { throw SourceItem.changed(self[index].entry.path.bytes) }
        guard let attributes else { return [] }
        guard attributes.carried.isEmpty else { throw UnexpectedAttributes() }
        return attributes.others
    }

    func checkDirectory(at index: Int) throws {
        guard let source = self[index].source else { return }
        let isUnchanged = try reading(source, at: index) { directory throws(SystemError) in
            try directory.status().isUnchanged(since: source.status)
        }
        guard isUnchanged else { throw SourceWalker.changed(self[index].entry.path.bytes) }
    }

    func report(_ attributes: [[UInt8]], ofEntryAt index: Int) throws {
        try reader.report(attributes, at: self[index].entry.path.bytes)
    }

    func readingAttributes(from index: Int) throws -> any EntryWindow {
        var items = items
        for index in index..<items.count {
            guard let source = self[index].source else { continue }
            let attributes = try reading(source, at: index) { file throws(SystemError) in
                try FileAttributes(of: file, holding: reader.extra)
            }
            try reader.report(attributes.others, at: self[index].entry.path.bytes)
            if attributes.carried.isEmpty { continue }
            let entry = self[index].entry.changing { $0.extendedAttributes = attributes.carried }
            items[Int(order[index])] = WindowItem(entry: entry, source: source)
        }
        return ItemWindow(items, in: order, reader, knowsAttributes: true)
    }

    /// Returns the result of `body`, which gets the file or directory of the item at `index`.
    private func reading<Result>(
        _ source: WindowItem.Source,
        at index: Int,
        _ body: (borrowing FileDescriptor) throws(SystemError) -> Result
    ) throws(ArchiveError) -> Result {
        let entry = self[index].entry
        do {
            let access: FileDescriptor.Access = entry.kind == .directory ? .directory : .reading
            return try body(try source.base.open(entry.path, access))
        } catch {
            throw SourceItem.failure(error, at: entry.path.bytes)
        }
    }
}
