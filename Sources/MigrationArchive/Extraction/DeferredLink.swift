internal import MigrationSystem

/// A link that is made after all files are there, so that nothing can be written through it.
struct DeferredLink: Equatable {
    enum Kind: UInt8 {
        case symbolic = 0
        case hard = 1
    }

    let kind: Kind
    let path: [UInt8]
    let target: [UInt8]
    let modificationTime: FileTime
    /// Where its header begins in the tar stream.
    let offset: UInt64

    var record: [UInt8] {
        var bytes = [kind.rawValue]
        bytes.append(modificationTime)
        bytes.appendLittleEndian(offset)
        bytes.appendLittleEndian(UInt32(path.count))
        return bytes + path + target
    }

    init(
        kind: Kind,
        path: [UInt8],
        target: [UInt8],
        modificationTime: FileTime,
        offset: UInt64
    ) {
        self.kind = kind
        self.path = path
        self.target = target
        self.modificationTime = modificationTime
        self.offset = offset
    }

    init(record: [UInt8]) {
        kind = record[0] == Kind.hard.rawValue ? .hard : .symbolic
        modificationTime = record.time(at: 1)
        offset = record.littleEndian(at: 13)
        let count = Int(record.littleEndian(at: 21, as: UInt32.self))
        path = [UInt8](record[25..<25 + count])
        target = [UInt8](record[(25 + count)...])
    }
}
