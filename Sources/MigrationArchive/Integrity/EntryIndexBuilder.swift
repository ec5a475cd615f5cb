/// Makes the index of entries, which depends on the entries' paths and places alone.
struct EntryIndexBuilder: Sendable {
    private var records: [UInt8] = []
    private var recordCount = 0
    private var pathBytes = 0
    private var isInTreeOrder = true
    private var lastPath: EntryPath?

    /// Takes note of the entry at `path`, which begins at `offset` of the tar stream after all others.
    mutating func add(_ path: EntryPath, at offset: UInt64) {
        if let lastPath { isInTreeOrder = isInTreeOrder && lastPath.precedesInTree(path) }
        lastPath = path
        let (frame, place) = offset.quotientAndRemainder(dividingBy: UInt64(FrameFormat.chunkSize))
        guard frame >= recordCount else { return }
        fill(upTo: Int(frame))
        let isListed =
            path.bytes.count <= EntryIndex.pathLimit
            && pathBytes + path.bytes.count <= EntryIndex.pathBytesLimit
        guard isListed else { return fill(upTo: Int(frame) + 1) }
        records.appendLittleEndian(UInt16(place / UInt64(TarFormat.blockSize)))
        records.appendLittleEndian(UInt16(path.bytes.count))
        records += path.bytes
        pathBytes += path.bytes.count
        recordCount += 1
    }

    /// Adds empty records until there are `count`.
    private mutating func fill(upTo count: Int) {
        let missing = max(0, count - recordCount)
        records += repeatElement(0, count: missing * EntryIndex.recordHeadSize)
        recordCount += missing
    }

    /// The index of an archive with `frameCount` data frames, as it is written.
    func encoded(frameCount: Int) -> [UInt8] {
        let missing = missingSize(frameCount: frameCount)
        return head(frameCount: frameCount) + records + repeatElement(0, count: missing)
    }

    /// Whether the index is `bytes`; compared in parts, since a copy takes as much as the index.
    func isEncoded(as bytes: [UInt8], frameCount: Int) -> Bool {
        let end = EntryIndex.headSize + records.count
        guard bytes.count == end + missingSize(frameCount: frameCount) else { return false }
        return bytes.starts(with: head(frameCount: frameCount))
            && bytes[EntryIndex.headSize..<end] == records[...]
            && bytes[end...].allSatisfy { $0 == 0 }
    }

    /// The bytes of the records of frames behind the last one in which an entry begins.
    private func missingSize(frameCount: Int) -> Int {
        max(0, frameCount - recordCount) * EntryIndex.recordHeadSize
    }

    private func head(frameCount: Int) -> [UInt8] {
        let size = records.count + missingSize(frameCount: frameCount)
        var bytes: [UInt8] = []
        bytes.appendLittleEndian(FrameFormat.entryIndexMagic)
        bytes.appendLittleEndian(UInt32(EntryIndex.headSize - 8 + size))
        return bytes + [isInTreeOrder ? 1 : 0, 0, 0, 0]
    }
}
