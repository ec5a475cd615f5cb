internal import MigrationSystem

/// A chunk of a payload, sealed or opened in place.
///
/// Safe because one thread at a time has it.
private final class PayloadChunk: @unchecked Sendable {
    var bytes = [UInt8](repeating: 0, count: ChunkCipher.sealedSize)
    /// How many of the bytes were read.
    var count = 0
    var number: UInt64 = 0
    var isLast = false

    /// Where the content is, once the chunk was opened in place.
    var content: Range<Int> { 0..<max(0, count - ChunkCipher.tagSize) }

    /// Opens the chunk into `target`, which is as long as the content, or in place.
    func open(
        with cipher: borrowing ChunkCipher,
        into target: UnsafeMutableRawBufferPointer? = nil
    ) throws {
        let (count, content) = (count, content)
        try unsafe bytes.withUnsafeMutableBytes { bytes in
            let own = unsafe UnsafeMutableRawBufferPointer(rebasing: bytes[content])
            let sealed = unsafe UnsafeRawBufferPointer(rebasing: bytes[..<count])
            try unsafe cipher.open(sealed, into: target ?? own, number: number, isLast: isLast)
        }
    }
}

// MARK: - In order

/// The content of an encrypted file that is read in order.
final class SequentialPayload: ByteSource {
    private let step: OrderedStep<PayloadChunk, PayloadChunk>
    private let used = Monitor<[PayloadChunk]>([])
    private var current: PayloadChunk?
    /// Where the content of the current chunk is that was not read yet.
    private var rest = 0..<0

    init(reading source: ByteReader, _ key: Secret) {
        let operation = source.operation
        step = OrderedStep(
            of: operation,
            depth: operation.threadCount + 1,
            source: Self.chunks(of: source, reusing: used)
        ) {
            let cipher = ChunkCipher(key)
            return { chunk in
                try unsafe chunk.open(with: cipher)
                return chunk
            }
        }
    }

    /// Returns the chunks of `source`, one after another; the last one is the one that nothing follows.
    private static func chunks(
        of source: ByteReader,
        reusing used: Monitor<[PayloadChunk]>
    ) -> () throws -> PayloadChunk? {
        var (number, isAtEnd) = (UInt64(0), false)
        return {
            if isAtEnd { return nil }
            let chunk = used.withLock { $0.popLast() } ?? PayloadChunk()
            chunk.count = try source.fill(&chunk.bytes, count: ChunkCipher.sealedSize)
            isAtEnd = try source.lookAhead(1, readingAtMost: 4096) == 0
            (chunk.number, chunk.isLast) = (number, isAtEnd)
            number += 1
            return chunk
        }
    }

    func read(
        at _: UInt64,
        into target: inout [UInt8],
        from index: Int,
        count: Int
    ) throws -> Int {
        while rest.isEmpty {
            if let read = current.take() {
                used.withLock { $0.append(read) }
                step.release()
            }
            guard let next = try step.next() else { return 0 }
            (current, rest) = (next, next.content)
        }
        guard let current else { return 0 }
        let part = rest.prefix(count)
        target.replaceSubrange(index..<index + part.count, with: current.bytes[part])
        rest = rest.dropFirst(part.count)
        return part.count
    }
}

// MARK: - At any place

/// The content of an encrypted file, read at any offset.
///
/// The last chunk is opened first: only it proves the size of the file. Threads that read at the
/// same time each open their own chunks.
///
/// Safe because only `openers` changes, under a lock.
final class SeekablePayload: ByteSource, @unchecked Sendable {
    private let source: any ByteSource
    private let key: Secret
    /// Where the chunks are in the file.
    private let place: Range<UInt64>
    private let lastNumber: UInt64
    private let contentSize: UInt64
    private let openers = Monitor<[ChunkOpener]>([])

    /// Reads the chunks in `source`, which has a size, from `start` on.
    init(reading source: any ByteSource, from start: UInt64, _ key: Secret) throws {
        (self.source, self.key) = (source, key)
        place = start..<max(start, source.size ?? 0)
        let size = place.upperBound - start
        lastNumber = (max(size, 1) - 1) / UInt64(ChunkCipher.sealedSize)
        contentSize = size - min(size, (lastNumber + 1) * UInt64(ChunkCipher.tagSize))
        let opener = ChunkOpener(key)
        try load(lastNumber, into: opener.chunk)
        try opener.keep()
        openers.withLock { $0 = [opener] }
    }

    var size: UInt64? { contentSize }

    /// Reads at most the rest of one chunk.
    func read(
        at offset: UInt64,
        into target: inout [UInt8],
        from index: Int,
        count: Int
    ) throws -> Int {
        let chunkSize = UInt64(ChunkCipher.chunkSize)
        let (number, within) = offset.quotientAndRemainder(dividingBy: chunkSize)
        guard offset < contentSize, count > 0 else { return 0 }
        let read = min(count, Int(min(contentSize, (number + 1) * chunkSize) - offset))
        let opener = openers.withLock { $0.popLast() } ?? ChunkOpener(key)
        defer { openers.withLock { $0.append(opener) } }
        if opener.kept != number {
            opener.kept = nil
            try load(number, into: opener.chunk)
            if opener.chunk.content.count == read {
                try unsafe target.withUnsafeMutableBytes { target in
                    let target = unsafe target[index..<index + read]
                    try unsafe opener.chunk.open(with: opener.cipher, into: .init(rebasing: target))
                }
                return read
            }
            try opener.keep()
        }
        let content = opener.chunk.content.dropFirst(Int(within)).prefix(read)
        target.replaceSubrange(index..<index + read, with: opener.chunk.bytes[content])
        return read
    }

    /// Reads a sealed chunk.
    private func load(_ number: UInt64, into chunk: PayloadChunk) throws {
        let sealedSize = UInt64(ChunkCipher.sealedSize)
        let start = place.lowerBound + number * sealedSize
        (chunk.number, chunk.isLast) = (number, number == lastNumber)
        chunk.count = Int(min(sealedSize, place.upperBound - start))
        guard try source.readWhole(at: start, into: &chunk.bytes, count: chunk.count) else {
            throw ArchiveError(.truncated, "the archive became shorter while it was read")
        }
    }
}

/// Opens one chunk after another for one thread at a time.
///
/// Safe because it is handed from thread to thread under a lock.
private final class ChunkOpener: @unchecked Sendable {
    let cipher: ChunkCipher
    let chunk = PayloadChunk()
    /// The number of the chunk, if it was opened in place because a part of it was needed.
    var kept: UInt64?

    init(_ key: Secret) { cipher = ChunkCipher(key) }

    /// Opens the chunk in place.
    func keep() throws {
        try unsafe chunk.open(with: cipher)
        kept = chunk.number
    }
}
