internal import MigrationSystem

/// Sealed chunks of a payload that follow each other, and are opened in place or elsewhere.
///
/// Safe because one thread at a time has them.
private final class ChunkBatch: @unchecked Sendable {
    static let chunkLimit = 8

    /// The chunks, and room for one more byte.
    var bytes = [UInt8](repeating: 0, count: chunkLimit * PayloadStream.sealedSize + 1)
    private var count = 0
    private(set) var numbers: Range<UInt64> = 0..<0
    private(set) var isLast = false

    /// Begins again with the sealed chunks in the first `count` bytes; there is at least one, which may
    /// be empty.
    func begin(holding count: Int, from number: UInt64, isLast: Bool) {
        let sealedSize = PayloadStream.sealedSize
        numbers = number..<number + UInt64(max(1, (count + sealedSize - 1) / sealedSize))
        (self.count, self.isLast) = (count, isLast)
    }

    /// Where the content of a chunk is in the bytes, once it was opened in place.
    func content(of number: UInt64) -> Range<Int> {
        let start = Int(number - numbers.lowerBound) * PayloadStream.sealedSize
        let end = min(start + PayloadStream.sealedSize, count) - ChunkCipher.tagSize
        return start..<max(start, end)
    }

    /// Opens a chunk into `target`, or in place.
    func open(
        _ number: UInt64,
        with stream: borrowing PayloadStream,
        into target: UnsafeMutableRawBufferPointer? = nil
    ) throws(ArchiveError) {
        let content = content(of: number)
        let end = min(content.lowerBound + PayloadStream.sealedSize, count)
        let isLast = isLast && number == numbers.upperBound - 1
        try unsafe bytes.withUnsafeMutableBufferPointer { bytes throws(ArchiveError) in
            let own = unsafe UnsafeMutableBufferPointer(rebasing: bytes[content])
            let chunk = unsafe UnsafeBufferPointer(rebasing: bytes[content.lowerBound..<end])
            try unsafe stream.open(
                UnsafeRawBufferPointer(chunk),
                into: target ?? UnsafeMutableRawBufferPointer(own),
                number: number,
                isLast: isLast
            )
        }
    }
}

// MARK: - In order

/// The content of an encrypted file that is read in order.
///
/// A chunk is the last one if nothing follows it, so one byte beyond the chunks is read ahead.
final class SequentialPayload: ByteSource {
    private let reader: SealedBatchReader
    private let step: OrderedStep<ChunkBatch, OpenedBatch>
    private var current: OpenedBatch?

    init(reading source: any ByteSource, _ key: PayloadKey, on operation: MigrationOperation) {
        let reader = SealedBatchReader(reading: source)
        self.reader = reader
        step = OrderedStep(
            of: operation,
            depth: operation.threadCount + 1,
            source: { try reader.next() }
        ) {
            let stream = PayloadStream(key)
            return { OpenedBatch(opening: $0, with: stream) }
        }
    }

    package func read(into target: inout [UInt8], from index: Int, count: Int) throws -> Int {
        while true {
            let read = try current?.take(into: &target, from: index, count: count) ?? 0
            if read > 0 || count == 0 || current?.batch.isLast == true { return read }
            if let used = current.take() {
                reader.recycle(used.batch)
                step.release()
            }
            current = try step.next()
            if current == nil { return 0 }
        }
    }
}

/// Reads sealed chunks in batches.
///
/// Safe because one thread at a time reads.
private final class SealedBatchReader: @unchecked Sendable {
    private let source: any ByteSource
    private let free = Monitor<[ChunkBatch]>([])
    /// Bytes that were read ahead for the next batch.
    private var rest: [UInt8] = []
    private var nextNumber: UInt64 = 0
    private var isAtEnd = false

    init(reading source: any ByteSource) {
        self.source = source
    }

    /// Reads all complete chunks that are available; waits only for the first, and for the byte
    /// after it.
    func next() throws -> ChunkBatch? {
        if isAtEnd { return nil }
        let batch = free.withLock { $0.popLast() } ?? ChunkBatch()
        batch.bytes.replaceSubrange(..<rest.count, with: rest)
        var filled = rest.count
        while filled <= PayloadStream.sealedSize, !isAtEnd {
            let room = batch.bytes.count - filled
            let read = try source.read(into: &batch.bytes, from: filled, count: room)
            filled += read
            isAtEnd = read == 0
        }
        let whole = (filled - 1) / PayloadStream.sealedSize * PayloadStream.sealedSize
        let end = isAtEnd ? filled : whole
        rest = Array(batch.bytes[end..<filled])
        batch.begin(holding: end, from: nextNumber, isLast: isAtEnd)
        nextNumber = batch.numbers.upperBound
        return batch
    }

    /// Takes back a used batch.
    func recycle(_ batch: ChunkBatch) {
        free.withLock { $0.append(batch) }
    }
}

/// The content of the valid chunks of a batch.
private struct OpenedBatch: Sendable {
    let batch: ChunkBatch
    /// The chunks that were not taken completely, and how much was taken of the first.
    private var numbers: Range<UInt64>
    private var takenCount = 0
    /// The failure of the chunk after them.
    private var failure: ArchiveError?

    init(opening batch: ChunkBatch, with stream: borrowing PayloadStream) {
        self.batch = batch
        numbers = batch.numbers
        for number in batch.numbers {
            do throws(ArchiveError) {
                try batch.open(number, with: stream)
            } catch {
                // The chunks before it are valid.
                (numbers, failure) = (numbers.lowerBound..<number, error)
                return
            }
        }
    }

    /// Takes at most `count` bytes of the content; 0 if none are left.
    mutating func take(into target: inout [UInt8], from index: Int, count: Int) throws -> Int {
        while let number = numbers.first {
            let rest = batch.content(of: number).dropFirst(takenCount)
            guard rest.isEmpty else {
                let read = min(count, rest.count)
                target.replaceSubrange(index..<index + read, with: batch.bytes[rest.prefix(read)])
                takenCount += read
                return read
            }
            (numbers, takenCount) = (numbers.dropFirst(), 0)
        }
        if let failure { throw failure }
        return 0
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
    private let layout: PayloadLayout
    private let makeOpener: () -> ChunkOpener
    private let openers: Monitor<[ChunkOpener]>

    /// Reads the chunks in `source` from `start` on.
    init(
        reading source: any ByteSource,
        size: UInt64,
        from start: UInt64,
        _ key: PayloadKey
    ) throws {
        let layout = PayloadLayout(start: start, sealedBytes: size > start ? size - start : 0)
        self.layout = layout
        makeOpener = { ChunkOpener(reading: source, layout, key) }
        let opener = makeOpener()
        let last = layout.chunkCount - 1
        try opener.load(last..<last + 1)
        try opener.keep(last)
        openers = Monitor([opener])
    }

    package var size: UInt64? { layout.contentBytes }

    package func read(
        at offset: UInt64,
        into target: inout [UInt8],
        from index: Int,
        count: Int
    ) throws(ArchiveError) -> Int {
        let rest = layout.contentBytes - min(offset, layout.contentBytes)
        let wanted = min(count, Int(clamping: rest))
        guard wanted > 0 else { return 0 }
        let opener = openers.withLock { $0.popLast() } ?? makeOpener()
        defer { openers.withLock { $0.append(opener) } }
        return try unsafe target.withUnsafeMutableBufferPointer { target throws(ArchiveError) in
            let part = unsafe UnsafeMutableBufferPointer(rebasing: target[index..<index + wanted])
            return try unsafe opener.read(at: offset, into: .init(part))
        }
    }
}

/// Where the chunks of a payload are in a file.
private struct PayloadLayout: Sendable {
    let start: UInt64
    let sealedBytes: UInt64

    var chunkCount: UInt64 {
        let sealedSize = UInt64(PayloadStream.sealedSize)
        return max(1, (sealedBytes + sealedSize - 1) / sealedSize)
    }

    var contentBytes: UInt64 {
        let tags = chunkCount * UInt64(ChunkCipher.tagSize)
        return sealedBytes - min(tags, sealedBytes)
    }

    /// The bytes of sealed chunks, counted from the first chunk.
    func sealedRange(of numbers: Range<UInt64>) -> Range<UInt64> {
        let sealedSize = UInt64(PayloadStream.sealedSize)
        return numbers.lowerBound * sealedSize..<min(numbers.upperBound * sealedSize, sealedBytes)
    }
}

/// Opens chunks for one thread at a time.
///
/// Safe because it is handed from thread to thread under a lock.
private final class ChunkOpener: @unchecked Sendable {
    private let source: any ByteSource
    private let layout: PayloadLayout
    private let stream: PayloadStream
    /// The chunks that were loaded last.
    private let batch = ChunkBatch()
    /// A chunk that was opened in place because a part of it was needed.
    private var kept: UInt64?

    init(reading source: any ByteSource, _ layout: PayloadLayout, _ key: PayloadKey) {
        (self.source, self.layout) = (source, layout)
        stream = PayloadStream(key)
    }

    /// Reads the content at `offset`, which exists, until `target` is full or some chunks were read.
    func read(
        at offset: UInt64,
        into target: UnsafeMutableRawBufferPointer
    ) throws(ArchiveError) -> Int {
        let chunkSize = UInt64(PayloadStream.chunkSize)
        let (first, within) = offset.quotientAndRemainder(dividingBy: chunkSize)
        if kept == first { return unsafe copy(first, from: Int(within), to: target) }
        let last = (offset + UInt64(target.count) - 1) / chunkSize
        let numbers = first..<min(last + 1, first + UInt64(ChunkBatch.chunkLimit))
        try load(numbers)
        var done = 0
        for number in numbers {
            let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: target[done...])
            let skipped = number == first ? Int(within) : 0
            let size = batch.content(of: number).count
            if skipped == 0, size > 0, size <= rest.count {
                let whole = unsafe UnsafeMutableRawBufferPointer(rebasing: rest[..<size])
                try unsafe batch.open(number, with: stream, into: whole)
                done += size
            } else {
                try keep(number)
                done += unsafe copy(number, from: skipped, to: rest)
            }
        }
        return done
    }

    func load(_ numbers: Range<UInt64>) throws(ArchiveError) {
        kept = nil
        let range = layout.sealedRange(of: numbers)
        let read = try source.readWhole(
            at: layout.start + range.lowerBound,
            into: &batch.bytes,
            from: 0,
            count: range.count
        )
        guard read == range.count else {
            throw ArchiveError(.truncated, "the archive became shorter while it was read")
        }
        let isLast = numbers.upperBound == layout.chunkCount
        batch.begin(holding: read, from: numbers.lowerBound, isLast: isLast)
    }

    /// Opens a chunk that was loaded, and keeps its content.
    func keep(_ number: UInt64) throws(ArchiveError) {
        try batch.open(number, with: stream)
        kept = number
    }

    /// Copies the content of the kept chunk from `start` on.
    private func copy(
        _ number: UInt64,
        from start: Int,
        to target: UnsafeMutableRawBufferPointer
    ) -> Int {
        let content = batch.content(of: number).dropFirst(start).prefix(target.count)
        unsafe target.copyBytes(from: batch.bytes[content])
        return content.count
    }
}
