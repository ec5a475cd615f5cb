package import MigrationSystem

/// The source of an archive's bytes.
package protocol ByteSource: AnyObject {
    /// The number of bytes; `nil` if the source can only be read in order.
    var size: UInt64? { get }

    /// Reads at most `count` bytes at `offset` into `target` from `index`; returns how many, 0 at the end.
    ///
    /// Without a ``size``, `offset` is where the last call ended; with one, several threads may call
    /// it at once.
    func read(
        at offset: UInt64,
        into target: inout [UInt8],
        from index: Int,
        count: Int
    ) throws -> Int
}

extension ByteSource {
    package var size: UInt64? { nil }

    /// Reads `count` bytes at `offset` into `target`; returns whether the source has that many.
    func readWhole(at offset: UInt64, into target: inout [UInt8], count: Int) throws -> Bool {
        var done = 0
        while done < count {
            let read = try read(
                at: offset + UInt64(done),
                into: &target,
                from: done,
                count: count - done
            )
            if read == 0 { return false }
            done += read
        }
        return true
    }
}

/// Reads a source in order, with lookahead.
package class ByteReader {
    /// The minimum size of the lookahead buffer.
    private static let leastRoom = 64 * 1024
    /// Fewer bytes are read together with those after them: a frame may have a block every three bytes.
    private static let fewBytes = 4096

    let source: any ByteSource

    /// The operation that reads.
    package let operation: MigrationOperation

    private var buffer: [UInt8] = []
    /// The bytes in the buffer that were peeked at but not consumed.
    private var pending = 0..<0
    private var isAtEnd = false

    /// How many bytes were consumed.
    package private(set) var position: UInt64 = 0

    init(_ source: any ByteSource, on operation: MigrationOperation = MigrationOperation()) {
        (self.source, self.operation) = (source, operation)
    }

    /// Continues where `reader` is, which must not be used any longer.
    init(continuing reader: ByteReader) {
        (source, operation) = (reader.source, reader.operation)
        (buffer, pending, isAtEnd) = (reader.buffer, reader.pending, reader.isAtEnd)
        position = reader.position
    }

    /// The number of bytes; `nil` if they can only be read in order.
    package var size: UInt64? { source.size }

    /// Makes at least `count` bytes available for peeking, fewer only at the end; returns how many
    /// there are.
    ///
    /// A call to the source gets at most `limit` bytes, if these are enough.
    package func lookAhead(_ count: Int, readingAtMost limit: Int = .max) throws -> Int {
        while pending.count < count, !isAtEnd {
            makeRoom(for: count)
            let read = try readSource(
                at: position + UInt64(pending.count),
                into: &buffer,
                from: pending.upperBound,
                count: min(buffer.count - pending.upperBound, max(limit, count - pending.count))
            )
            pending = pending.lowerBound..<pending.upperBound + read
        }
        return pending.count
    }

    private func makeRoom(for count: Int) {
        if pending.lowerBound > 0 {
            buffer.replaceSubrange(0..<pending.count, with: Array(buffer[pending]))
            pending = 0..<pending.count
        }
        let missing = max(count, Self.leastRoom) - buffer.count
        if missing > 0 { buffer += [UInt8](repeating: 0, count: missing) }
    }

    /// The bytes that ``lookAhead(_:)`` made ready.
    package var ahead: ArraySlice<UInt8> { buffer[pending] }

    /// Consumes `count` bytes that ``ahead`` holds.
    package func skip(_ count: Int) {
        pending.removeFirst(count)
        position += UInt64(count)
    }

    /// Reads at most `count` bytes into `target` from `index`; returns how many, 0 at the end.
    package func read(into target: inout [UInt8], from index: Int, count: Int) throws -> Int {
        if count == 0 { return 0 }
        var read = min(count, pending.count)
        if read > 0 {
            target.replaceSubrange(index..<index + read, with: ahead.prefix(read))
            pending.removeFirst(read)
        } else if !isAtEnd {
            read = try readSource(at: position, into: &target, from: index, count: count)
        }
        position += UInt64(read)
        return read
    }

    /// Reads `count` bytes into `target` from `index`; it is an error if the source ends earlier.
    package func readExactly(into target: inout [UInt8], from index: Int, count: Int) throws {
        if count < Self.fewBytes { _ = try lookAhead(count, readingAtMost: Self.fewBytes) }
        guard try fill(&target, from: index, count: count) == count else {
            throw ArchiveError.cutShort
        }
    }

    /// Reads until `count` bytes are in `target` from `index`, fewer only at the end; returns how many.
    func fill(_ target: inout [UInt8], from index: Int = 0, count: Int) throws -> Int {
        var done = 0
        while done < count {
            let read = try read(into: &target, from: index + done, count: count - done)
            if read == 0 { break }
            done += read
        }
        return done
    }

    /// Reads the next line, without its end; `nil` if there is none, or it has more than `limit` bytes.
    func readLine(limit: Int) throws -> [UInt8]? {
        var room = min(128, limit + 1)
        while true {
            let available = try lookAhead(room)
            if let end = ahead.prefix(room).firstIndex(of: UInt8(ascii: "\n")) {
                let line = Array(ahead[..<end])
                skip(line.count + 1)
                return line
            }
            guard available >= room, room <= limit else { return nil }
            room = min(room * 4, limit + 1)
        }
    }

    private func readSource(
        at offset: UInt64,
        into target: inout [UInt8],
        from index: Int,
        count: Int
    ) throws -> Int {
        try operation.check()
        let read = try source.read(at: offset, into: &target, from: index, count: count)
        isAtEnd = read == 0
        return read
    }
}

// MARK: - Random access

extension ByteReader {
    /// Continues reading at `offset` of the file.
    func seek(to offset: UInt64) {
        (pending, isAtEnd) = (0..<0, false)
        position = offset
    }

    /// Reads `count` bytes at `offset` of the file into `target`; several threads may do so at once.
    package func readExactly(at offset: UInt64, into target: inout [UInt8], count: Int) throws {
        guard try source.readWhole(at: offset, into: &target, count: count) else {
            throw ArchiveError.cutShort
        }
    }
}

/// Bytes in memory, which are read in order.
final class ByteArraySource: ByteSource {
    private let bytes: [UInt8]

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    func read(
        at offset: UInt64,
        into target: inout [UInt8],
        from index: Int,
        count: Int
    ) throws -> Int {
        let part = bytes.dropFirst(Int(offset)).prefix(count)
        target.replaceSubrange(index..<index + part.count, with: part)
        return part.count
    }
}
