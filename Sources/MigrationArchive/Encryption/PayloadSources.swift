/// The content of an encrypted file that is read in order.
///
/// A chunk is the last where nothing follows it, so one byte beyond the chunks is read ahead.
final class SequentialPayload: ByteSource {
    private let source: any ByteSource
    private let stream: PayloadStream
    private var buffer = [UInt8](
        repeating: 0,
        count: chunksAtOnce * PayloadStream.sealedSize + 1
    )
    private var filled = 0
    private var consumed = 0
    private var isAtEnd = false
    private var nextNumber: UInt64 = 0

    /// The opened chunks in `buffer`, and what is left of them.
    private var chunks: ArraySlice<Range<Int>> = []
    private var failure: (any Error)?

    private static let chunksAtOnce = 4

    init(reading source: any ByteSource, stream: consuming PayloadStream) {
        self.source = source
        self.stream = stream
    }

    var size: UInt64? { nil }

    func readNext(into target: inout [UInt8], from index: Int, count: Int) throws -> Int {
        while chunks.first?.isEmpty ?? false { chunks.removeFirst() }
        if chunks.isEmpty {
            if let failure { throw failure }
            if isAtEnd { return 0 }
            try openNext()
            return try readNext(into: &target, from: index, count: count)
        }
        let range = chunks[chunks.startIndex]
        let read = min(count, range.count)
        let start = range.lowerBound
        target.replaceSubrange(index..<index + read, with: buffer[start..<start + read])
        chunks[chunks.startIndex] = (start + read)..<range.upperBound
        return read
    }

    func read(
        at offset: UInt64,
        into target: inout [UInt8],
        from index: Int,
        count: Int
    ) throws(ArchiveError) -> Int {
        preconditionFailure("what is read in order only has no other places")
    }

    /// Opens the whole chunks that are there, and waits for no more than one and the byte beyond it.
    private func openNext() throws {
        let rest = filled - consumed
        unsafe buffer.withUnsafeMutableBytes { bytes in
            guard let base = bytes.baseAddress else { return }
            unsafe base.copyMemory(from: base + consumed, byteCount: rest)
        }
        (filled, consumed) = (rest, 0)
        while filled <= PayloadStream.sealedSize, !isAtEnd {
            let read = try source.readNext(
                into: &buffer,
                from: filled,
                count: buffer.count - filled
            )
            filled += read
            isAtEnd = read == 0
        }
        var start = 0
        let whole = (filled - 1) / PayloadStream.sealedSize * PayloadStream.sealedSize
        let end = isAtEnd ? filled : whole
        consumed = end
        repeat {
            let count = min(PayloadStream.sealedSize, end - start)
            do {
                try stream.open(
                    &buffer,
                    from: start,
                    count: count,
                    number: nextNumber,
                    isLast: isAtEnd && start + count == end
                )
            } catch {
                // What comes before it is sound.
                failure = error
                return
            }
            chunks.append(start..<start + count - ChunkCipher.tagSize)
            nextNumber += 1
            start += count
        } while start < end
    }
}

/// The content of an encrypted file, read at any place.
///
/// The last chunk is opened first: without it nothing says how much the file must hold.
final class SeekablePayload: ByteSource {
    private let source: any ByteSource
    private let stream: PayloadStream
    private let start: UInt64
    private let sealedBytes: UInt64
    private let chunkCount: UInt64

    /// The chunks in `buffer`, which are open.
    private var loaded: Range<UInt64> = 0..<0
    private var buffer: [UInt8] = []

    private static let chunksAtOnce: UInt64 = 16

    /// Takes the chunks in `source` from `start` on.
    init(
        reading source: any ByteSource,
        size: UInt64,
        from start: UInt64,
        stream: consuming PayloadStream
    ) throws {
        let sealedSize = UInt64(PayloadStream.sealedSize)
        self.source = source
        self.stream = stream
        self.start = start
        sealedBytes = size > start ? size - start : 0
        chunkCount = max(1, (sealedBytes + sealedSize - 1) / sealedSize)
        try load((chunkCount - 1)..<chunkCount)
    }

    var size: UInt64? { sealedBytes - chunkCount * UInt64(ChunkCipher.tagSize) }

    func readNext(into target: inout [UInt8], from index: Int, count: Int) throws -> Int {
        preconditionFailure("what has a size is read by place")
    }

    func read(
        at offset: UInt64,
        into target: inout [UInt8],
        from index: Int,
        count: Int
    ) throws(ArchiveError) -> Int {
        let end = sealedBytes - chunkCount * UInt64(ChunkCipher.tagSize)
        guard count > 0, offset < end else { return 0 }
        let chunkSize = UInt64(PayloadStream.chunkSize)
        let number = offset / chunkSize
        if !loaded.contains(number) {
            let last = min(offset + UInt64(count), end) - 1
            let limit = min(last / chunkSize + 1, number + Self.chunksAtOnce)
            try load(number..<limit)
        }
        let within = Int(offset % chunkSize)
        let position = Int(number - loaded.lowerBound) * PayloadStream.sealedSize + within
        let read = min(count, PayloadStream.chunkSize - within, Int(clamping: end - offset))
        target.replaceSubrange(index..<index + read, with: buffer[position..<position + read])
        return read
    }

    private func load(_ numbers: Range<UInt64>) throws(ArchiveError) {
        loaded = 0..<0
        let sealedSize = UInt64(PayloadStream.sealedSize)
        let first = numbers.lowerBound * sealedSize
        let count = Int(min(numbers.upperBound * sealedSize, sealedBytes) - first)
        if buffer.count < count {
            buffer += [UInt8](repeating: 0, count: count - buffer.count)
        }
        let read = try source.readWhole(at: start + first, into: &buffer, from: 0, count: count)
        guard read == count else {
            throw ArchiveError(.truncated, "the archive became shorter while it was read")
        }
        for number in numbers {
            let position = Int(number - numbers.lowerBound) * PayloadStream.sealedSize
            try stream.open(
                &buffer,
                from: position,
                count: min(PayloadStream.sealedSize, count - position),
                number: number,
                isLast: number == chunkCount - 1
            )
        }
        loaded = numbers
    }
}
