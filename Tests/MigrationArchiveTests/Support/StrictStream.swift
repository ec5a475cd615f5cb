import MigrationSystem

@testable import MigrationArchive

/// Reads the entries of tar streams as the strict reader does.
struct StrictStream {
    private let buffer = FrameBuffer()

    /// The bytes of `entry`'s headers.
    static func encoded(_ entry: ArchiveEntry) throws -> [UInt8] {
        var bytes: [UInt8] = []
        try TarEntryEncoder().encode(entry, to: &bytes)
        return bytes
    }

    /// The entries in `body`, to which the end mark is added.
    func entries(
        in body: [UInt8],
        endMark: Int = 1024,
        holding extra: ExtraMetadata = []
    ) throws -> [ArchiveEntry] {
        let stream = body + [UInt8](repeating: 0, count: endMark)
        return try entries(inStream: stream, holding: extra)
    }

    /// The entries in a stream that has an end mark of its own.
    func entries(
        inStream stream: [UInt8],
        chunkSize: Int = 1 << 20,
        holding extra: ExtraMetadata = []
    ) throws -> [ArchiveEntry] {
        let source = MemorySource(stream, chunkSize: chunkSize, buffer: buffer)
        let reader = StrictTarReader(reading: TarStream(source), holding: extra)
        var entries: [ArchiveEntry] = []
        while let entry = try reader.next() { entries.append(entry) }
        return entries
    }

    /// A stream of `body` and the end mark.
    func stream(_ body: [UInt8]) -> [UInt8] {
        body + [UInt8](repeating: 0, count: 1024)
    }
}
