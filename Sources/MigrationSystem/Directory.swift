internal import CMigrationShims
internal import Glibc

/// Names in an open directory.
extension FileDescriptor {
    /// Makes a directory that must not exist yet.
    package borrowing func makeDirectory(
        _ name: [UInt8],
        permissions: UInt16
    ) throws(SystemError) {
        let rawValue = rawValue
        guard name.withPath({ unsafe mkdirat(rawValue, $0, mode_t(permissions)) }) == 0 else {
            throw SystemError("mkdir")
        }
    }

    /// Makes a symbolic link that must not exist yet.
    package borrowing func makeSymbolicLink(
        _ name: [UInt8],
        to target: [UInt8]
    ) throws(SystemError) {
        let rawValue = rawValue
        let result = name.withPath { name in
            target.withPath { target in unsafe symlinkat(target, rawValue, name) }
        }
        guard result == 0 else { throw SystemError("symlink") }
    }

    /// Makes `name` in this directory a hard link to `target` in `directory`; links are not followed.
    package borrowing func makeHardLink(
        _ name: [UInt8],
        to target: [UInt8],
        in directory: borrowing FileDescriptor
    ) throws(SystemError) {
        let (rawValue, source) = (rawValue, directory.rawValue)
        let result = name.withPath { name in
            target.withPath { target in unsafe linkat(source, target, rawValue, name, 0) }
        }
        guard result == 0 else { throw SystemError("link") }
    }

    /// Reads the target of a symbolic link of any length.
    package borrowing func symbolicLinkTarget(
        _ name: [UInt8]
    ) throws(SystemError) -> [UInt8] {
        let rawValue = rawValue
        var target = [UInt8](repeating: 0, count: 256)
        while true {
            let count = unsafe target.withUnsafeMutableBytes { buffer in
                name.withPath {
                    unsafe readlinkat(
                        rawValue,
                        $0,
                        buffer.assumingMemoryBound(to: CChar.self).baseAddress.unsafelyUnwrapped,
                        buffer.count
                    )
                }
            }
            if count < 0 { throw SystemError("readlink") }
            if count < target.count { return [UInt8](target[..<count]) }
            target = [UInt8](repeating: 0, count: target.count * 4)
        }
    }

    /// Removes anything except a directory.
    package borrowing func removeFile(_ name: [UInt8]) throws(SystemError) {
        let rawValue = rawValue
        guard name.withPath({ unsafe unlinkat(rawValue, $0, 0) }) == 0 else {
            throw SystemError("unlink")
        }
    }

    /// Removes an empty directory.
    package borrowing func removeDirectory(_ name: [UInt8]) throws(SystemError) {
        let rawValue = rawValue
        guard name.withPath({ unsafe unlinkat(rawValue, $0, AT_REMOVEDIR) }) == 0 else {
            throw SystemError("rmdir")
        }
    }
}

// MARK: - Asking what is possible

extension FileDescriptor {
    /// Throws unless this process may make and remove names in the directory.
    package borrowing func checkIsWritable() throws(SystemError) {
        guard unsafe faccessat(rawValue, ".", W_OK | X_OK, AT_EACCESS) == 0 else {
            throw SystemError("faccessat")
        }
    }

    /// Whether a name in this directory can be renamed into `other`: both must be on one file
    /// system and in one mount.
    package borrowing func isOfOneMount(
        with other: borrowing FileDescriptor
    ) throws(SystemError) -> Bool {
        guard try status().identity.device == other.status().identity.device else { return false }
        var (own, others): (UInt64, UInt64) = (0, 0)
        guard unsafe migration_mount_identifier(rawValue, &own) == 0,
            unsafe migration_mount_identifier(other.rawValue, &others) == 0
        else {
            let error = SystemError("statx")
            guard error.isUnsupported || error.isDenied else { throw error }
            // The rename itself will fail if not.
            return true
        }
        return own == others
    }
}

// MARK: - Renaming

extension FileDescriptor {
    /// Renames `name`; an existing file with the new name is replaced atomically.
    package borrowing func rename(
        _ name: [UInt8],
        to newName: [UInt8],
        in directory: borrowing FileDescriptor
    ) throws(SystemError) {
        guard rename(name, to: newName, in: directory, by: unsafe renameat) else {
            throw SystemError("rename")
        }
    }

    /// Replaces the file `name` in one step by one with `contents`, which survives a power loss.
    ///
    /// It is first written as `temporary`, replacing a file of that name. `prepare` gets the new,
    /// empty file.
    package borrowing func replaceFile(
        _ name: [UInt8],
        writing contents: [UInt8],
        as temporary: [UInt8],
        _ prepare: (OpenFile) throws(SystemError) -> Void = { _ in }
    ) throws(SystemError) {
        if try statusIfPresent(of: temporary) != nil { try removeFile(temporary) }
        let file = OpenFile(try open(temporary, .creating(permissions: 0o600)))
        do throws(SystemError) {
            try prepare(file)
            try file.descriptor.writeAll(contents.span)
            try file.descriptor.synchronize()
            try rename(temporary, to: name, in: self)
        } catch {
            // The caller needs this error, not one about cleaning up.
            try? removeFile(temporary)
            throw error
        }
        try synchronize()
    }

    /// Renames `name`, and fails if the new name exists.
    package borrowing func renameExclusively(
        _ name: [UInt8],
        to newName: [UInt8],
        in directory: borrowing FileDescriptor
    ) throws(SystemError) {
        let function = unsafe migration_rename_exclusive
        if rename(name, to: newName, in: directory, by: function) { return }
        let error = SystemError("renameat2")
        guard error.isUnsupported else { throw error }
        // Some file systems, such as NFS, can't do this atomically, so check first, then rename.
        guard try directory.statusIfPresent(of: newName) == nil else {
            throw SystemError("rename", code: SystemError.existingCode)
        }
        try rename(name, to: newName, in: directory)
    }

    /// Atomically exchanges `name` with `other` in `directory`.
    package borrowing func exchange(
        _ name: [UInt8],
        with other: [UInt8],
        in directory: borrowing FileDescriptor
    ) throws(SystemError) {
        guard rename(name, to: other, in: directory, by: unsafe migration_rename_exchange) else {
            throw SystemError("renameat2")
        }
    }

    /// Calls `function` to rename; returns whether it succeeded.
    @safe
    private borrowing func rename(
        _ name: [UInt8],
        to newName: [UInt8],
        in directory: borrowing FileDescriptor,
        by function: (CInt, UnsafePointer<CChar>, CInt, UnsafePointer<CChar>) -> CInt
    ) -> Bool {
        let (source, destination) = (rawValue, directory.rawValue)
        let result = name.withPath { name in
            newName.withPath { unsafe function(source, name, destination, $0) }
        }
        return result == 0
    }
}

// MARK: - Cursor

/// Opens directories beneath a root, one component at a time, without following links.
///
/// The ancestors of the current directory stay open, so moving to a nearby directory takes few calls.
/// Beyond ``openLevels``, the topmost ones are closed and reopened when needed.
package final class DirectoryCursor<Directory> {
    private let root: Directory
    private let open: (Directory, [UInt8]) throws(SystemError) -> Directory
    private var names: [[UInt8]] = []
    private var directories: [Directory?] = []

    /// The number of directories opened so far.
    package private(set) var openCount = 0

    /// The number of deepest directories that are open at once.
    static var openLevels: Int { 64 }

    /// Above them, one of this many levels stays open, so that a walk up doesn't start at the root
    /// again.
    static var stationLevels: Int { 512 }

    /// Starts at `root`; `open` opens a directory by its name in another without following links.
    package init(
        root: Directory,
        open: @escaping (Directory, [UInt8]) throws(SystemError) -> Directory
    ) {
        self.root = root
        self.open = open
    }

    /// The number of levels between the root and the current directory.
    package var depth: Int { names.count }

    /// The name of the current directory; `nil` for the root.
    package var deepestName: [UInt8]? { names.last }

    /// The open root.
    package var rootDirectory: Directory { root }

    /// Opens the directory at `path`, given as the names from the root down.
    package func directory(
        at path: some Collection<ArraySlice<UInt8>>
    ) throws(SystemError) -> Directory {
        let depth = reachedDepth(of: path)
        truncate(to: depth)
        for name in path.dropFirst(depth) { try descend(to: [UInt8](name)) }
        return try deepest()
    }

    /// The number of leading components that `path` shares with the current directory.
    package func reachedDepth(of path: some Collection<ArraySlice<UInt8>>) -> Int {
        var depth = 0
        for name in path {
            guard depth < names.count, names[depth][...] == name else { break }
            depth += 1
        }
        return depth
    }

    /// Closes the directories below `depth` levels; call it if one of them was replaced or removed.
    package func truncate(to depth: Int) {
        guard depth < names.count else { return }
        names.removeLast(names.count - depth)
        directories.removeLast(directories.count - depth)
    }

    /// Opens the directory `name` in the current one.
    @discardableResult
    package func descend(to name: [UInt8]) throws(SystemError) -> Directory {
        let parent = try deepest()
        let child = try open(parent, name)
        openCount += 1
        names.append(name)
        directories.append(child)
        let closed = directories.count - 1 - Self.openLevels
        if closed >= 0, closed % Self.stationLevels != 0 { directories[closed] = nil }
        return child
    }

    /// The current directory: the deepest one that was opened, even if the rest of a path is missing.
    package func deepest() throws(SystemError) -> Directory {
        guard let last = directories.last else { return root }
        if let last { return last }
        try reopen()
        return try deepest()
    }

    /// Reopens the deepest levels, starting at the nearest ancestor that is still open.
    private func reopen() throws(SystemError) {
        var depth = directories.count
        while depth > 0, directories[depth - 1] == nil { depth -= 1 }
        var directory = depth == 0 ? root : directories[depth - 1] ?? root
        for level in depth..<directories.count {
            directory = try open(directory, names[level])
            openCount += 1
            if level >= directories.count - Self.openLevels || level % Self.stationLevels == 0 {
                directories[level] = directory
            }
        }
    }
}

extension DirectoryCursor<OpenFile> {
    /// Starts at `root`.
    package convenience init(root: OpenFile) {
        self.init(root: root) { directory, name throws(SystemError) in
            OpenFile(try directory.descriptor.open(name, .directory))
        }
    }
}

// MARK: - Listing

/// The names in a directory, in byte order, packed so that a million of them take little memory.
package struct DirectoryListing: RandomAccessCollection, Sendable {
    private var bytes: [UInt8] = []
    private var ranges: [Slot] = []

    private struct Slot {
        let start: UInt32
        let count: UInt16
        let type: UInt8
    }

    package var startIndex: Int { 0 }

    /// The number of names, without `.` and `..`.
    package var endIndex: Int { ranges.count }

    /// The size of the listing in memory, in bytes.
    var allocatedBytes: Int { bytes.capacity + ranges.capacity * MemoryLayout<Slot>.stride }

    /// The name at `index`, counted from the smallest.
    package subscript(index: Int) -> [UInt8] {
        let slot = ranges[index]
        let start = Int(slot.start)
        return [UInt8](bytes[start..<start + Int(slot.count)])
    }

    /// The path of the name at `index`, if `directory` is the path of its directory.
    package func path(at index: Int, beneath directory: [UInt8]) -> [UInt8] {
        let start = Int(ranges[index].start)
        let name = bytes[start..<start + Int(ranges[index].count)]
        var path: [UInt8] = []
        path.reserveCapacity(directory.count + 1 + name.count)
        if !directory.isEmpty {
            path += directory
            path.append(UInt8(ascii: "/"))
        }
        path += name
        return path
    }

    /// Whether the directory entry at `index` says that it is a regular file.
    ///
    /// Some file systems don't record the type in directory entries.
    package func saysRegularFile(at index: Int) -> Bool { ranges[index].type == UInt8(DT_REG) }

    /// The status of the file at `index` in `directory`; a link is not followed.
    package func status(
        at index: Int,
        in directory: borrowing FileDescriptor
    ) throws(SystemError) -> FileStatus {
        var status = stat()
        let rawValue = directory.rawValue
        let result = withName(at: index) {
            unsafe fstatat(rawValue, $0, &status, AT_SYMLINK_NOFOLLOW)
        }
        guard result == 0 else { throw SystemError("lstat") }
        return FileStatus(status)
    }

    @safe
    private func withName(at index: Int, _ body: (UnsafePointer<CChar>) -> CInt) -> CInt {
        let start = Int(ranges[index].start)
        return unsafe bytes.withUnsafeBytes { bytes in
            let names = unsafe bytes.assumingMemoryBound(to: CChar.self)
            return unsafe body(names.baseAddress.unsafelyUnwrapped.advanced(by: start))
        }
    }

    /// Larger directories are counted before they are stored, because growing an array takes up to three
    /// times the memory.
    private static let uncountedLimit = 1 << 12

    /// Reads the names in `directory`, from its start.
    package init(of directory: borrowing FileDescriptor) throws(SystemError) {
        if try !read(directory.rawValue, atMost: Self.uncountedLimit) {
            let (names, size) = try Self.count(directory.rawValue)
            (bytes, ranges) = ([], [])
            bytes.reserveCapacity(size)
            ranges.reserveCapacity(names)
            _ = try read(directory.rawValue, atMost: .max)
        }
        sort()
    }

    /// Reads the names from the start; returns `false` if there are more than `limit`.
    private mutating func read(_ directory: CInt, atMost limit: Int) throws(SystemError) -> Bool {
        guard lseek(directory, 0, SEEK_SET) == 0 else { throw SystemError("lseek") }
        var buffer = Self.makeBuffer()
        while ranges.count <= limit {
            let count = try Self.fill(&buffer, from: directory)
            if count == 0 { return true }
            Self.forEachName(in: buffer.span.extracting(first: count)) { add($0, type: $1) }
        }
        return false
    }

    /// Counts the names and their bytes.
    private static func count(_ directory: CInt) throws(SystemError) -> (names: Int, size: Int) {
        guard lseek(directory, 0, SEEK_SET) == 0 else { throw SystemError("lseek") }
        var (names, size) = (0, 0)
        var buffer = makeBuffer()
        while true {
            let count = try fill(&buffer, from: directory)
            if count == 0 { return (names, size) }
            forEachName(in: buffer.span.extracting(first: count)) { name, _ in
                names += 1
                size += name.count + 1
            }
        }
    }

    /// Makes an uninitialized buffer for names: clearing it would take longer than listing most
    /// directories.
    private static func makeBuffer() -> [UInt8] {
        let size = 32 * 1024
        return unsafe [UInt8](unsafeUninitializedCapacity: size) { _, count in count = size }
    }

    private static func fill(
        _ buffer: inout [UInt8],
        from directory: CInt
    ) throws(SystemError) -> Int {
        try retryingOnInterrupt("getdents64") {
            unsafe buffer.withUnsafeMutableBytes {
                unsafe migration_read_directory(
                    directory,
                    $0.baseAddress.unsafelyUnwrapped,
                    $0.count
                )
            }
        }
    }

    /// Parses the records of getdents64(2): inode 8, offset 8, length 2, type 1, name.
    private static func forEachName(
        in records: Span<UInt8>,
        _ body: (_ name: Span<UInt8>, _ type: UInt8) -> Void
    ) {
        var position = 0
        while position < records.count {
            let length = Int(records[position + 16]) | Int(records[position + 17]) << 8
            defer { position += length }
            let padded = records.extracting(position + 19..<position + length)
            let name = padded.extracting(first: padded.firstIndex(of: 0) ?? padded.count)
            let isSelf = name.count == 1 && name[0] == UInt8(ascii: ".")
            let isParent =
                name.count == 2 && name[0] == UInt8(ascii: ".") && name[1] == UInt8(ascii: ".")
            if isSelf || isParent { continue }
            body(name, records[position + 18])
        }
    }

    private mutating func add(_ name: Span<UInt8>, type: UInt8) {
        let slot = Slot(start: UInt32(bytes.count), count: UInt16(name.count), type: type)
        ranges.append(slot)
        bytes.append(copying: name)
        // Each name ends with a zero byte, so it can be passed to system calls in place.
        bytes.append(0)
    }

    private mutating func sort() {
        unsafe bytes.withUnsafeBytes { bytes in
            guard let names = unsafe bytes.assumingMemoryBound(to: CChar.self).baseAddress else {
                return
            }
            // `strcmp` compares bytes, whatever the locale.
            ranges.sort { unsafe strcmp(names + Int($0.start), names + Int($1.start)) < 0 }
        }
    }
}
