package import MigrationSystem

/// Records kept for later, in memory while there are few, and in an unnamed file when there are
/// many.
///
/// Records can be read in either direction.
package final class RecordSpool {
    private static let memoryLimit = 1 << 20

    private let makeFile: () throws(SystemError) -> FileDescriptor
    private var file: OpenFile?
    private var fileSize: UInt64 = 0
    private var memory: [UInt8] = []

    /// Makes an empty spool; `makeFile` is called when it no longer fits into memory.
    package init(makeFile: @escaping () throws(SystemError) -> FileDescriptor) {
        self.makeFile = makeFile
    }

    /// Adds `record` with its length before and after it; returns its position.
    @discardableResult
    package func append(_ record: [UInt8]) throws(SystemError) -> UInt64 {
        let position = fileSize + UInt64(memory.count)
        memory.appendLittleEndian(UInt32(record.count))
        memory += record
        memory.appendLittleEndian(UInt32(record.count))
        if memory.count >= Self.memoryLimit { try spill() }
        return position
    }

    /// The record that ``append(_:)`` stored at `position`.
    func record(at position: UInt64) throws(SystemError) -> [UInt8] {
        let count = try bytes(at: position, count: 4).littleEndian(at: 0, as: UInt32.self)
        return try bytes(at: position + 4, count: Int(count))
    }

    private func spill() throws(SystemError) {
        if file == nil { file = OpenFile(try makeFile()) }
        let bytes = memory
        try file?.descriptor.writeAll(bytes.span, at: fileSize)
        fileSize += UInt64(bytes.count)
        memory = []
    }

    /// Forgets every record, and closes the file, which some file systems list while it is open.
    func close() {
        (file, fileSize, memory) = (nil, 0, [])
    }

    /// Passes every record to `body`, the first one first.
    func forEach(_ body: ([UInt8]) throws -> Void) throws {
        let size = fileSize + UInt64(memory.count)
        var position: UInt64 = 0
        while position < size {
            let count = Int(try bytes(at: position, count: 4).littleEndian(at: 0, as: UInt32.self))
            try body(try bytes(at: position + 4, count: count))
            position += UInt64(count) + 8
        }
    }

    /// Passes every record to `body`, the last one first.
    package func forEachReversed(_ body: ([UInt8]) throws -> Void) throws {
        var end = fileSize + UInt64(memory.count)
        while end > 0 {
            let count = Int(try bytes(at: end - 4, count: 4).littleEndian(at: 0, as: UInt32.self))
            end -= UInt64(count) + 8
            try body(try bytes(at: end + 4, count: count))
        }
    }

    private func bytes(at position: UInt64, count: Int) throws(SystemError) -> [UInt8] {
        if position >= fileSize {
            let start = Int(position - fileSize)
            return [UInt8](memory[start..<start + count])
        }
        var bytes = [UInt8](repeating: 0, count: count)
        var done = 0
        while done < count {
            let offset = position + UInt64(done)
            let read = try file?.descriptor.read(
                at: offset,
                into: &bytes,
                from: done,
                count: count - done
            )
            guard let read, read > 0 else { throw SystemError("pread", code: 0) }
            done += read
        }
        return bytes
    }
}
