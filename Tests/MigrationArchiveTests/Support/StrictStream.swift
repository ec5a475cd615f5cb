import MigrationSystem

@testable import MigrationArchive

/// Reads tar streams as the strict reader does, after a header that is always the same.
struct StrictStream {
    private let header: [UInt8]
    private let buffer = FrameBuffer()

    init() throws {
        var bytes: [UInt8] = []
        let records = try GlobalHeader.records(of: .sample)
        try TarEntryEncoder().encodeExtended(
            records,
            typeFlag: TypeFlag.globalHeader,
            to: &bytes
        )
        header = bytes
    }

    /// The bytes of `entry`'s headers.
    static func encoded(_ entry: ArchiveEntry) throws -> [UInt8] {
        var bytes: [UInt8] = []
        try TarEntryEncoder().encode(entry, to: &bytes)
        return bytes
    }

    /// The entries in `body`, which follows the archive's header and has the end mark put behind it.
    func entries(in body: [UInt8], endMark: Int = 1024) throws -> [ArchiveEntry] {
        let stream = header + body + [UInt8](repeating: 0, count: endMark)
        return try entries(inStream: stream)
    }

    /// The entries in a whole tar stream.
    func entries(inStream stream: [UInt8], chunkSize: Int = 1 << 20) throws -> [ArchiveEntry] {
        let source = MemorySource(stream, chunkSize: chunkSize, buffer: buffer)
        let reader = try StrictTarReader(reading: TarStream(source), header: .sample)
        var entries: [ArchiveEntry] = []
        while let entry = try reader.next() { entries.append(entry) }
        return entries
    }

    /// A whole tar stream with `body` in it.
    func stream(_ body: [UInt8]) -> [UInt8] {
        header + body + [UInt8](repeating: 0, count: 1024)
    }
}
