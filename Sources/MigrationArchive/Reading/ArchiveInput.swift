package import MigrationSystem

/// The bytes of an archive, read in order with lookahead; from a file also at any offset.
///
/// An encrypted archive is decrypted. A cancellation interrupts waiting for a pipe.
package final class ArchiveInput: ByteReader {
    /// The path under which the archive was opened; `nil` if it has none.
    let name: BytePath?

    /// The size of the file, which may be encrypted; `nil` if it is not a regular file.
    package let fileSize: UInt64?

    /// Ends the wait for a pipe.
    private let closing: CancellationFlag

    /// Reads `descriptor` from its current position; a regular file is read from its start.
    ///
    /// - Throws: ``ArchiveError`` of code `keyMissing` if the archive is encrypted and `decryption`
    ///   is `nil`, and of the codes of wrong keys and of damage.
    package init(
        reading descriptor: consuming FileDescriptor,
        named name: BytePath? = nil,
        decryption: ArchiveDecryption? = nil,
        on operation: MigrationOperation
    ) throws {
        self.name = name
        closing = CancellationFlag(following: operation.cancellation)
        let file = try DescriptorSource(descriptor, endingWith: closing)
        fileSize = file.size
        super.init(continuing: try EncryptedFile.open(file, with: decryption, on: operation))
    }

    deinit { close() }

    /// Ends a thread's wait for a pipe that nobody needs any longer; after that, no more is read of it.
    func close() { closing.cancel() }
}

// MARK: - The end

/// The end of an archive file, which is read before the rest of it.
extension ArchiveInput {
    /// Skips the frame that the archive must begin with.
    func pass(_ frame: HeaderFrame) throws {
        var bytes = [UInt8](repeating: 0, count: frame.bytes.count)
        try readExactly(into: &bytes, from: 0, count: bytes.count)
        guard bytes == frame.bytes else {
            throw ArchiveError(.damaged, "the archive's header is not encoded as it should be")
        }
    }

    /// Reads the index; `nil` from a pipe, which can't be read from its end.
    func readIndex(after header: HeaderFrame) throws -> ArchiveIndex? {
        guard let size else { return nil }
        let footerSize = UInt64(FrameFormat.seekTableFooterSize)
        guard size > footerSize else { throw ArchiveError.cutShort }
        var footer = [UInt8](repeating: 0, count: FrameFormat.seekTableFooterSize)
        try readExactly(at: size - footerSize, into: &footer, count: footer.count)
        let listedCount = Int(footer.littleEndian(at: 0, as: UInt32.self))
        let frameCount = listedCount - ArchiveIndex.listedBesidePieces
        guard footer.littleEndian(at: 5) == FrameFormat.seekTableFooterMagic, frameCount >= 0
        else { throw ArchiveError.cutShort }
        let endSize = ArchiveIndex.endSize(frameCount: frameCount)
        guard UInt64(endSize) < size, frameCount <= ArchiveIndex.frameLimit else {
            throw ArchiveError(.damaged, "the seek table claims more frames than there can be")
        }
        var end = [UInt8](repeating: 0, count: endSize)
        try readExactly(at: size - UInt64(endSize), into: &end, count: endSize)
        let index = try ArchiveIndex(parsing: end, after: header)
        guard index.compressedBytes == size - UInt64(endSize) else {
            throw ArchiveError(.damaged, "the archive is shorter or longer than its frames")
        }
        return index
    }

    /// Reads the index of entries at the offset in `index`.
    func readEntryIndex(listedIn index: ArchiveIndex) throws -> EntryIndex {
        let size = Int(index.entryIndexSize)
        guard size <= EntryIndex.sizeLimit(frameCount: index.frames.count) else {
            throw EntryIndex.damage
        }
        var bytes = [UInt8](repeating: 0, count: size)
        try readExactly(at: index.compressedBytes - UInt64(size), into: &bytes, count: size)
        return try EntryIndex(parsing: bytes, listedIn: index)
    }
}

// MARK: - The file itself

/// A file, which can be read at any offset, or a pipe, which can only be read in order.
private final class DescriptorSource: ByteSource {
    private let descriptor: FileDescriptor
    private let closing: CancellationFlag
    private let event: CancellationEvent?
    let size: UInt64?

    init(
        _ descriptor: consuming FileDescriptor,
        endingWith closing: CancellationFlag
    ) throws {
        let status: FileStatus
        do {
            status = try descriptor.status()
        } catch {
            throw ArchiveError(.inputFailed, "the archive can't be read", cause: error)
        }
        if status.kind == .directory {
            throw Self.isDirectory(descriptor)
        }
        size = status.kind == .regular ? status.size : nil
        event = status.kind == .regular ? nil : try CancellationEvent(of: closing)
        self.descriptor = descriptor
        self.closing = closing
    }

    private static func isDirectory(_ directory: borrowing FileDescriptor) -> ArchiveError {
        // A directory that can't be read is treated like any other.
        let list = try? directory.statusIfPresent(of: [UInt8](utf8: "Manifest.plist"))
        guard list != nil else { return ArchiveError(.inputFailed, "the archive is a directory") }
        let message = "this is a backup of an iPhone"
        return ArchiveError(.notAnArchive, message, remedy: .convertIPhoneBackup)
    }

    func read(
        at offset: UInt64,
        into target: inout [UInt8],
        from index: Int,
        count: Int
    ) throws -> Int {
        do {
            guard size == nil else {
                return try descriptor.read(at: offset, into: &target, from: index, count: count)
            }
            try closing.check()
            return try descriptor.read(into: &target, from: index, count: count, unless: event)
        } catch let error as SystemError {
            throw ArchiveError(.inputFailed, "reading the archive failed", cause: error)
        }
    }
}

extension ArchiveInput {
    /// Reads the rest of an encrypted file, and throws if it is damaged.
    func proveDecryption() throws {
        guard source is SeekablePayload || source is SequentialPayload else { return }
        var buffer = [UInt8](repeating: 0, count: 256 * 1024)
        while try read(into: &buffer, from: 0, count: buffer.count) > 0 {
            try operation.check()
        }
    }
}
