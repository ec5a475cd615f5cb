internal import MigrationArchive
internal import MigrationSystem

/// The items of a window in their order, read by the threads that make its pieces.
final class ItemWindow: EntryWindow {
    private let items: OrderedItems
    private let reader: AttributeReader
    /// Whether the entries have all attributes that the archive holds.
    private let knowsAttributes: Bool

    init(_ items: OrderedItems, _ reader: AttributeReader, knowsAttributes: Bool = false) {
        (self.items, self.reader, self.knowsAttributes) = (items, reader, knowsAttributes)
    }

    var count: Int { items.count }

    func entry(at index: Int) -> ArchiveEntry { items[index].entry }

    func isRead(at index: Int) -> Bool {
        items[index].source != nil && !(knowsAttributes && items[index].entry.kind.isDirectory)
    }

    func read(
        _ part: ContentPart,
        ofEntryAt index: Int,
        into bytes: inout [UInt8]
    ) throws -> [[UInt8]] {
        guard let source = items[index].source else { return [] }
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
                items[index].entry.kind.isDirectory
                ? true : try file.status().isUnchanged(since: source.status)
            // The item that replaced it may be of a kind that can't be read like this.
            return (isUnchanged ? try filling.get() == count : false, attributes)
        }
        guard isSame else { throw SourceItem.changed(items[index].entry.path.bytes) }
        guard let attributes else { return [] }
        guard attributes.carried.isEmpty else { throw UnexpectedAttributes() }
        return attributes.others
    }

    func checkDirectory(at index: Int) throws {
        guard let source = items[index].source else { return }
        let isUnchanged = try reading(source, at: index) { directory throws(SystemError) in
            try directory.status().isUnchanged(since: source.status)
        }
        guard isUnchanged else { throw SourceWalker.changed(items[index].entry.path.bytes) }
    }

    func report(_ attributes: [[UInt8]], ofEntryAt index: Int) throws {
        try reader.report(attributes, at: items[index].entry.path.bytes)
    }

    func readingAttributes(from index: Int) throws -> any EntryWindow {
        var items = items
        for index in index..<items.count {
            guard let source = items[index].source else { continue }
            let attributes = try reading(source, at: index) { file throws(SystemError) in
                try FileAttributes(of: file, holding: reader.extra)
            }
            try reader.report(attributes.others, at: items[index].entry.path.bytes)
            if attributes.carried.isEmpty { continue }
            let entry = items[index].entry.with(attributes.carried)
            items[index] = WindowItem(entry: entry, source: source)
        }
        return ItemWindow(items, reader, knowsAttributes: true)
    }

    /// Returns the result of `body`, which gets the file or directory of the item at `index`.
    private func reading<Result>(
        _ source: WindowItem.Source,
        at index: Int,
        _ body: (borrowing FileDescriptor) throws(SystemError) -> Result
    ) throws(ArchiveError) -> Result {
        do {
            return try body(try items[index].open(source))
        } catch {
            let path = items[index].entry.path.bytes
            guard error.isMissing else { throw SourceWalker.unreadable(path, error) }
            throw SourceItem.failure(error, at: path)
        }
    }
}

extension ArchiveEntry {
    /// The entry with the attributes read last.
    fileprivate func with(_ attributes: [ExtendedAttribute]) -> ArchiveEntry {
        ArchiveEntry(
            path: path,
            kind: kind,
            permissions: permissions,
            modificationTime: modificationTime,
            extendedAttributes: attributes,
            owner: owner
        )
    }
}
