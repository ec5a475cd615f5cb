internal import CMigrationShims
internal import Glibc

/// The names in a directory, in byte order, packed so that a million of them stay small.
package struct DirectoryListing: Sendable {
    private var bytes: [UInt8] = []
    private var ranges: [Slot] = []

    private struct Slot {
        let start: UInt32
        let count: UInt16
    }

    /// How many names there are; `.` and `..` are none.
    package var count: Int { ranges.count }

    /// The name at `index`, counted from the smallest.
    package subscript(index: Int) -> ByteString {
        let slot = ranges[index]
        let start = Int(slot.start)
        return ByteString(bytes[start..<start + Int(slot.count)])
    }

    /// Reads the names in `directory`, from its start.
    package init(of directory: borrowing FileDescriptor) throws(SystemError) {
        guard lseek(directory.rawValue, 0, SEEK_SET) == 0 else { throw SystemError("lseek") }
        var buffer = [UInt8](repeating: 0, count: 32 * 1024)
        while true {
            let count = try Self.fill(&buffer, from: directory.rawValue)
            if count == 0 { break }
            parse(buffer.span.extracting(first: count))
        }
        sort()
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
    private mutating func parse(_ records: Span<UInt8>) {
        var position = 0
        while position < records.count {
            let length = Int(records[position + 16]) | Int(records[position + 17]) << 8
            var end = position + 19
            while records[end] != 0 { end += 1 }
            let name = records.extracting(position + 19..<end)
            position += length
            let isSelf = name.count == 1 && name[0] == UInt8(ascii: ".")
            let isParent =
                name.count == 2 && name[0] == UInt8(ascii: ".") && name[1] == UInt8(ascii: ".")
            if isSelf || isParent { continue }
            ranges.append(Slot(start: UInt32(bytes.count), count: UInt16(name.count)))
            for index in name.indices { bytes.append(name[index]) }
        }
    }

    private mutating func sort() {
        let bytes = bytes
        ranges.sort { left, right in
            let shared = Int(min(left.count, right.count))
            for offset in 0..<shared {
                let first = bytes[Int(left.start) + offset]
                let second = bytes[Int(right.start) + offset]
                if first != second { return first < second }
            }
            return left.count < right.count
        }
    }
}
