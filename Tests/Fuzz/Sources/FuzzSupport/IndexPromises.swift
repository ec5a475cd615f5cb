@testable internal import MigrationSystem

@testable internal import MigrationArchive

/// Promises about an index of entries and about a frame of the table of large files, for any bytes.
public enum IndexPromises {
    /// The parts of the reader that the seeds must reach.
    public static let milestones = ["an index", "a table"]

    /// Checks what the first byte chooses: a frame of the table, or an index of that many pieces.
    public static func check(_ bytes: [UInt8]) throws {
        guard let choice = bytes.first else { return }
        var rest = [UInt8](bytes.dropFirst())
        guard rest.count >= 8 else { return }
        // A wrong length would keep most inputs from being read.
        let length = UInt32(rest.count - 8)
        for index in 0..<4 { rest[4 + index] = UInt8(truncatingIfNeeded: length >> (8 * index)) }
        if choice == 255 { try checkTable(rest) } else { try checkIndex(rest, pieces: Int(choice)) }
    }

    private static func checkIndex(_ bytes: [UInt8], pieces: Int) throws {
        let index = try EntryIndex(parsing: bytes, frameCount: pieces)
        Milestones.reach("an index")
        FuzzTarget.require(index.bytes == bytes, "the index is what was read")
        let end = UInt64(pieces) * UInt64(FrameFormat.chunkSize)
        for path in ["a", "Documents/a", "z/z"].map({ EntryPath($0) }) {
            let range = index.range(of: path)
            for place in [range.lowerBound, range.upperBound] where place > 0 && place < .max {
                FuzzTarget.require(place < end, "a range lies in the stream")
            }
            let likely = index.likelyPieces(of: path)
            FuzzTarget.require(likely.count <= 3, "there is a piece for each kind")
            FuzzTarget.require(likely.allSatisfy { $0 < pieces }, "a piece is one of those listed")
        }
        for piece in 0..<pieces {
            let start = index.start(inPieceOrAfter: piece)
            let first = UInt64(piece) * UInt64(FrameFormat.chunkSize)
            let isLater = start.map { $0 >= first && $0 < end } ?? true
            FuzzTarget.require(isLater, "reading goes on later")
            _ = index.isListed(piece: piece)
        }
        FuzzTarget.require(index.tables.allSatisfy { $0.piece < pieces }, "a table follows a piece")
    }

    private static func checkTable(_ bytes: [UInt8]) throws {
        let files = try LargeFile.files(in: bytes, holding: [])
        Milestones.reach("a table")
        let records = files.flatMap { file in
            LargeFile.record(of: file.entry, at: file.start, file.place) ?? []
        }
        FuzzTarget.require(LargeFile.frame(holding: records) == bytes, "a table has one form")
        FuzzTarget.require(files.allSatisfy { $0.entry.violation == nil }, "entries keep the rules")
    }

    /// The inputs with which the fuzzer starts.
    public static var seeds: [[UInt8]] {
        var builder = EntryIndexBuilder()
        var records: [UInt8] = []
        var offset: UInt64 = 0
        let sizes = [70_000, 5_000_000, 10, 9_000_000, 66_000]
        for (size, name) in zip(sizes, ["Documents/a", "b", "c.txt", "d", "z"]) {
            let tag = ExtendedAttribute(name: [UInt8]("user.tag".utf8), value: [1, 2])
            let entry = ArchiveEntry(
                path: EntryPath(name),
                kind: .file(size: UInt64(size)),
                permissions: 0o644,
                modificationTime: FileTime(seconds: -7, nanoseconds: 5),
                extendedAttributes: size > 1_000_000 ? [tag] : []
            )
            _ = builder.add(entry, offset: offset, place: .first)
            records += LargeFile.record(of: entry, at: offset, .first) ?? []
            offset += UInt64(TarFormat.padded(size)) + 512
        }
        return [
            [4] + builder.encoded(frameCount: 4), [0] + EntryIndexBuilder().encoded(frameCount: 0),
            [255] + LargeFile.frame(holding: records),
        ]
    }
}
