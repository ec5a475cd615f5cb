internal import MigrationSystem

/// Compresses and hashes chunks on several threads and writes the frames in the chunks' order.
///
/// The caller fills a chunk and submits it; a worker takes it, makes a frame of it and hashes that;
/// whichever worker holds the next frame writes it. The frames depend on the chunks alone.
///
/// Safe because `output`, `index` and the counts of bytes are used only by the thread that set `isWriting`, and by the
/// caller after the workers have ended.
final class FrameCompressionPipeline: @unchecked Sendable {
    private struct State {
        var waiting: [(number: Int, chunk: FrameBuffer)] = []
        var finished: [Int: Frame] = [:]
        var free: [FrameBuffer] = []
        var submitted = 0
        var written = 0
        var isWriting = false
        var isClosed = false
        var failure: (any Error)?
    }

    private struct Frame {
        enum Form {
            case compressed(FrameBuffer)
            case stored(StoredFrame)
        }

        let form: Form
        let listing: ArchiveIndex.Frame
        let digest: [UInt8]
        /// What holds the frame's bytes until it is written.
        let buffer: FrameBuffer
    }

    private let output: ArchiveOutput
    private let level: Int
    private let isCompressible: Bool
    private let depth: Int
    private let cancellation: CancellationFlag
    private let monitor = Monitor(State())
    private var workers: WorkerThreads?
    private var index = ArchiveIndex()

    /// The bytes of the stream, and what compression made of them: a chunk that it makes no smaller
    /// counts as it is.
    private(set) var streamBytes: UInt64 = 0
    private(set) var compressedStreamBytes: UInt64 = 0

    init(
        writingTo output: ArchiveOutput,
        level: Int,
        isCompressible: Bool,
        threadCount: Int,
        cancellation: CancellationFlag
    ) throws {
        self.output = output
        self.level = level
        self.isCompressible = isCompressible
        self.cancellation = cancellation
        depth = threadCount
        workers = try ArchiveError.startingThreads { () throws(SystemError) in
            try WorkerThreads(count: threadCount, named: "migration-compress") { self.work() }
        }
    }

    /// Returns an empty chunk to fill.
    func takeChunk() -> FrameBuffer {
        let chunk = monitor.withLock { $0.free.popLast() } ?? FrameBuffer()
        chunk.count = 0
        return chunk
    }

    /// Hands over a full chunk, or the last one; waits while too many are under way.
    func submit(_ chunk: FrameBuffer) throws {
        try monitor.wait { state -> Void? in
            if let failure = state.failure { throw failure }
            try cancellation.check()
            guard state.submitted < ArchiveIndex.frameLimit else {
                throw ArchiveError(.unrepresentable, "an archive holds at most 1 TiB")
            }
            guard state.submitted - state.written < depth else { return nil }
            state.waiting.append((state.submitted, chunk))
            state.submitted += 1
            return ()
        }
    }

    /// Waits until everything is written; returns the index of the frames.
    func finish() throws -> ArchiveIndex {
        monitor.withLock { $0.isClosed = true }
        workers?.join()
        workers = nil
        if let failure = monitor.withLock({ $0.failure }) { throw failure }
        try cancellation.check()
        return index
    }

    /// Ends the workers without finishing the archive.
    func abandon() {
        monitor.withLock { state in
            state.failure = state.failure ?? CancellationError()
            state.isClosed = true
        }
        workers?.join()
        workers = nil
    }
}

// MARK: - The workers' side

extension FrameCompressionPipeline {
    private func work() {
        do {
            var compressor = try FrameCompressor.make(level: level)
            while let (number, chunk) = takeWaiting() {
                let frame = try makeFrame(of: chunk, with: &compressor)
                monitor.withLock { state in
                    state.finished[number] = frame
                    if frame.buffer !== chunk { state.free.append(chunk) }
                }
                try writeFinished()
            }
        } catch {
            monitor.withLock { $0.failure = $0.failure ?? error }
        }
    }

    private func takeWaiting() -> (number: Int, chunk: FrameBuffer)? {
        monitor.wait { state in
            if state.failure != nil || cancellation.isCancelled { return .some(nil) }
            if !state.waiting.isEmpty { return state.waiting.removeFirst() }
            return state.isClosed ? .some(nil) : nil
        }
    }

    private func makeFrame(
        of chunk: FrameBuffer,
        with compressor: inout FrameCompressor
    ) throws -> Frame {
        if !isCompressible || compressor.isIncompressible(chunk) {
            let frame = StoredFrame(of: chunk)
            return Frame(
                form: .stored(frame),
                listing: .init(compressedSize: UInt32(frame.size), size: UInt32(chunk.count)),
                digest: unsafe frame.withPieces { unsafe SHA256Digest.hash(ofPieces: $0) },
                buffer: chunk
            )
        }
        let output = takeChunk()
        try compressor.compress(chunk, into: output)
        return Frame(
            form: .compressed(output),
            listing: .init(compressedSize: UInt32(output.count), size: UInt32(chunk.count)),
            digest: SHA256Digest.hash(of: output),
            buffer: output
        )
    }

    /// Writes the frames whose turn it is, unless another thread is at it.
    private func writeFinished() throws {
        while let frame = claimNextFrame() {
            switch frame.form {
            case .compressed(let buffer): try buffer.withContent { try output.write($0) }
            case .stored(let frame): try output.write(frame)
            }
            index.append(frame.listing, digest: frame.digest)
            count(frame.listing)
            monitor.withLock { state in
                state.isWriting = false
                state.written += 1
                state.free.append(frame.buffer)
            }
        }
    }

    private func count(_ frame: ArchiveIndex.Frame) {
        streamBytes += UInt64(frame.size)
        compressedStreamBytes += UInt64(min(frame.size, frame.compressedSize))
    }

    private func claimNextFrame() -> Frame? {
        monitor.withLock { state in
            guard !state.isWriting, state.failure == nil,
                let frame = state.finished.removeValue(forKey: state.written)
            else { return nil }
            state.isWriting = true
            return frame
        }
    }
}
