internal import MigrationArchive
internal import MigrationSystem

/// The stored content of a file in a backup, read from beginning to end.
///
/// The padding determines the length of an encrypted file: the size in the manifest is often
/// outdated.
final class StoredFile {
    private static let blockSize = UInt64(BackupCipher.blockSize)
    private static let bufferSize = 256 << 10

    private let file: OpenFile
    private let status: FileStatus
    private let decryptor: BlockDecryptor?
    private let digest: [UInt8]?
    private let hash: BackupCipher.RunningHash?
    /// The number of stored bytes that were read, and the number of content bytes from them.
    private var stored: UInt64 = 0
    private var produced: UInt64 = 0
    /// The last stored block, which is needed to decrypt the next one.
    private var vector = [UInt8](repeating: 0, count: BackupCipher.blockSize)
    private var buffer: [UInt8] = []
    /// The bytes of content that are ready in the buffer.
    private var ready = 0..<0

    /// The bytes of content.
    private(set) var size: UInt64

    /// Opens the content of `record`.
    ///
    /// - Parameters:
    ///   - record: The file's record.
    ///   - descriptor: The stored file, opened without waiting.
    ///   - key: The file's key; `nil` if it isn't encrypted.
    /// - Throws: ``FlawedRecord`` if the stored file can't be the one that the device wrote.
    init(
        of record: FileRecord,
        from descriptor: consuming FileDescriptor,
        key: Secret?
    ) throws(FlawedRecord) {
        file = OpenFile(descriptor)
        do {
            status = try file.descriptor.status()
        } catch {
            throw FlawedRecord("it can't be read: \(error)")
        }
        guard status.kind == .regular else {
            throw FlawedRecord("what is stored for it isn't a file")
        }
        decryptor = key.map { BlockDecryptor($0) }
        digest = record.digest
        hash = digest == nil ? nil : BackupCipher.RunningHash()
        size = status.size
        // An empty file may be stored without bytes, or as a block of padding.
        guard decryptor != nil, size > 0 else { return }
        guard size % Self.blockSize == 0 else {
            throw FlawedRecord("its stored bytes are cut short: \(size) aren't whole blocks")
        }
        size -= try padding()
    }

    /// The bytes of padding after the content.
    private func padding() throws(FlawedRecord) -> UInt64 {
        guard let count = BackupCipher.padding(of: try block(at: size - Self.blockSize)) else {
            throw FlawedRecord("its stored bytes don't end as its key makes them end")
        }
        return UInt64(count)
    }

    private func block(at offset: UInt64) throws(FlawedRecord) -> ArraySlice<UInt8> {
        buffer = [UInt8](repeating: 0, count: 2 * BackupCipher.blockSize)
        let start = offset == 0 ? BackupCipher.blockSize : 0
        try fill(from: start, upTo: buffer.count, at: offset == 0 ? 0 : offset - Self.blockSize)
        decryptor?.decrypt(&buffer, count: BackupCipher.blockSize)
        defer { buffer = [] }
        return buffer.suffix(BackupCipher.blockSize)
    }

    private func fill(from start: Int, upTo end: Int, at offset: UInt64) throws(FlawedRecord) {
        var filled = start
        while filled < end {
            let count: Int
            do {
                count = try file.descriptor.read(
                    at: offset + UInt64(filled - start),
                    into: &buffer,
                    from: filled,
                    count: end - filled
                )
            } catch {
                throw FlawedRecord("it can't be read: \(error)")
            }
            guard count > 0 else { throw FlawedRecord("it became shorter while it was read") }
            filled += count
        }
    }

    /// The next bytes of the content, at most `limit`; none at the end.
    func next(_ limit: Int) throws(FlawedRecord) -> ArraySlice<UInt8> {
        if ready.isEmpty { try refill() }
        let taken = ready.prefix(limit)
        ready.removeFirst(taken.count)
        return buffer[taken]
    }

    private func refill() throws(FlawedRecord) {
        let lead = BackupCipher.blockSize
        if buffer.isEmpty { buffer = [UInt8](repeating: 0, count: lead + Self.bufferSize) }
        let count = Int(min(UInt64(Self.bufferSize), status.size - stored))
        buffer.replaceSubrange(0..<lead, with: vector)
        try fill(from: lead, upTo: lead + count, at: stored)
        stored += UInt64(count)
        hash?.add(buffer[lead..<lead + count])
        if let decryptor {
            vector = [UInt8](buffer[count..<count + lead])
            decryptor.decrypt(&buffer, count: count)
        }
        let content = Int(min(UInt64(count), size - produced))
        produced += UInt64(content)
        ready = lead..<lead + content
    }

    /// Makes the checks that are possible at the end of the content.
    func finish() throws(FlawedRecord) {
        if let digest, let hash {
            while stored < status.size { try refill() }
            guard hash.finish() == digest else {
                throw FlawedRecord("its stored bytes have another hash than its row says")
            }
        }
        let now: FileStatus
        do {
            now = try file.descriptor.status()
        } catch {
            throw FlawedRecord("it can't be read: \(error)")
        }
        guard now.isUnchanged(since: status) else {
            throw FlawedRecord("it changed while it was read")
        }
    }
}
