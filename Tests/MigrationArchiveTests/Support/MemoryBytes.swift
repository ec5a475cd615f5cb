@testable internal import MigrationArchive

/// Bytes in memory, read as from a file or, in uneven pieces, as from a pipe.
final class MemoryBytes: ByteSource {
    private let bytes: [UInt8]
    private let isSequential: Bool
    private var position = 0
    private var pieceSize = 1

    init(_ bytes: [UInt8], isSequential: Bool) {
        self.bytes = bytes
        self.isSequential = isSequential
    }

    var size: UInt64? { isSequential ? nil : UInt64(bytes.count) }

    func read(
        at offset: UInt64,
        into target: inout [UInt8],
        from index: Int,
        count: Int
    ) throws -> Int {
        var limit = count
        if isSequential {
            precondition(position == Int(offset), "bytes were left out, or are read again")
            pieceSize = pieceSize % 70_000 + 777
            limit = min(count, pieceSize)
        }
        let part = bytes.dropFirst(Int(offset)).prefix(limit)
        target.replaceSubrange(index..<index + part.count, with: part)
        if isSequential { position += part.count }
        return part.count
    }
}

/// Bytes in memory that count what is read of them.
final class CountingBytes: ByteSource {
    private let source: MemoryBytes
    /// How often some were asked for.
    private(set) var calls = 0
    private(set) var readBytes = 0

    init(_ bytes: [UInt8], isSequential: Bool = false) {
        source = MemoryBytes(bytes, isSequential: isSequential)
    }

    var size: UInt64? { source.size }

    func read(
        at offset: UInt64,
        into target: inout [UInt8],
        from index: Int,
        count: Int
    ) throws -> Int {
        calls += 1
        let read = try source.read(at: offset, into: &target, from: index, count: count)
        readBytes += read
        return read
    }
}

extension ByteReader {
    /// Appends the rest of the content to `content`, including the part before a failure.
    func readAll(into content: inout [UInt8]) throws {
        var buffer = [UInt8](repeating: 0, count: 100_000)
        while true {
            let read = try read(into: &buffer, from: 0, count: buffer.count)
            if read == 0 { return }
            content += buffer[..<read]
        }
    }
}
