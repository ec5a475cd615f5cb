@testable internal import MigrationArchive

/// Makes archives whose hashes are right whatever their tar streams say.
public enum ArchiveForge {
    private final class Tools {
        let input = FrameBuffer()
        let output = FrameBuffer()
        var compressor: FrameCompressor

        init() {
            do {
                compressor = try FrameCompressor.make(level: 1)
            } catch {
                fatalError("no compressor: \(error)")
            }
        }

        func compress() throws {
            try compressor.compress(input, into: output)
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

    /// The tar stream of an archive: a global header, then `entries`, then the end mark.
    public static func stream(of entries: [UInt8]) throws -> [UInt8] {
        var bytes: [UInt8] = []
        try TarEntryEncoder().encodeExtended(
            GlobalHeader.records(of: header),
            typeFlag: TypeFlag.globalHeader,
            to: &bytes
        )
        return bytes + entries + [UInt8](repeating: 0, count: 1024)
    }

    /// An archive that holds `stream`, with the totals and the index that reading it gives.
    public static func archive(of stream: [UInt8], isStored: Bool) throws -> [UInt8] {
        var index = ArchiveIndex()
        let entries: EntryIndexBuilder
        (index.totals, entries) = survey(of: stream)
        var archive: [UInt8] = []
        let (input, output) = (tools.input, tools.output)
        var rest = stream[...]
        while !rest.isEmpty {
            input.count = input.put([UInt8](rest.prefix(FrameFormat.chunkSize)).span, at: 0)
            rest = rest.dropFirst(FrameFormat.chunkSize)
            let frame: [UInt8]
            if isStored {
                frame = StoredFrame(of: input).bytes
            } else {
                try tools.compress()
                frame = [UInt8](output.bytes.prefix(output.count))
            }
            let listing = ArchiveIndex.Frame(
                compressedSize: UInt32(frame.count),
                size: UInt32(input.count)
            )
            index.append(listing, digest: SHA256Digest.hash(of: frame))
            archive += frame
        }
        let entryIndex = entries.encoded(frameCount: index.frames.count)
        index.append(entryIndex: entryIndex)
        return archive + entryIndex + index.encoded
    }

    /// What another program makes of `stream` with zstd.
    public static func compressed(_ stream: [UInt8]) throws -> [UInt8] {
        let (input, output) = (tools.input, tools.output)
        input.count = input.put([UInt8](stream.prefix(FrameFormat.chunkSize)).span, at: 0)
        try tools.compress()
        return [UInt8](output.bytes.prefix(output.count))
    }

    private static func survey(of stream: [UInt8]) -> (ArchiveTotals, EntryIndexBuilder) {
        do {
            let reader = try StrictTarReader(
                reading: TarStream(MemorySource(stream)),
                header: header
            )
            defer { _ = reader }
            do {
                while try reader.next() != nil {}
            } catch {
                // The archive is as wrong as its stream; how much came before is all that counts.
            }
            return (reader.totals, reader.entryIndex)
        } catch {
            return (ArchiveTotals(), EntryIndexBuilder())
        }
    }
}

extension StoredFrame {
    /// The whole frame, as a file holds it.
    fileprivate var bytes: [UInt8] {
        unsafe withPieces { unsafe $0.reduce(into: []) { unsafe $0 += $1 } }
    }
}
