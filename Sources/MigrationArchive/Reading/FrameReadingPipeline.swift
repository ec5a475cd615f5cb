internal import MigrationSystem

/// The stages between reading a frame and handing out its content.
///
/// One worker at a time reads a frame; each checks and decompresses what it read, and the caller
/// takes the contents in the frames' order.
///
/// Safe because `source` is used only by the thread that set `isReading`, and by the caller after
/// the last frame; `seen` and `compressedBytes` are the caller's alone.
final class FrameReadingPipeline: @unchecked Sendable {
    /// What is done with frames beside checking their hashes.
    enum Purpose {
        case decompress
        /// The content is not needed; chunks come out empty.
        case verify
    }

    private struct State {
        var isReading = false
        var isAtEnd = false
        var isStopped = false
        var nextToRead = 0
        var nextToTake = 0
        var recycled = 0
        var ready: [Int: Result<Frame, any Error>] = [:]
        var free: [FrameBuffer] = []
    }

    private struct Frame {
        let content: FrameBuffer
        let listing: ArchiveIndex.Frame
        let digest: [UInt8]
    }

    /// The chunks that may be in use on top of those read ahead.
    ///
    /// One is under the reader's cursor, and the files of another are being made.
    private static let chunksInUse = 2

    private let source: FrameSource
    private let purpose: Purpose
    private let depth: Int
    private let cancellation: CancellationFlag
    private let monitor = Monitor(State())
    private var seen = ArchiveIndex()
    private(set) var compressedBytes: UInt64 = 0

    init(source: FrameSource, purpose: Purpose, depth: Int, cancellation: CancellationFlag) {
        self.source = source
        self.purpose = purpose
        self.depth = depth
        self.cancellation = cancellation
    }

    var index: ArchiveIndex? { source.index }
    var entryIndex: EntryIndex? { source.entryIndex }

    /// Lets the workers end before the archive does.
    func stop() {
        monitor.withLock { $0.isStopped = true }
    }

    func recycle(_ buffer: FrameBuffer) {
        monitor.withLock { state in
            state.free.append(buffer)
            state.recycled += 1
        }
    }

    private func takeBuffer() -> FrameBuffer {
        monitor.withLock { $0.free.popLast() } ?? FrameBuffer()
    }
}

// MARK: - The consumer's side

extension FrameReadingPipeline {
    /// Waits for the content of the next frame; `nil` when all were taken.
    func takeNext() throws -> FrameBuffer? {
        let result = try monitor.wait { state -> Result<Frame, any Error>?? in
            try cancellation.check()
            if let result = state.ready.removeValue(forKey: state.nextToTake) {
                state.nextToTake += 1
                return .some(result)
            }
            return state.isAtEnd && state.nextToTake == state.nextToRead ? .some(nil) : nil
        }
        guard let frame = try result?.get() else {
            try checkIndex()
            return nil
        }
        if !source.isIndexed { seen.append(frame.listing, digest: frame.digest) }
        compressedBytes += UInt64(frame.listing.compressedSize)
        return frame.content
    }

    /// Throws unless the archive's end lists exactly the frames that were seen, which are compared one
    /// by one where the end is known from the start.
    private func checkIndex() throws {
        guard !source.isIndexed, let index = source.index else { return }
        guard index.frames == seen.frames, index.digests == seen.digests else {
            throw ArchiveError(.damaged, "a frame is not the one that was written")
        }
    }
}

// MARK: - The workers' side

extension FrameReadingPipeline {
    /// Reads and opens frames until none is left, as one of the workers.
    func work() {
        let compressed = FrameBuffer()
        guard var decompressor = try? FrameDecompressor.make() else {
            let error = ArchiveError(.inputFailed, "there is no memory for decompressing")
            return finish(at: nil, with: .failure(error))
        }
        while let number = claim() {
            do {
                guard let contentSize = try read(into: compressed) else { return }
                let result = Result {
                    try open(compressed, number: number, contentSize: contentSize, &decompressor)
                }
                monitor.withLock { $0.ready[number] = result }
            } catch {
                return finish(at: number, with: .failure(error))
            }
        }
    }

    /// Waits for the right to read the next frame; `nil` when there is none left.
    private func claim() -> Int? {
        monitor.wait { state in
            if state.isStopped || state.isAtEnd || cancellation.isCancelled { return .some(nil) }
            let isFarAhead = state.nextToRead - state.nextToTake >= depth
            let isOutOfChunks = state.nextToRead - state.recycled >= depth + Self.chunksInUse
            if state.isReading || isFarAhead || isOutOfChunks { return nil }
            state.isReading = true
            state.nextToRead += 1
            return state.nextToRead - 1
        }
    }

    /// Reads the frame that was claimed; returns its content size, or `nil` at the archive's end.
    private func read(into compressed: FrameBuffer) throws -> Int? {
        let contentSize = try source.nextFrame(into: compressed)
        monitor.withLock { state in
            state.isReading = false
            if contentSize == nil {
                state.isAtEnd = true
                state.nextToRead -= 1
            }
        }
        return contentSize
    }

    /// Puts `result` in the place of a frame and lets no further one be read.
    private func finish(at number: Int?, with result: Result<Frame, any Error>) {
        monitor.withLock { state in
            if number == nil { state.nextToRead += 1 }
            state.ready[number ?? (state.nextToRead - 1)] = result
            state.isReading = false
            state.isAtEnd = true
        }
    }

    /// Checks a frame against its hash and decompresses it.
    private func open(
        _ compressed: FrameBuffer,
        number: Int,
        contentSize: Int,
        _ decompressor: inout FrameDecompressor
    ) throws -> Frame {
        let digest = SHA256Digest.hash(of: compressed)
        if let expected = source.expectedDigest(of: number), expected != digest[...] {
            throw ArchiveError(.damaged, "frame \(number) is not the one that was written")
        }
        let content = takeBuffer()
        content.count = 0
        if purpose == .decompress {
            try decompressor.decompress(compressed, into: content, contentSize: contentSize)
        }
        let listing = ArchiveIndex.Frame(
            compressedSize: UInt32(compressed.count),
            size: UInt32(contentSize)
        )
        return Frame(content: content, listing: listing, digest: digest)
    }
}
