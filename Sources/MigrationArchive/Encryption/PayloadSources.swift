internal import MigrationSystem

// MARK: - In order

/// The content of an encrypted file that is read in order.
///
/// A chunk is the last one if nothing follows it, so one byte beyond the chunks is read ahead.
final class SequentialPayload: ByteSource {
    private let reader: SealedBatchReader
    private let step: OrderedStep<OpenedBatch, OpenedBatch>
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
            return { batch in
                batch.open(with: stream)
                return batch
            }
        }
    }

    package func read(into target: inout [UInt8], from index: Int, count: Int) throws -> Int {
        while true {
            if let current {
                let read = try current.take(into: &target, from: index, count: count)
                if read > 0 || count == 0 || current.isLast { return read }
                reader.recycle(current)
                step.release()
                self.current = nil
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
    private let free = Monitor<[OpenedBatch]>([])
    /// Bytes that were read ahead for the next batch.
    private var rest: [UInt8] = []
    private var nextNumber: UInt64 = 0
    private var isAtEnd = false

    init(reading source: any ByteSource) {
        self.source = source
    }

    /// Reads all complete chunks that are available; waits only for the first, and for the byte
    /// after it.
    func next() throws -> OpenedBatch? {
        if isAtEnd { return nil }
        let batch = free.withLock { $0.popLast() } ?? OpenedBatch()
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
        nextNumber += batch.begin(holding: end, from: nextNumber, isLast: isAtEnd)
        return batch
    }

    /// Takes back a used batch.
    func recycle(_ batch: OpenedBatch) {
        free.withLock { $0.append(batch) }
    }
}

/// Some chunks of a payload, sealed at first and then opened in place.
///
/// Safe because one thread at a time has it.
private final class OpenedBatch: @unchecked Sendable {
    private static let chunkLimit = 8

    var bytes = [UInt8](repeating: 0, count: chunkLimit * PayloadStream.sealedSize + 1)
    private(set) var isLast = false
    private var sealedCount = 0
    private var firstNumber: UInt64 = 0

    /// How much content the opened chunks have, how much of it was taken, and the failure of the chunk after them.
    private var (contentCount, takenCount) = (0, 0)
    private var failure: ArchiveError?

    /// Starts again with the sealed chunks in the first `count` bytes; returns the number of these
    /// chunks.
    func begin(holding count: Int, from number: UInt64, isLast: Bool) -> UInt64 {
        (sealedCount, firstNumber, self.isLast) = (count, number, isLast)
        (contentCount, takenCount, failure) = (0, 0, nil)
        return UInt64((count + PayloadStream.sealedSize - 1) / PayloadStream.sealedSize)
    }

    /// Opens the chunks; an empty last batch has one empty chunk, which is not valid.
    func open(with stream: borrowing PayloadStream) {
        var start = 0
        var number = firstNumber
        repeat {
            let end = min(start + PayloadStream.sealedSize, sealedCount)
            do throws(ArchiveError) {
                let isLast = isLast && end == sealedCount
                try open(start..<end, with: stream, number: number, isLast: isLast)
            } catch {
                // The chunks before it are valid.
                failure = error
                return
            }
            contentCount += end - start - ChunkCipher.tagSize
            (start, number) = (end, number + 1)
        } while start < sealedCount
    }

    private func open(
        _ range: Range<Int>,
        with stream: borrowing PayloadStream,
        number: UInt64,
        isLast: Bool
    ) throws(ArchiveError) {
        try unsafe bytes.withUnsafeMutableBufferPointer { bytes throws(ArchiveError) in
            let chunk = unsafe UnsafeMutableRawBufferPointer(.init(rebasing: bytes[range]))
            let content = unsafe UnsafeMutableRawBufferPointer(
                rebasing: chunk.dropLast(ChunkCipher.tagSize)
            )
            try unsafe stream.open(.init(chunk), into: content, number: number, isLast: isLast)
        }
    }

    /// Takes at most `count` bytes of the content; 0 if none are left.
    func take(into target: inout [UInt8], from index: Int, count: Int) throws -> Int {
        guard takenCount < contentCount else {
            if let failure { throw failure }
            return 0
        }
        let (chunk, within) = takenCount.quotientAndRemainder(dividingBy: PayloadStream.chunkSize)
        let read = min(count, PayloadStream.chunkSize - within, contentCount - takenCount)
        let start = chunk * PayloadStream.sealedSize + within
        target.replaceSubrange(index..<index + read, with: bytes[start..<start + read])
        takenCount += read
        return read
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
    private static let chunksAtOnce: UInt64 = 8

    private let source: any ByteSource
    private let layout: PayloadLayout
    private let stream: PayloadStream
    /// The sealed chunks that were loaded last, and where they begin.
    private var sealed: [UInt8] = []
    private var sealedStart: UInt64 = 0

    /// A chunk that was opened because a part of it was needed.
    private var kept: (number: UInt64, content: [UInt8])?

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
        let first = offset / chunkSize
        let within = Int(offset % chunkSize)
        if let kept, kept.number == first {
            return unsafe Self.copy(kept.content.dropFirst(within), to: target)
        }
        let last = (offset + UInt64(target.count) - 1) / chunkSize
        let numbers = first..<min(last + 1, first + Self.chunksAtOnce)
        try load(numbers)
        var done = 0
        for number in numbers {
            let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: target[done...])
            let skipped = number == first ? within : 0
            let size = range(of: number).count - ChunkCipher.tagSize
            if skipped == 0, size > 0, size <= rest.count {
                try unsafe open(number, into: .init(rebasing: rest[..<size]))
                done += size
            } else {
                let content = try keep(number)
                done += unsafe Self.copy(content.dropFirst(skipped), to: rest)
            }
        }
        return done
    }

    func load(_ numbers: Range<UInt64>) throws(ArchiveError) {
        let range = layout.sealedRange(of: numbers)
        if sealed.count < range.count {
            sealed += [UInt8](repeating: 0, count: range.count - sealed.count)
        }
        sealedStart = range.lowerBound
        let read = try source.readWhole(
            at: layout.start + range.lowerBound,
            into: &sealed,
            from: 0,
            count: range.count
        )
        guard read == range.count else {
            throw ArchiveError(.truncated, "the archive became shorter while it was read")
        }
    }

    /// Opens a chunk that was loaded, and keeps it; returns its content.
    @discardableResult
    func keep(_ number: UInt64) throws(ArchiveError) -> [UInt8] {
        var content = kept?.content ?? []
        kept = nil
        let size = max(0, range(of: number).count - ChunkCipher.tagSize)
        if content.count > size { content.removeLast(content.count - size) }
        content += [UInt8](repeating: 0, count: size - content.count)
        try unsafe content.withUnsafeMutableBufferPointer { content throws(ArchiveError) in
            try unsafe open(number, into: .init(content))
        }
        kept = (number, content)
        return content
    }

    private func open(
        _ number: UInt64,
        into content: UnsafeMutableRawBufferPointer
    ) throws(ArchiveError) {
        try unsafe sealed.withUnsafeBufferPointer { sealed throws(ArchiveError) in
            try unsafe stream.open(
                UnsafeRawBufferPointer(.init(rebasing: sealed[range(of: number)])),
                into: content,
                number: number,
                isLast: number == layout.chunkCount - 1
            )
        }
    }

    /// Where a chunk is in `sealed`.
    private func range(of number: UInt64) -> Range<Int> {
        let range = layout.sealedRange(of: number..<number + 1)
        return Int(range.lowerBound - sealedStart)..<Int(range.upperBound - sealedStart)
    }

    private static func copy(
        _ content: ArraySlice<UInt8>,
        to target: UnsafeMutableRawBufferPointer
    ) -> Int {
        let count = min(content.count, target.count)
        unsafe target.copyBytes(from: content.prefix(count))
        return count
    }
}
