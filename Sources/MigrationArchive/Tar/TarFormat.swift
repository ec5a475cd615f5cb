/// The constants of the tar format (POSIX.1-2017, pax, "ustar Interchange Format").
enum TarFormat {
    /// The bytes of a block; headers are one block, contents are padded to whole ones.
    static let blockSize = 512

    /// The largest size and time that an octal field of 12 bytes holds.
    static let largestOctal: UInt64 = 0o77_777_777_777

    /// The bytes of pax records that a header may carry.
    static let recordLimit = 1 << 20

    /// The bytes that a path or a link target may have.
    static let pathLimit = 65_535

    /// The bytes that one component of a path may have.
    static let componentLimit = 255

    /// Returns `size` rounded up to whole blocks.
    static func padded(_ size: UInt64) -> UInt64 {
        (size + UInt64(blockSize - 1)) & ~UInt64(blockSize - 1)
    }

    /// Returns `count` rounded up to whole blocks.
    static func padded(_ count: Int) -> Int {
        (count + blockSize - 1) & ~(blockSize - 1)
    }
}
