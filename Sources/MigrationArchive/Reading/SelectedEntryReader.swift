/// Reads the entries at some paths and below them out of an archive whose windows are in tree order.
///
/// The index of entries only says where to continue reading, and where to stop. Whether a path exists is
/// decided by the headers.
final class SelectedEntryReader: EntryReader {
    private let reader: StrictTarReader
    private let paths: [EntryPath]
    /// Where the paths can be and reading has not begun, in the order of the archive.
    private var ranges: ArraySlice<EntryIndex.Range>
    /// What is being read.
    private var range: EntryIndex.Range?
    /// Whether an entry was read of the range.
    private var hasBegun = false
    /// The paths that may still come; nothing lies below a file.
    private var awaited: Set<EntryPath>

    init(reading reader: StrictTarReader, index: EntryIndex, paths: [EntryPath]) {
        self.reader = reader
        self.paths = paths
        awaited = Set(paths)
        var ranges: [EntryIndex.Range] = []
        for range in paths.map(index.range).sorted(by: { $0.start ?? 0 < $1.start ?? 0 }) {
            if let last = ranges.last, last.end.map({ range.start ?? 0 <= $0 }) ?? true {
                let ends = [last.end, range.end].compactMap { $0 }
                ranges[ranges.count - 1] = EntryIndex.Range(
                    start: last.start,
                    end: ends.count == 2 ? ends.max() : nil
                )
            } else {
                ranges.append(range)
            }
        }
        self.ranges = ranges[...]
    }

    var entryOffset: UInt64 { reader.entryOffset }
    var storedSize: UInt64 { reader.storedSize }
    var place: WindowPlace { reader.place }

    func next() throws -> ArchiveEntry? {
        while !awaited.isEmpty, let range = try range ?? beginNextRange() {
            guard let entry = try reader.next() else {
                self.range = nil
                continue
            }
            let offset = reader.entryOffset - reader.firstOffset
            let isWhereListed = hasBegun || range.start.map { $0 == offset } ?? true
            hasBegun = true
            guard isWhereListed, reader.entryIndex.isAscending else {
                throw ArchiveError(
                    .damaged,
                    "the index of entries does not match the archive",
                    entry: entry.path,
                    offset: reader.entryOffset
                )
            }
            if let end = range.end, reader.place == .first, offset >= end {
                self.range = nil
                continue
            }
            if paths.contains(where: entry.path.isEqual(toOrBelow:)) {
                if entry.kind != .directory { awaited.remove(entry.path) }
                return entry
            }
        }
        return nil
    }

    private func beginNextRange() throws -> EntryIndex.Range? {
        guard let next = ranges.popFirst() else { return nil }
        try reader.seek(to: reader.firstOffset + (next.start ?? 0))
        hasBegun = false
        range = next
        return next
    }

    func readContent(_ body: (UInt64, Span<UInt8>) throws -> Void) throws {
        try reader.readContent(body)
    }

    func takeContent() throws -> ContentSlice? { try reader.takeContent() }

    func takeOmissions() -> [EntryOmission] { reader.takeOmissions() }
}
