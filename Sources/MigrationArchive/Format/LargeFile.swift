internal import MigrationSystem

/// One record of the table of large files: the content of the file's headers, and their offset.
///
/// The table lets a reader list files of over 64 KiB without the pieces that hold them. It is
/// written in separate frames, each after the piece in which its last file begins.
///
///     table frame = magic size record...
///     record      = start:8 size:8 seconds:8 mark:4 permissions:2 path:2 attributes:2 path attributes
///
/// All numbers are little-endian. `start` counts bytes of the tar stream from the first piece to
/// the first header, `path` and `attributes` are numbers of bytes, and the attributes are pax
/// records. If the archive holds owners, the records `uid` and `gid` come before those of the
/// attributes.
struct LargeFile: Equatable, Sendable {
    /// Where the first header begins, counted from the first piece.
    let start: UInt64
    let entry: ArchiveEntry
    /// The file's place in its window.
    let place: WindowPlace

    /// Only larger files are in the table.
    static let contentLimit: UInt64 = 64 * 1024

    /// A file with a longer record is not in the table.
    static let recordLimit = 4096

    /// The bytes of a record before its path.
    private static let headSize = 34

    /// The size of the waiting records at which they are written.
    static let waitingLimit = 64 * 1024

    /// The bytes of a frame before its first record.
    static let frameHeadSize = 8

    /// The largest size of a frame: at most 64 files of over 64 KiB begin in a piece.
    static let frameSizeLimit = frameHeadSize + waitingLimit + 64 * recordLimit

    /// The record of `entry`, which begins at `start`; `nil` if the table does not hold it.
    static func record(
        of entry: ArchiveEntry,
        at start: UInt64,
        _ place: WindowPlace
    ) -> [UInt8]? {
        guard entry.contentSize > contentLimit else { return nil }
        var attributes: [UInt8] = []
        if let owner = entry.owner { TarEntryEncoder.append(owner, to: &attributes) }
        TarEntryEncoder.append(entry.extendedAttributes, to: &attributes)
        let path = entry.path.bytes
        guard headSize + path.count + attributes.count <= recordLimit else { return nil }
        var record: [UInt8] = []
        record.appendLittleEndian(start)
        record.appendLittleEndian(entry.contentSize)
        record.appendLittleEndian(UInt64(bitPattern: entry.modificationTime.seconds))
        record.appendLittleEndian(EntryMark(of: entry, place).rawValue)
        record.appendLittleEndian(entry.permissions)
        record.appendLittleEndian(UInt16(path.count))
        record.appendLittleEndian(UInt16(attributes.count))
        return record + path + attributes
    }

    /// The frame that holds `records`.
    static func frame(holding records: [UInt8]) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(frameHeadSize + records.count)
        bytes.appendLittleEndian(FrameFormat.tableMagic)
        bytes.appendLittleEndian(UInt32(records.count))
        return bytes + records
    }
}

// MARK: - Reading

extension LargeFile {
    /// Parses the record at `position` of `bytes`, and moves the position past it; `nil` if it isn't
    /// valid.
    private init?(in bytes: [UInt8], at position: inout Int, holding extra: ExtraMetadata) {
        let first = position
        guard first + Self.headSize <= bytes.count,
            let mark = EntryMark(rawValue: bytes.littleEndian(at: first + 24))
        else { return nil }
        let pathSize = Int(bytes.littleEndian(at: first + 30, as: UInt16.self))
        let attributesSize = Int(bytes.littleEndian(at: first + 32, as: UInt16.self))
        let pathStart = first + Self.headSize
        let end = pathStart + pathSize + attributesSize
        guard end <= bytes.count, end - first <= Self.recordLimit,
            let metadata = RecordedMetadata([UInt8](bytes[pathStart + pathSize..<end]), extra)
        else { return nil }
        start = bytes.littleEndian(at: first)
        place = mark.place
        let stated = ArchiveEntry(
            path: EntryPath(bytes: [UInt8](bytes[pathStart..<pathStart + pathSize])),
            kind: .file(size: bytes.littleEndian(at: first + 8)),
            permissions: bytes.littleEndian(at: first + 28),
            modificationTime: FileTime(
                seconds: Int64(bitPattern: bytes.littleEndian(at: first + 16))
            ),
            extendedAttributes: metadata.attributes,
            owner: metadata.owner
        )
        guard let entry = mark.completing(stated), entry.violation == nil,
            entry.mismatch(with: extra) == nil,
            entry.permissions <= 0o7777, entry.contentSize <= ArchiveIndex.longestStream,
            let record = Self.record(of: entry, at: start, place),
            record[...] == bytes[first..<end]
        else { return nil }
        self.entry = entry
        position = end
    }

    /// Whether `bytes` are one frame of the table.
    static func isFrame(_ bytes: ArraySlice<UInt8>) -> Bool {
        let (start, size) = (bytes.startIndex, bytes.count - frameHeadSize)
        return size > 0 && size <= frameSizeLimit - frameHeadSize
            && bytes.littleEndian(at: start) == FrameFormat.tableMagic
            && bytes.littleEndian(at: start + 4) == UInt32(size)
    }

    /// Reads the files in `frame`, in the order of the stream.
    static func files(
        in frame: [UInt8],
        holding extra: ExtraMetadata
    ) throws(ArchiveError) -> [LargeFile] {
        guard isFrame(frame[...]) else { throw damage }
        var files: [LargeFile] = []
        var position = frameHeadSize
        while position < frame.count {
            guard let file = LargeFile(in: frame, at: &position, holding: extra),
                files.last.map({ $0.start < file.start }) ?? true
            else { throw damage }
            files.append(file)
        }
        return files
    }

    static let damage = ArchiveError(.damaged, "the table of large files is damaged")

    /// An error for a valid table that is not the one in the index of entries.
    static let otherTable = ArchiveError(
        .damaged,
        "the table of large files is not the one that was written"
    )
}
