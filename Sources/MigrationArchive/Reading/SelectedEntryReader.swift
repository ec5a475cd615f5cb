/// Reads the entries at some paths and below them out of an archive whose entries are in tree order.
///
/// The index of entries only says where to continue reading. Whether a path exists is decided
/// by the headers.
final class SelectedEntryReader: EntryReader {
    private let reader: StrictTarReader
    private let index: EntryIndex
    /// The paths that are not passed yet, in tree order, none below another.
    private var wanted: ArraySlice<EntryPath>
    /// An entry that was read and may be wanted.
    private var candidate: ArchiveEntry?
    private var lastPath: EntryPath?

    init(reading reader: StrictTarReader, index: EntryIndex, paths: [EntryPath]) {
        self.reader = reader
        self.index = index
        var wanted: [EntryPath] = []
        for path in paths.sorted(by: { $0.precedesInTree($1) }) {
            if let last = wanted.last, path.isEqual(toOrBelow: last) { continue }
            wanted.append(path)
        }
        self.wanted = wanted[...]
    }

    var entryOffset: UInt64 { reader.entryOffset }
    var storedSize: UInt64 { reader.storedSize }

    func next() throws -> ArchiveEntry? {
        while let path = wanted.first {
            guard let entry = try candidate ?? nextCandidate(for: path) else { return nil }
            candidate = nil
            if entry.path.isEqual(toOrBelow: path) {
                // Nothing is below a file, so the entries after it need not be read.
                if entry.path == path, entry.kind != .directory { wanted.removeFirst() }
                return entry
            }
            if path.precedesInTree(entry.path) {
                candidate = entry
                wanted.removeFirst()
            }
        }
        return nil
    }

    /// Reads the next entry, from as far on as the index says that `path` can't come before.
    private func nextCandidate(for path: EntryPath) throws -> ArchiveEntry? {
        let place = index.place(before: path) ?? EntryIndex.Place(offset: 0, path: nil)
        let offset = reader.firstOffset + place.offset
        let isFarther = lastPath == nil || offset > reader.entryOffset
        if isFarther { try reader.seek(to: offset) }
        guard let entry = try reader.next() else { return nil }
        let isWhereListed = !isFarther || place.path == nil || place.path == entry.path
        let isInOrder = lastPath?.precedesInTree(entry.path) ?? true
        guard isWhereListed, isInOrder else {
            throw ArchiveError(
                .damaged,
                "the index of entries does not match the archive",
                entry: entry.path,
                offset: reader.entryOffset
            )
        }
        lastPath = entry.path
        return entry
    }

    func readContent(_ body: (UInt64, Span<UInt8>) throws -> Void) throws {
        try reader.readContent(body)
    }

    func takeContent() throws -> ContentSlice? { try reader.takeContent() }

    func takeOmissions() -> [EntryOmission] { reader.takeOmissions() }
}
