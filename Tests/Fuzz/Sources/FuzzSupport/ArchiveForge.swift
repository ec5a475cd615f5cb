@testable internal import MigrationArchive

/// Makes archives whose hashes are right whatever their tar streams say.
public enum ArchiveForge {
    private final class Tools {
        let input = FrameBuffer()
        let output = FrameBuffer()
        private var compressor: FrameCompressor
        private var decompressor: FrameDecompressor

        init() {
            do {
                compressor = try FrameCompressor(level: 1)
                decompressor = try FrameDecompressor()
            } catch {
                fatalError("no compressor: \(error)")
            }
        }

        func compress() throws {
            try compressor.compress(input, into: output)
        }

        func open(contentSize: Int) throws -> [UInt8] {
            try decompressor.open(input, into: output, contentSize: contentSize)
        }
    }

    // Safe because libFuzzer calls a target on one thread only.
    nonisolated(unsafe) private static let tools = Tools()

    static let header = ArchiveHeader(
        bundleIdentifier: "com.example.fuzz",
        platform: "linux",
        resourcesVersion: "1",
        sizeEstimate: 1,
        isCompressible: true,
        creator: "fuzz"
    )

    /// The tar stream of an archive behind its global header: `entries`, then the end mark.
    public static func stream(of entries: [UInt8]) -> [UInt8] {
        entries + [UInt8](repeating: 0, count: 1024)
    }

    /// An archive that holds `stream`, with the totals and the index that reading it gives.
    public static func archive(of stream: [UInt8], isStored: Bool) throws -> [UInt8] {
        let header = try HeaderFrame(of: header)
        var index = ArchiveIndex(after: header)
        var survey = Survey(of: stream)
        index.totals = survey.totals
        var archive = header.bytes
        let (input, output) = (tools.input, tools.output)
        var rest = stream[...]
        while !rest.isEmpty {
            input.count = 0
            input.append([UInt8](rest.prefix(FrameFormat.chunkSize)).span)
            rest = rest.dropFirst(FrameFormat.chunkSize)
            let piece = index.frames.count
            input.marks = survey.marks.removeValue(forKey: piece) ?? []
            let table = survey.takeTable(behind: piece, isLast: rest.isEmpty)
            var frame: [UInt8]
            if isStored {
                frame = StoredFrame(of: input).bytes
            } else {
                try tools.compress()
                frame = [UInt8](output.bytes.prefix(output.count))
            }
            frame += (input.marks ?? []).encoded + table
            let listing = ArchiveIndex.Frame(
                compressedSize: UInt32(frame.count),
                size: UInt32(input.count)
            )
            index.append(listing, digest: SHA256Digest.hash(ofPiece: input))
            archive += frame
        }
        let entryIndex = survey.entries.encoded(frameCount: index.frames.count)
        index.append(entryIndex: entryIndex)
        return archive + entryIndex + index.encoded
    }

    /// `stream` as another program compresses it with zstd.
    public static func compressed(_ stream: [UInt8]) throws -> [UInt8] {
        let (input, output) = (tools.input, tools.output)
        input.count = 0
        input.append([UInt8](stream.prefix(FrameFormat.chunkSize)).span)
        try tools.compress()
        return [UInt8](output.bytes.prefix(output.count))
    }

    /// The hash of the piece of `size` bytes in `frame`; `nil` if it is not a piece or holds another number of bytes.
    static func digest(of frame: ArraySlice<UInt8>, size: Int) -> [UInt8]? {
        guard frame.count <= FrameFormat.largestCompressedSize, size <= FrameFormat.chunkSize else {
            return nil
        }
        tools.input.count = 0
        tools.input.append([UInt8](frame).span)
        return try? tools.open(contentSize: size)
    }
}

/// The entries of a stream, as far as they can be read.
private struct Survey {
    private(set) var totals = ArchiveTotals()
    private(set) var entries = EntryIndexBuilder()
    var marks: [Int: [EntryMark]] = [:]
    private var tables: [Int: [UInt8]] = [:]

    init(of stream: [UInt8]) {
        let stream = TarStream(MemorySource(stream))
        let reader = StrictTarReader(reading: stream, readsAllContent: true)
        var last = 0
        do {
            while let entry = try reader.next() {
                let piece = Int(reader.entryOffset) / FrameFormat.chunkSize
                if piece != last { tables[last] = entries.takeTable() }
                last = piece
                marks[piece, default: []].append(EntryMark(of: entry, reader.place))
                _ = entries.add(entry, offset: reader.entryOffset, place: reader.place)
            }
        } catch {
            // The archive is as wrong as its stream; only the entries before the error count.
        }
        tables[last] = entries.takeTable()
        totals = reader.totals
    }

    /// The frame of the table of large files behind `piece`.
    mutating func takeTable(behind piece: Int, isLast: Bool) -> [UInt8] {
        let full = tables.removeValue(forKey: piece) ?? []
        return isLast && full.isEmpty ? entries.takeLastTable(behind: piece) : full
    }
}

extension StoredFrame {
    /// The whole frame, as a file holds it.
    fileprivate var bytes: [UInt8] {
        unsafe withPieces { unsafe $0.reduce(into: []) { unsafe $0 += $1 } }
    }
}
