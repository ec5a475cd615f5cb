package import MigrationSystem

/// The source of an archive's bytes, which is read in order or at any offset.
package protocol ByteSource: AnyObject {
    /// The number of bytes; `nil` if the source can only be read in order.
    var size: UInt64? { get }

    /// Reads at most `count` bytes into `target` from `index`; returns how many, 0 at the end.
    func read(into target: inout [UInt8], from index: Int, count: Int) throws -> Int

    /// The same at `offset`, if ``size`` is not `nil`; several threads may call it at once.
    func read(
        at offset: UInt64,
        into target: inout [UInt8],
        from index: Int,
        count: Int
    ) throws(ArchiveError) -> Int
}

extension ByteSource {
    package var size: UInt64? { nil }

    package func read(into target: inout [UInt8], from index: Int, count: Int) throws -> Int {
        preconditionFailure("the bytes are read by place")
    }

    package func read(
        at offset: UInt64,
        into target: inout [UInt8],
        from index: Int,
        count: Int
    ) throws(ArchiveError) -> Int {
        preconditionFailure("the bytes can only be read in order")
    }

    /// Reads until `count` bytes are in `target` from `index`, fewer only at the end.
    func readWhole(
        at offset: UInt64,
        into target: inout [UInt8],
        from index: Int,
        count: Int
    ) throws(ArchiveError) -> Int {
        var done = 0
        while done < count {
            let read = try read(
                at: offset + UInt64(done),
                into: &target,
                from: index + done,
                count: count - done
            )
            if read == 0 { break }
            done += read
        }
        return done
    }
}

/// Reads a source in order, with lookahead.
package class ByteReader: ByteSource {
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

    /// Reads `source`; if that is another reader, takes over its lookahead buffer.
    init(_ source: any ByteSource, on operation: MigrationOperation = MigrationOperation()) {
        self.operation = operation
        guard let reader = source as? ByteReader else {
            self.source = source
            return
        }
        self.source = reader.source
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
        var done = 0
        while done < count {
            let read = try read(into: &target, from: index + done, count: count - done)
            if read == 0 { throw ArchiveError.cutShort }
            done += read
        }
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
        let read: Int
        if size == nil {
            read = try source.read(into: &target, from: index, count: count)
        } else {
            try operation.check()
            read = try source.read(at: offset, into: &target, from: index, count: count)
        }
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

    package func read(
        at offset: UInt64,
        into target: inout [UInt8],
        from index: Int,
        count: Int
    ) throws(ArchiveError) -> Int {
        try source.read(at: offset, into: &target, from: index, count: count)
    }

    /// Reads `count` bytes at `offset` of the file into `target`; several threads may do so at once.
    package func readExactly(
        at offset: UInt64,
        into target: inout [UInt8],
        count: Int
    ) throws(ArchiveError) {
        let read = try source.readWhole(at: offset, into: &target, from: 0, count: count)
        guard read == count else { throw .cutShort }
    }
}

/// Bytes in memory, which are read in order.
final class ByteArraySource: ByteSource {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) {
        rest = bytes[...]
    }

    func read(into target: inout [UInt8], from index: Int, count: Int) throws -> Int {
        let read = min(count, rest.count)
        target.replaceSubrange(index..<index + read, with: rest.prefix(read))
        rest = rest.dropFirst(read)
        return read
    }
}
