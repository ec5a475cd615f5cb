internal import MigrationSystem

/// Writes a file's content where it belongs and leaves out runs of zeros, which become holes.
struct FileContentWriter: ~Copyable {
    private let descriptor: FileDescriptor
    private let lackingPermissions: UInt16?
    private var end: UInt64 = 0

    /// Writes to a new file, which gets `permissions` at the end unless it was made with the right ones.
    init(writingTo descriptor: consuming FileDescriptor, lacking permissions: UInt16?) {
        self.descriptor = descriptor
        lackingPermissions = permissions
    }

    /// Writes `piece` at `offset`; pages of zeros are passed over, and parts of pages at its ends.
    mutating func write(_ piece: Span<UInt8>, at offset: UInt64) throws(SystemError) {
        let page = ZeroPageCounter.pageSize
        var start = 0
        var index = 0
        while index < piece.count {
            let toNextPage = page - Int((offset + UInt64(index)) % UInt64(page))
            let next = min(piece.count, index + toNextPage)
            if ZeroPageCounter.isZero(piece.extracting(index..<next)) {
                try put(piece.extracting(start..<index), at: offset + UInt64(start))
                start = next
            }
            index = next
        }
        try put(piece.extracting(start..<piece.count), at: offset + UInt64(start))
    }

    private mutating func put(_ bytes: Span<UInt8>, at offset: UInt64) throws(SystemError) {
        if bytes.isEmpty { return }
        try descriptor.writeAll(bytes, at: offset)
        end = offset + UInt64(bytes.count)
    }

    /// Gives the file its size, metadata and attributes, and closes it.
    consuming func finish(_ entry: ArchiveEntry) throws(SystemError) {
        if end < entry.contentSize { try descriptor.setSize(entry.contentSize) }
        try descriptor.setExtendedAttributes(entry.extendedAttributes)
        if let lackingPermissions { try descriptor.setPermissions(lackingPermissions) }
        try descriptor.setModificationTime(entry.modificationTime)
        try descriptor.close()
    }
}
