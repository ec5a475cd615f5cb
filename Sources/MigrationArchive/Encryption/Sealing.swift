internal import MigrationSystem

/// Encrypts the bytes of an archive on the threads of an operation and writes them in order.
///
/// Threads work on batches of chunks, so that handing over costs little. Only the archive's last
/// byte shows which chunk is the last, so a full batch waits until more bytes come. Large pieces
/// are not copied: the threads read them in place, and their owner waits until they are done.
final class Sealing {
    private let armor: ArmorWriter?
    private let step: OrderedStep<ChunkBatch, ChunkBatch>
    private let free: Monitor<[ChunkBatch]>
    private var current = ChunkBatch()
    private var submitted = 0

    /// Writes the head of an encrypted archive.
    init(
        _ encryption: ArchiveEncryption,
        on operation: MigrationOperation,
        write: @escaping (Span<UInt8>) throws -> Void
    ) throws {
        let (head, key) = try encryption.begin(on: operation)
        let armor = encryption.isArmored ? try ArmorWriter(write) : nil
        let output = armor?.append ?? write
        try output(head.span)
        self.armor = armor
        let free = Monitor<[ChunkBatch]>([])
        self.free = free
        step = OrderedStep(
            of: operation,
            depth: operation.threadCount + 1,
            sink: { batch in
                try batch.pass(to: output)
                free.withLock { $0.append(batch) }
            }
        ) {
            let cipher = ChunkCipher(key)
            return { batch in
                batch.seal(with: cipher)
                return batch
            }
        }
    }

    /// Encrypts `bytes` after everything appended so far.
    func append(_ bytes: Span<UInt8>) throws {
        try unsafe bytes.withUnsafeBytes { try unsafe append([$0]) }
    }

    /// Encrypts `pieces`, in order, after everything appended so far.
    func append(_ pieces: [UnsafeRawBufferPointer]) throws {
        var rest = unsafe GatheredBytes(pieces)
        var hasLent = false
        do {
            while rest.count > 0 {
                if current.isFull { try submit() }
                if current.isEmpty, rest.count > ChunkBatch.capacity {
                    // More content follows, so this batch isn't the last.
                    unsafe current.borrow(rest.take(ChunkBatch.capacity))
                    hasLent = true
                } else {
                    let count = min(current.room, rest.count)
                    unsafe rest.take(count).forEach { unsafe current.put($0) }
                }
            }
        } catch {
            // From here on, no thread may read the caller's memory.
            try step.settle()
            throw error
        }
        if hasLent { try step.settle() }
    }

    /// Ends the archive; returns when everything is written.
    func finish() throws {
        current.isLast = true
        try submit()
        try step.settle()
        try armor?.finish()
    }

    /// Ends the work without finishing the archive.
    func abandon() { step.abandon() }

    /// Submits the current batch; waits while too many are under way.
    private func submit() throws {
        current.number = UInt64(submitted)
        try step.submit(current)
        submitted += 1
        current = free.withLock { $0.popLast() } ?? ChunkBatch()
        current.clear()
    }
}

/// Some chunks on their way through the step, each followed by room for its tag.
///
/// Safe because one thread at a time holds it.
private final class ChunkBatch: @unchecked Sendable {
    static let chunks = 8
    static let capacity = chunks * ChunkCipher.chunkSize

    private var bytes = [UInt8](repeating: 0, count: chunks * ChunkCipher.sealedSize)
    private var filled = 0
    /// Its position among the batches.
    var number: UInt64 = 0
    var isLast = false

    /// The caller's memory to seal; if `nil`, the content is in `bytes`.
    private var pieces: GatheredBytes?

    var isEmpty: Bool { filled == 0 }
    var isFull: Bool { filled == Self.capacity }

    /// How much still fits into the chunk that is being filled.
    var room: Int { ChunkCipher.chunkSize - filled % ChunkCipher.chunkSize }

    func clear() {
        (filled, isLast) = (0, false)
        pieces = nil
    }

    /// Appends `input`, for which there is room, to the chunk that is being filled.
    func put(_ input: UnsafeRawBufferPointer) {
        let (chunk, within) = filled.quotientAndRemainder(dividingBy: ChunkCipher.chunkSize)
        let start = chunk * ChunkCipher.sealedSize + within
        unsafe bytes.withUnsafeMutableBytes { bytes in
            unsafe UnsafeMutableRawBufferPointer(rebasing: bytes[start...]).copyMemory(from: input)
        }
        filled += input.count
    }

    /// Fills the batch with `pieces`, which must not change until they are sealed.
    func borrow(_ pieces: [UnsafeRawBufferPointer]) {
        unsafe self.pieces = GatheredBytes(pieces)
        filled = Self.capacity
    }

    /// Seals all chunks; an empty last batch has one empty chunk.
    func seal(with cipher: borrowing ChunkCipher) {
        let count = self.count
        let number = self.number * UInt64(Self.chunks)
        var pieces = self.pieces
        unsafe bytes.withUnsafeMutableBytes { bytes in
            for chunk in 0..<count {
                let rest = filled - chunk * ChunkCipher.chunkSize
                let size = min(rest, ChunkCipher.chunkSize)
                let start = chunk * ChunkCipher.sealedSize
                let end = start + size + ChunkCipher.tagSize
                let target = unsafe UnsafeMutableRawBufferPointer(rebasing: bytes[start..<end])
                let content = unsafe UnsafeRawBufferPointer(rebasing: target[..<size])
                unsafe cipher.seal(
                    pieces?.take(size) ?? [content],
                    into: target,
                    number: number + UInt64(chunk),
                    isLast: isLast && chunk == count - 1
                )
            }
        }
    }

    /// Passes the sealed chunks to `write`.
    func pass(to write: (Span<UInt8>) throws -> Void) throws {
        let bytes = bytes
        try write(bytes.span.extracting(..<(filled + count * ChunkCipher.tagSize)))
    }

    private var count: Int {
        max(1, (filled + ChunkCipher.chunkSize - 1) / ChunkCipher.chunkSize)
    }
}

/// Pieces of memory that are read as one, from front to back.
///
/// Safe because only the caller that takes a part reads it.
@safe
private struct GatheredBytes {
    private let pieces: [UnsafeRawBufferPointer]
    private var index = 0
    private var offset = 0

    /// How many bytes are left.
    private(set) var count: Int

    init(_ pieces: [UnsafeRawBufferPointer]) {
        unsafe self.pieces = pieces
        count = unsafe pieces.reduce(0) { $0 + $1.count }
    }

    /// Takes the next `size` bytes, which must exist, as parts of the pieces.
    mutating func take(_ size: Int) -> [UnsafeRawBufferPointer] {
        var taken: [UnsafeRawBufferPointer] = unsafe []
        var missing = size
        while missing > 0 {
            let piece = unsafe pieces[index]
            let part = min(missing, piece.count - offset)
            unsafe taken.append(UnsafeRawBufferPointer(rebasing: piece[offset..<offset + part]))
            offset += part
            if offset == piece.count { (index, offset) = (index + 1, 0) }
            missing -= part
        }
        count -= size
        return unsafe taken
    }
}
