internal import MigrationSystem

/// Encrypts what an archive consists of on several threads and writes it in order.
///
/// Chunks go from thread to thread in batches, so that handing over costs little. The last byte of
/// the archive decides which chunk is the last: a full batch waits until there is more. What comes in
/// large pieces is not copied: the threads read it where it lies, and its owner waits for them.
///
/// Safe because `current` is the caller's alone, and `write` and `armor` are used only by the thread
/// that set `isWriting`, and by the caller after the workers have ended.
final class SealingPipeline: @unchecked Sendable {
    private struct State {
        var waiting: [(number: Int, batch: ChunkBatch)] = []
        var finished: [Int: ChunkBatch] = [:]
        var free: [ChunkBatch] = []
        /// The batches under work that lie in the caller's memory.
        var borrowed = 0
        var submitted = 0
        var written = 0
        var isWriting = false
        var isClosed = false
        var failure: (any Error)?
    }

    private let fileKey: Secret
    private let nonce: [UInt8]
    private let depth: Int
    private let cancellation: CancellationFlag
    private let write: (Span<UInt8>) throws -> Void
    private let monitor = Monitor(State())
    private var armor: ArmorEncoder?
    private var current = ChunkBatch()
    private var workers: WorkerThreads?

    /// Writes the head of an encrypted archive and starts `threadCount` threads.
    init(
        _ encryption: ArchiveEncryption,
        threadCount: Int,
        cancellation: CancellationFlag,
        write: @escaping (Span<UInt8>) throws -> Void
    ) throws {
        let head: [UInt8]
        (head, fileKey, nonce) = try encryption.begin()
        armor = encryption.isArmored ? ArmorEncoder() : nil
        depth = threadCount + 1
        self.cancellation = cancellation
        self.write = write
        if let armor { try write(armor.head.span) }
        try unsafe head.withUnsafeBytes { try unsafe writeOut($0) }
        workers = try WorkerThreads(count: threadCount, named: "migration-encrypt") { self.work() }
    }

    /// Encrypts `bytes` behind all that came before.
    func append(_ bytes: Span<UInt8>) throws {
        try unsafe bytes.withUnsafeBytes { try unsafe append([$0]) }
    }

    /// Encrypts `pieces`, one behind the other, behind all that came before.
    func append(_ pieces: [UnsafeRawBufferPointer]) throws {
        var rest = unsafe PieceReader(pieces)
        defer { endBorrowing() }
        while rest.count > 0 {
            if current.isFull { try submit() }
            if current.isEmpty, rest.count > ChunkBatch.capacity {
                // More comes, so that it is not the last.
                unsafe current.borrow(rest.take(ChunkBatch.capacity))
            } else {
                let count = min(current.room, rest.count)
                unsafe rest.take(count).forEach { unsafe current.put($0) }
            }
        }
    }

    /// Waits until no thread reads the memory of the caller.
    private func endBorrowing() {
        monitor.wait { state -> Void? in
            if state.failure != nil || cancellation.isCancelled {
                state.waiting.removeAll { $0.batch.isBorrowed }
            }
            let waits = state.waiting.contains { $0.batch.isBorrowed }
            return waits || state.borrowed > 0 ? nil : ()
        }
    }

    /// Ends the archive; returns when all is written.
    func finish() throws {
        current.isLast = true
        try submit()
        end()
        if let failure = monitor.withLock({ $0.failure }) { throw failure }
        try cancellation.check()
        if let last = armor?.finish() { try write(last.span) }
    }

    /// Ends the threads without finishing the archive.
    func abandon() {
        monitor.withLock { $0.failure = $0.failure ?? CancellationError() }
        end()
    }

    private func end() {
        monitor.withLock { $0.isClosed = true }
        workers?.join()
        workers = nil
    }

    /// Hands the current batch over; waits while too many are under way.
    private func submit() throws {
        let batch = current
        current = try monitor.wait { state -> ChunkBatch? in
            if let failure = state.failure { throw failure }
            try cancellation.check()
            guard state.submitted - state.written < depth else { return nil }
            state.waiting.append((state.submitted, batch))
            state.submitted += 1
            return state.free.popLast() ?? ChunkBatch()
        }
        current.clear()
    }
}

// MARK: - The workers' side

extension SealingPipeline {
    private func work() {
        let stream = PayloadStream(fileKey: fileKey, nonce: nonce)
        do {
            while let (number, batch) = takeWaiting() {
                let isBorrowed = batch.isBorrowed
                batch.seal(with: stream, from: UInt64(number) * UInt64(ChunkBatch.chunks))
                monitor.withLock { state in
                    state.finished[number] = batch
                    if isBorrowed { state.borrowed -= 1 }
                }
                try writeFinished()
            }
        } catch {
            monitor.withLock { $0.failure = $0.failure ?? error }
        }
    }

    private func takeWaiting() -> (number: Int, batch: ChunkBatch)? {
        monitor.wait { state in
            if state.failure != nil || cancellation.isCancelled { return .some(nil) }
            if !state.waiting.isEmpty {
                let first = state.waiting.removeFirst()
                if first.batch.isBorrowed { state.borrowed += 1 }
                return first
            }
            return state.isClosed ? .some(nil) : nil
        }
    }

    /// Writes the batches whose turn it is, unless another thread is at it.
    private func writeFinished() throws {
        while let batch = claimNext() {
            try unsafe batch.withSealed { try unsafe writeOut($0) }
            monitor.withLock { state in
                state.isWriting = false
                state.written += 1
                state.free.append(batch)
            }
        }
    }

    private func claimNext() -> ChunkBatch? {
        monitor.withLock { state in
            guard !state.isWriting, state.failure == nil,
                let batch = state.finished.removeValue(forKey: state.written)
            else { return nil }
            state.isWriting = true
            return batch
        }
    }

    private func writeOut(_ bytes: UnsafeRawBufferPointer) throws {
        if let lines = unsafe armor?.encode(bytes) { return try write(lines.span) }
        try write(unsafe bytes.bindMemory(to: UInt8.self).span)
    }
}

/// Some chunks on their way through the pipeline, each with room for its tag behind it.
///
/// Safe because one thread at a time holds it.
private final class ChunkBatch: @unchecked Sendable {
    static let chunks = 4
    static let capacity = chunks * PayloadStream.chunkSize

    private var bytes = [UInt8](repeating: 0, count: chunks * PayloadStream.sealedSize)
    private var filled = 0
    var isLast = false

    /// What is sealed from where it lies; of every other batch the content is in `bytes`.
    private var pieces: PieceReader?

    var isEmpty: Bool { filled == 0 }
    var isFull: Bool { filled == Self.capacity }
    var isBorrowed: Bool { pieces != nil }

    /// How much goes into the chunk that is being filled.
    var room: Int { PayloadStream.chunkSize - filled % PayloadStream.chunkSize }

    func clear() {
        (filled, isLast) = (0, false)
        pieces = nil
    }

    /// Takes `input`, for which there is room, into the chunk that is being filled.
    func put(_ input: UnsafeRawBufferPointer) {
        let (chunk, within) = filled.quotientAndRemainder(dividingBy: PayloadStream.chunkSize)
        let start = chunk * PayloadStream.sealedSize + within
        unsafe bytes.withUnsafeMutableBytes { bytes in
            unsafe UnsafeMutableRawBufferPointer(rebasing: bytes[start...]).copyMemory(from: input)
        }
        filled += input.count
    }

    /// Becomes a full batch of what lies in `pieces`, which stay as they are until it is sealed.
    func borrow(_ pieces: [UnsafeRawBufferPointer]) {
        unsafe self.pieces = PieceReader(pieces)
        filled = Self.capacity
    }

    /// Seals all chunks, the first of which has `number`; of an empty last batch an empty one.
    func seal(with stream: borrowing PayloadStream, from number: UInt64) {
        let count = self.count
        var pieces = self.pieces
        unsafe bytes.withUnsafeMutableBytes { bytes in
            for chunk in 0..<count {
                let rest = filled - chunk * PayloadStream.chunkSize
                let size = min(rest, PayloadStream.chunkSize)
                let start = chunk * PayloadStream.sealedSize
                let end = start + size + ChunkCipher.tagSize
                let target = unsafe UnsafeMutableRawBufferPointer(rebasing: bytes[start..<end])
                let content = unsafe UnsafeRawBufferPointer(rebasing: target[..<size])
                unsafe stream.seal(
                    pieces?.take(size) ?? [content],
                    into: target,
                    number: number + UInt64(chunk),
                    isLast: isLast && chunk == count - 1
                )
            }
        }
    }

    func withSealed(_ body: (UnsafeRawBufferPointer) throws -> Void) rethrows {
        let size = filled + count * ChunkCipher.tagSize
        try unsafe bytes.withUnsafeBytes { bytes in
            try unsafe body(UnsafeRawBufferPointer(rebasing: bytes[..<size]))
        }
    }

    private var count: Int {
        max(1, (filled + PayloadStream.chunkSize - 1) / PayloadStream.chunkSize)
    }
}

/// Pieces of memory, one behind the other, of which parts are taken in order.
///
/// Safe because only who takes a part reads it.
@safe
private struct PieceReader {
    private let pieces: [UnsafeRawBufferPointer]
    private var index = 0
    private var offset = 0

    /// How many bytes are left.
    private(set) var count: Int

    init(_ pieces: [UnsafeRawBufferPointer]) {
        unsafe self.pieces = pieces
        count = unsafe pieces.reduce(0) { $0 + $1.count }
    }

    /// Takes the next `size` bytes, of which there are so many, in the pieces in which they lie.
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
