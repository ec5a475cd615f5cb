internal import MigrationSystem

/// The source of an archive's bytes, which is read in order or at any offset.
protocol ByteSource: AnyObject {
    /// The number of bytes; `nil` if the source can only be read in order.
    var size: UInt64? { get }

    /// Reads at most `count` bytes into `target` from `index`; returns how many, 0 at the end.
    func readNext(into target: inout [UInt8], from index: Int, count: Int) throws -> Int

    /// The same at `offset`, if ``size`` is not `nil`; several threads may call it at once.
    func read(
        at offset: UInt64,
        into target: inout [UInt8],
        from index: Int,
        count: Int
    ) throws(ArchiveError) -> Int
}

extension ByteSource {
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

/// Reads another source in order, and looks ahead in it.
final class LookAheadSource: ByteSource {
    private let source: any ByteSource
    private var buffer: [UInt8] = []
    private var isAtEnd = false

    /// The number of consumed bytes.
    private(set) var position: UInt64 = 0

    init(_ source: any ByteSource) {
        self.source = source
    }

    var size: UInt64? { source.size }

    /// The next `count` bytes, without consuming them; fewer only at the end.
    func peek(_ count: Int) throws -> ArraySlice<UInt8> {
        while buffer.count < count, !isAtEnd {
            let filled = buffer.count
            buffer += [UInt8](repeating: 0, count: count - filled)
            let read = try readSource(
                at: position + UInt64(filled),
                into: &buffer,
                from: filled,
                count: count - filled
            )
            buffer.removeLast(count - filled - read)
            isAtEnd = read == 0
        }
        return buffer.prefix(count)
    }

    /// Consumes `count` bytes that ``peek(_:)`` returned.
    func skip(_ count: Int) {
        buffer.removeFirst(count)
        position += UInt64(count)
    }

    /// Reads the next line, without its end; `nil` if there is none, or it has more than `limit` bytes.
    func readLine(limit: Int) throws -> [UInt8]? {
        var room = min(128, limit + 1)
        while true {
            let ahead = try peek(room)
            if let end = ahead.firstIndex(of: UInt8(ascii: "\n")) {
                let line = Array(ahead[..<end])
                skip(line.count + 1)
                return line
            }
            guard ahead.count == room, room <= limit else { return nil }
            room = min(room * 4, limit + 1)
        }
    }

    func readNext(into target: inout [UInt8], from index: Int, count: Int) throws -> Int {
        let read: Int
        if buffer.isEmpty {
            read = try readSource(at: position, into: &target, from: index, count: count)
        } else {
            read = min(count, buffer.count)
            target.replaceSubrange(index..<index + read, with: buffer[..<read])
            buffer.removeFirst(read)
        }
        position += UInt64(read)
        return read
    }

    func read(
        at offset: UInt64,
        into target: inout [UInt8],
        from index: Int,
        count: Int
    ) throws(ArchiveError) -> Int {
        try source.read(at: offset, into: &target, from: index, count: count)
    }

    private func readSource(
        at offset: UInt64,
        into target: inout [UInt8],
        from index: Int,
        count: Int
    ) throws -> Int {
        guard source.size != nil else {
            return try source.readNext(into: &target, from: index, count: count)
        }
        return try source.read(at: offset, into: &target, from: index, count: count)
    }
}

/// Bytes in memory, which are read in order.
final class ByteArraySource: ByteSource {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) {
        rest = bytes[...]
    }

    var size: UInt64? { nil }

    func readNext(into target: inout [UInt8], from index: Int, count: Int) throws -> Int {
        let read = min(count, rest.count)
        target.replaceSubrange(index..<index + read, with: rest.prefix(read))
        rest = rest.dropFirst(read)
        return read
    }

    func read(
        at offset: UInt64,
        into target: inout [UInt8],
        from index: Int,
        count: Int
    ) throws(ArchiveError) -> Int {
        preconditionFailure("bytes in memory are read in order")
    }
}
