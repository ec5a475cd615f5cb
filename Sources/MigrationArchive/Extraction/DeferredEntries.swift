internal import MigrationSystem

/// The mode and time that a directory gets once it is complete.
///
/// What is made in it would change its time, or be kept from it by its mode.
struct DeferredDirectory: Equatable {
    let path: [UInt8]
    let permissions: UInt16
    let modificationTime: FileTime

    var record: [UInt8] {
        var bytes: [UInt8] = []
        bytes.appendLittleEndian(permissions)
        bytes.append(modificationTime)
        return bytes + path
    }

    init(path: [UInt8], permissions: UInt16, modificationTime: FileTime) {
        self.path = path
        self.permissions = permissions
        self.modificationTime = modificationTime
    }

    init(record: [UInt8]) {
        permissions = record.littleEndian(at: 0)
        modificationTime = record.time(at: 2)
        path = [UInt8](record[14...])
    }
}

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

extension [UInt8] {
    /// Appends the 12 bytes of `time`.
    mutating func append(_ time: FileTime) {
        appendLittleEndian(UInt64(bitPattern: time.seconds))
        appendLittleEndian(time.nanoseconds)
    }

    /// The time whose bytes begin at `index`.
    func time(at index: Int) -> FileTime {
        FileTime(
            seconds: Int64(bitPattern: littleEndian(at: index)),
            nanoseconds: littleEndian(at: index + 8)
        )
    }
}
