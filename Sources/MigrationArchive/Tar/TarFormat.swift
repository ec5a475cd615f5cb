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

/// The kind of an entry, as the header's type flag says it.
enum TypeFlag {
    static let regular = UInt8(ascii: "0")
    static let regularOfOldTar: UInt8 = 0
    static let hardLink = UInt8(ascii: "1")
    static let symbolicLink = UInt8(ascii: "2")
    static let characterDevice = UInt8(ascii: "3")
    static let blockDevice = UInt8(ascii: "4")
    static let directory = UInt8(ascii: "5")
    static let fifo = UInt8(ascii: "6")
    static let contiguous = UInt8(ascii: "7")
    static let extendedHeader = UInt8(ascii: "x")
    static let globalHeader = UInt8(ascii: "g")
    static let solarisExtendedHeader = UInt8(ascii: "X")
    static let gnuLongName = UInt8(ascii: "L")
    static let gnuLongLink = UInt8(ascii: "K")
    static let gnuSparse = UInt8(ascii: "S")
    static let gnuDumpDirectory = UInt8(ascii: "D")
    static let gnuMultiVolume = UInt8(ascii: "M")
    static let gnuVolumeLabel = UInt8(ascii: "V")
}
