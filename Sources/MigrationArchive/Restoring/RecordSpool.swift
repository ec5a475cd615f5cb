package import MigrationSystem

/// Records kept for later, in memory while there are few, and in an unnamed file when there are
/// many.
///
/// Records can be read in either direction.
package final class RecordSpool {
    private static let memoryLimit = 1 << 20

    private let directory: OpenFile?
    private var file: OpenFile?
    /// How much is in the file.
    private(set) var fileSize: UInt64 = 0
    private var memory: [UInt8] = []

    /// Makes an empty spool, whose file will be in `directory`, or in the one for temporary files.
    package init(in directory: OpenFile?) { self.directory = directory }

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
        if file == nil { file = OpenFile(try .openTemporary(in: directory)) }
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
            let record = try record(at: position)
            try body(record)
            position += UInt64(record.count) + 8
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
        guard try file?.descriptor.fill(&bytes, count: count, at: position) == count else {
            throw SystemError("pread", code: 0)
        }
        return bytes
    }
}

extension FileDescriptor {
    /// Opens a file in `directory`, or in the one for temporary files; it is deleted when it is closed.
    static func openTemporary(in directory: OpenFile?) throws(SystemError) -> FileDescriptor {
        if let directory { return try directory.descriptor.openTemporary() }
        do throws(SystemError) {
            let place = try openFollowingLinks(Environment.temporaryDirectory, .directory)
            return try place.openTemporary()
        } catch {
            throw SystemError(ArchiveError.temporaryCall, code: error.code)
        }
    }
}

// MARK: - Entries in records

extension ArchiveEntry {
    /// The bytes of a record before the path and what else has any length.
    private static let headSize = 23

    /// The entry without its content, for a spool.
    var record: [UInt8] {
        let (number, target): (UInt8, [UInt8]) =
            switch kind {
            case .directory, .file: (0, [])
            case .symbolicLink(let target): (1, target)
            case .hardLink(let target): (2, target.bytes)
            }
        var bytes: [UInt8] = [number]
        bytes.appendLittleEndian(permissions)
        bytes.appendLittleEndian(UInt64(bitPattern: modificationTime.seconds))
        bytes.appendLittleEndian(modificationTime.nanoseconds)
        // The largest number is never an owner.
        bytes.appendLittleEndian(owner?.user ?? .max)
        bytes.appendLittleEndian(owner?.group ?? .max)
        let texts = [path.bytes, target] + extendedAttributes.flatMap { [$0.name, $0.value] }
        for text in texts {
            bytes.appendLittleEndian(UInt32(text.count))
            bytes += text
        }
        return bytes
    }

    /// Reads the record of a directory or a link.
    init(record: ArraySlice<UInt8>) {
        let start = record.startIndex
        var texts: [[UInt8]] = []
        var position = start + Self.headSize
        while position < record.endIndex {
            let end = position + 4 + Int(record.littleEndian(at: position, as: UInt32.self))
            texts.append([UInt8](record[position + 4..<end]))
            position = end
        }
        let kind: Kind =
            switch record[start] {
            case 0: .directory
            case 1: .symbolicLink(target: texts[1])
            default: .hardLink(target: EntryPath(bytes: texts[1]))
            }
        let owner = FileOwner(
            user: record.littleEndian(at: start + 15),
            group: record.littleEndian(at: start + 19)
        )
        self.init(
            path: EntryPath(bytes: texts[0]),
            kind: kind,
            permissions: record.littleEndian(at: start + 1),
            modificationTime: FileTime(
                seconds: Int64(bitPattern: record.littleEndian(at: start + 3)),
                nanoseconds: record.littleEndian(at: start + 11)
            ),
            extendedAttributes: stride(from: 2, to: texts.count, by: 2).map {
                ExtendedAttribute(name: texts[$0], value: texts[$0 + 1])
            },
            owner: owner.isStorable ? owner : nil
        )
    }
}
