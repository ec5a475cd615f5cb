internal import MigrationSystem

/// The modes, times and access control lists of directories, set after everything in them is made.
///
/// An entry made in a directory changes its time, and the mode may forbid making one.
final class DeferredDirectories {
    /// The limit for the paths of directories that can't be entered once they have their modes.
    private static let closedBytesLimit = 8 << 20

    private let options: ArchiveExtractor.Options
    private let tree: RestoredTree
    private let spool: RecordSpool
    private var redeclared = PathHashes(of: "directories that come twice")
    private var finished = PathHashes(of: "directories that come twice")

    init(
        of tree: RestoredTree,
        options: ArchiveExtractor.Options,
        makeFile: @escaping () throws(SystemError) -> FileDescriptor
    ) {
        self.tree = tree
        self.options = options
        spool = RecordSpool(makeFile: makeFile)
    }

    /// Adds the directory of `entry`, which gets `permissions`.
    func add(_ entry: ArchiveEntry, permissions: UInt16) throws(SystemError) {
        let directory = DeferredDirectory(
            path: entry.path.bytes,
            permissions: permissions,
            modificationTime: entry.modificationTime,
            accessLists: entry.extendedAttributes.accessLists
        )
        try spool.append(directory.record)
    }

    /// Records that the directory at `path` occurs again, so that its last entry counts.
    func redeclare(_ path: EntryPath) throws(ArchiveError) {
        try redeclared.insert(path)
    }

    /// Gives all directories their modes and times.
    ///
    /// Those that can't be entered afterwards come last, each after those in it.
    func finish() throws {
        var closed: [DeferredDirectory] = []
        var closedBytes = 0
        try spool.forEachReversed { record in
            let directory = DeferredDirectory(record: record)
            let path = EntryPath(bytes: directory.path)
            if redeclared.contains(path) {
                guard try finished.insert(path) else { return }
            }
            if directory.permissions & 0o500 == 0o500 { return try finish(directory) }
            closed.append(directory)
            closedBytes += directory.path.count
            guard closedBytes <= Self.closedBytesLimit else {
                let message = "the archive holds too many directories that nobody may enter"
                throw ArchiveError(.refused, message, entry: path)
            }
        }
        closed.sort { EntryPath(bytes: $0.path).isLeft(before: EntryPath(bytes: $1.path)) }
        for directory in closed { try finish(directory) }
    }

    private func finish(_ directory: DeferredDirectory) throws(ArchiveError) {
        let path = EntryPath(bytes: directory.path)
        do throws(SystemError) {
            try tree.directory(at: path).finish(
                permissions: directory.permissions,
                modificationTime: directory.modificationTime,
                accessLists: directory.accessLists
            )
        } catch {
            if error.isMissing, options.linkTargets.contains(path) { return }
            throw ArchiveError(error, restoring: path)
        }
    }

    /// Forgets all directories.
    func close() { spool.close() }
}

/// The mode, time and access control lists of one directory, kept until the end.
struct DeferredDirectory: Equatable {
    let path: [UInt8]
    let permissions: UInt16
    let modificationTime: FileTime
    let accessLists: [ExtendedAttribute]

    /// The bytes of a record before its path.
    private static let headSize = 18

    var record: [UInt8] {
        var bytes: [UInt8] = []
        bytes.appendLittleEndian(permissions)
        bytes.append(modificationTime)
        bytes.appendLittleEndian(UInt32(path.count))
        bytes += path
        for list in accessLists {
            bytes.appendLittleEndian(UInt32(list.name.count))
            bytes.appendLittleEndian(UInt32(list.value.count))
            bytes += list.name + list.value
        }
        return bytes
    }

    init(
        path: [UInt8],
        permissions: UInt16,
        modificationTime: FileTime,
        accessLists: [ExtendedAttribute] = []
    ) {
        self.path = path
        self.permissions = permissions
        self.modificationTime = modificationTime
        self.accessLists = accessLists
    }

    init(record: [UInt8]) {
        permissions = record.littleEndian(at: 0)
        modificationTime = record.time(at: 2)
        var position = Self.headSize + Int(record.littleEndian(at: 14, as: UInt32.self))
        path = [UInt8](record[Self.headSize..<position])
        var lists: [ExtendedAttribute] = []
        while position < record.count {
            let nameEnd = position + 8 + Int(record.littleEndian(at: position, as: UInt32.self))
            let end = nameEnd + Int(record.littleEndian(at: position + 4, as: UInt32.self))
            let name = [UInt8](record[position + 8..<nameEnd])
            lists.append(ExtendedAttribute(name: name, value: [UInt8](record[nameEnd..<end])))
            position = end
        }
        accessLists = lists
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
