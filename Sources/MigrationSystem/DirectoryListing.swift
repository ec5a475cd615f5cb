internal import CMigrationShims
internal import Glibc

/// The names in a directory, in byte order, packed so that a million of them stay small.
package struct DirectoryListing: Sendable {
    private var bytes: [UInt8] = []
    private var ranges: [Slot] = []

    private struct Slot {
        let start: UInt32
        let count: UInt16
        let type: UInt8
    }

    /// How many names there are; `.` and `..` are none.
    package var count: Int { ranges.count }

    /// The bytes of memory that the listing has taken.
    var allocatedBytes: Int { bytes.capacity + ranges.capacity * MemoryLayout<Slot>.stride }

    /// The name at `index`, counted from the smallest.
    package subscript(index: Int) -> ByteString {
        let slot = ranges[index]
        let start = Int(slot.start)
        return ByteString(bytes[start..<start + Int(slot.count)])
    }

    /// The name at `index` after `directory`, the path of the directory that has it, and a slash.
    package func path(at index: Int, beneath directory: ByteString) -> ByteString {
        let start = Int(ranges[index].start)
        let name = bytes[start..<start + Int(ranges[index].count)]
        var path = ByteString()
        path.reserveCapacity(directory.count + 1 + name.count)
        if !directory.isEmpty {
            path += directory
            path.append(UInt8(ascii: "/"))
        }
        path += name
        return path
    }

    /// Whether the directory itself said that the name at `index` is a regular file's.
    ///
    /// Some file systems never say it of any.
    package func saysRegularFile(at index: Int) -> Bool { ranges[index].type == UInt8(DT_REG) }

    /// What the system knows of the name at `index` in `directory`; a link is not followed.
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

    /// More names than this are counted before they are kept: growing takes up to three times the
    /// memory.
    private static let uncountedLimit = 1 << 15

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

    /// Reads the names from the start; returns `false` where there are more than `limit`.
    private mutating func read(_ directory: CInt, atMost limit: Int) throws(SystemError) -> Bool {
        guard lseek(directory, 0, SEEK_SET) == 0 else { throw SystemError("lseek") }
        var buffer = [UInt8](repeating: 0, count: 32 * 1024)
        while ranges.count <= limit {
            let count = try Self.fill(&buffer, from: directory)
            if count == 0 { return true }
            Self.forEachName(in: buffer.span.extracting(first: count)) { add($0, type: $1) }
        }
        return false
    }

    /// Counts the names, and the bytes that they take.
    private static func count(_ directory: CInt) throws(SystemError) -> (names: Int, size: Int) {
        guard lseek(directory, 0, SEEK_SET) == 0 else { throw SystemError("lseek") }
        var (names, size) = (0, 0)
        var buffer = [UInt8](repeating: 0, count: 32 * 1024)
        while true {
            let count = try fill(&buffer, from: directory)
            if count == 0 { return (names, size) }
            forEachName(in: buffer.span.extracting(first: count)) { name, _ in
                names += 1
                size += name.count + 1
            }
        }
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

    /// Takes the names out of records laid out as getdents64(2) says: inode 8, offset 8, length 2, type 1, name.
    private static func forEachName(
        in records: Span<UInt8>,
        _ body: (_ name: Span<UInt8>, _ type: UInt8) -> Void
    ) {
        var position = 0
        while position < records.count {
            let length = Int(records[position + 16]) | Int(records[position + 17]) << 8
            var end = position + 19
            while records[end] != 0 { end += 1 }
            defer { position += length }
            let name = records.extracting(position + 19..<end)
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
        for index in name.indices { bytes.append(name[index]) }
        // Each name ends as a C string does, so that calls take it where it lies.
        bytes.append(0)
    }

    private mutating func sort() {
        unsafe bytes.withUnsafeBytes { bytes in
            ranges.sort { unsafe Self.precedes($0, $1, in: bytes) }
        }
    }

    private static func precedes(
        _ left: Slot,
        _ right: Slot,
        in bytes: UnsafeRawBufferPointer
    ) -> Bool {
        let first = unsafe bytes[Int(left.start)...].prefix(Int(left.count))
        let second = unsafe bytes[Int(right.start)...].prefix(Int(right.count))
        let order = unsafe memcmp(
            UnsafeRawBufferPointer(rebasing: first).baseAddress.unsafelyUnwrapped,
            UnsafeRawBufferPointer(rebasing: second).baseAddress.unsafelyUnwrapped,
            Int(min(left.count, right.count))
        )
        return order == 0 ? left.count < right.count : order < 0
    }
}
