/// Reads the entries at and below some paths from an archive whose windows are in tree order.
///
/// The index of entries only says where to start and stop reading. The headers decide whether a
/// path exists.
final class SelectedEntryReader {
    /// A part of the stream that is read.
    fileprivate struct Part {
        /// Where reading begins.
        let start: UInt64
        let end: End

        enum End {
            /// With the first window that begins there or later.
            case window(UInt64)
            /// With the entry that begins there, which alone is returned.
            case entry(UInt64, EntryPath)
        }
    }

    /// If there are more paths, they are not looked up one by one.
    private static let searchLimit = 64

    private let reader: StrictTarReader
    private let paths: [EntryPath]
    /// The parts that are still to be read, in the order of the archive.
    private var parts: ArraySlice<Part> = []
    /// What is being read.
    private var part: Part?
    /// Whether an entry of it was read.
    private var hasBegun = false
    /// The paths that may still come; nothing is below a file.
    private var awaited: Set<EntryPath>
    /// The paths of returned entries, if they may occur again.
    private var returned: Set<EntryPath> = []

    init(moving reader: StrictTarReader, index: EntryIndex, paths: [EntryPath]) throws {
        self.reader = reader
        self.paths = paths
        awaited = Set(paths)
        var ranges: [Range<UInt64>] = []
        var single: [Part] = []
        for path in awaited {
            if paths.count <= Self.searchLimit, let found = try find(path, in: index) {
                single.append(found)
            } else {
                ranges.append(index.range(of: path))
            }
        }
        let joined = Self.joined(ranges).map { range in
            Part(start: range.lowerBound, end: .window(range.upperBound))
        }
        let all = (joined + single).sorted {
            ($0.start, $0.entry?.offset ?? 0) < ($1.start, $1.entry?.offset ?? 0)
        }
        parts = all[...]
    }

    /// Joins ranges that overlap.
    private static func joined(_ ranges: [Range<UInt64>]) -> [Range<UInt64>] {
        var joined: [Range<UInt64>] = []
        for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) {
            if let last = joined.last, range.lowerBound <= last.upperBound {
                let end = max(last.upperBound, range.upperBound)
                joined[joined.count - 1] = last.lowerBound..<end
            } else {
                joined.append(range)
            }
        }
        return joined
    }

    /// Whether the current entry is the first returned one of its window.
    private(set) var place = WindowPlace.first

    /// Whether a window begins with the current entry, or with one before it that was not returned.
    private var isNewWindow = false

    /// Moves the reader to the next of the entries; `nil` after the last.
    func next() throws -> ArchiveEntry? {
        while !awaited.isEmpty, let part = try part ?? beginNextPart() {
            guard let entry = try reader.next() else {
                self.part = nil
                continue
            }
            let offset = reader.entryOffset - reader.firstOffset
            if reader.place == .first { isNewWindow = true }
            try checkBeginning(of: part, entry, at: offset)
            guard !part.ends(before: offset, reader.place) else {
                self.part = nil
                continue
            }
            if let single = part.entry, single.offset != offset { continue }
            if returned.contains(entry.path) { continue }
            if paths.contains(where: entry.path.isEqual(toOrBelow:)) {
                if entry.kind != .directory, awaited.remove(entry.path) != nil {
                    returned.insert(entry.path)
                }
                place = isNewWindow ? .first : .further
                isNewWindow = false
                return entry
            }
        }
        return nil
    }

    private func beginNextPart() throws -> Part? {
        while let next = parts.popFirst() {
            if let single = next.entry, returned.contains(single.path) { continue }
            try begin(next)
            part = next
            return next
        }
        return nil
    }

    private func begin(_ part: Part) throws {
        try reader.seek(to: reader.firstOffset + part.start)
        hasBegun = false
    }

    /// Throws unless an entry begins where the index says, and the windows are in order.
    private func checkBeginning(of part: Part, _ entry: ArchiveEntry, at offset: UInt64) throws {
        let isWhereListed = hasBegun || part.start == offset
        hasBegun = true
        guard isWhereListed, reader.entryIndex.isAscending else {
            throw ArchiveError(
                .damaged,
                "the index of entries does not match the archive",
                entry: entry.path,
                offset: reader.entryOffset
            )
        }
    }

    /// Looks for an entry at `path` that isn't a directory, in the pieces where it probably begins.
    private func find(_ path: EntryPath, in index: EntryIndex) throws -> Part? {
        for piece in index.likelyPieces(of: path) {
            guard let start = index.firstEntry(inPiece: piece) else { continue }
            let searched = Part(start: start, end: .window(.max))
            try begin(searched)
            let end = reader.firstOffset + UInt64(piece + 1) * UInt64(FrameFormat.chunkSize)
            while try reader.nextOffset < end, let entry = try reader.next() {
                let offset = reader.entryOffset - reader.firstOffset
                try checkBeginning(of: searched, entry, at: offset)
                guard entry.path == path else { continue }
                if entry.kind == .directory { return nil }
                return Part(start: start, end: .entry(offset, path))
            }
        }
        return nil
    }
}

extension SelectedEntryReader.Part {
    /// The start of the only entry that is read.
    fileprivate var entry: (offset: UInt64, path: EntryPath)? {
        if case .entry(let offset, let path) = end { (offset, path) } else { nil }
    }

    /// Whether the entry at `offset`, with `place` in its window, comes after the part.
    fileprivate func ends(before offset: UInt64, _ place: WindowPlace) -> Bool {
        switch end {
        case .window(let end): place == .first && offset >= end
        case .entry(let entry, _): offset > entry
        }
    }
}
