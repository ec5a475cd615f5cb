@testable internal import MigrationArchive
@testable internal import MigrationSystem

/// Promises about the readers of tar streams, whatever the stream.
public enum TarPromises {
    private static let headerRead = "header written and read again"
    private static let streamRead = "stream that both readers read to its end"

    /// All kinds of extra metadata.
    private static let all: ExtraMetadata = [.owners, .accessLists, .attributes]

    /// The milestones that the seeds must reach.
    public static let milestones = [headerRead, streamRead]

    /// Checks one header: if the strict parser accepts it, encoding and parsing it gives the same.
    public static func checkHeader(_ bytes: [UInt8]) {
        var header = [UInt8](bytes.prefix(512))
        header += repeatElement(0, count: 512 - header.count)
        TarRepair.setChecksum(of: &header)
        let block = UstarBlock(copying: header[...])
        FuzzTarget.require(block.hasValidChecksum, "a checksum that was just set is right")
        let body = TarRepair.repairedRecords([UInt8](bytes.dropFirst(512)))
        guard let records = try? PaxRecords(parsing: body) else { return }
        checkRecords(records)
        checkTime([UInt8](bytes.prefix(32)))
        guard let entry = StrictEntryParser.parse(block, records: records, all),
            entry.violation == nil, entry.mismatch(with: all) == nil,
            // Fractions of a second are beside the stream.
            entry.modificationTime.nanoseconds == 0
        else { return }
        checkRoundTrip(of: entry)
    }

    private static func checkRecords(_ records: PaxRecords) {
        var encoded: [UInt8] = []
        records.encode(to: &encoded)
        let again = try? PaxRecords(parsing: encoded)
        FuzzTarget.require(again == records, "records are read as they were written")
    }

    private static func checkTime(_ text: [UInt8]) {
        guard let time = PaxTime.decode(text) else { return }
        let again = PaxTime.decode(PaxTime.encode(seconds: time.seconds))
        FuzzTarget.require(again?.seconds == time.seconds, "a time is read as it was written")
    }

    private static func checkRoundTrip(of entry: ArchiveEntry) {
        var headers: [UInt8] = []
        do {
            try TarEntryEncoder().encode(entry, to: &headers)
        } catch {
            return
        }
        let read = read(strict: ArchiveForge.stream(of: headers), holding: all).entries.first
        FuzzTarget.require(read == entry, "an entry is read as it was written: \(entry)")
        Milestones.reach(headerRead)
    }

    /// Checks a stream of entries: the lenient reader reads whatever the strict one accepts in the
    /// same way, and the results of both are within bounds.
    public static func checkStream(_ entries: [UInt8]) {
        let stream = ArchiveForge.stream(of: entries)
        let (strict, isComplete) = read(strict: stream)
        let foreign = ForeignTarReader(reading: TarStream(MemorySource(stream)))
        var lenient: [ArchiveEntry] = []
        do {
            while let entry = try foreign.next() {
                FuzzTarget.require(entry.path.violation == nil, "a path that must not be: \(entry)")
                lenient.append(entry)
                var end: UInt64 = 0
                try foreign.readContent { offset, piece in
                    FuzzTarget.require(offset >= end, "pieces come in order")
                    end = offset + UInt64(piece.count)
                }
                FuzzTarget.require(end <= entry.contentSize, "content ends within the entry's size")
                _ = foreign.takeOmissions()
            }
        } catch {
            // Entries before the error still count.
        }
        guard isComplete else { return }
        let isSame = lenient.elementsEqual(strict, by: isSame)
        FuzzTarget.require(isSame, "both readers read the same: \(strict) and \(lenient)")
        Milestones.reach(streamRead)
    }

    /// Compares, except for what the lenient reader drops on purpose.
    private static func isSame(_ left: ArchiveEntry, _ right: ArchiveEntry) -> Bool {
        left.path == right.path && left.kind == right.kind && left.permissions == right.permissions
            && left.modificationTime == right.modificationTime
    }

    private static func read(
        strict stream: [UInt8],
        holding extra: ExtraMetadata = []
    ) -> (entries: [ArchiveEntry], isComplete: Bool) {
        var entries: [ArchiveEntry] = []
        do {
            let reader = StrictTarReader(reading: TarStream(MemorySource(stream)), holding: extra)
            while let entry = try reader.next() { entries.append(entry) }
            return (entries, true)
        } catch {
            return (entries, false)
        }
    }
}
