internal import CZstd

/// The constants of the frames that an archive is made of (RFC 8878, and the zstd seekable format).
enum FrameFormat {
    /// The bytes of the tar stream in every data frame but the last, which holds the rest.
    static let chunkSize = 4 << 20

    /// The bytes that a compressed frame may take.
    static let largestCompressedSize = ZSTD_compressBound(chunkSize) + 1024

    /// The first four bytes of a zstd frame, little-endian.
    static let zstdMagic: UInt32 = 0xFD2F_B528

    /// The first of the sixteen magics of skippable frames.
    static let skippableMagic: UInt32 = 0x184D_2A50

    /// The magic of the skippable frame that holds the index of entries.
    static let entryIndexMagic: UInt32 = 0x184D_2A5C

    /// The magic of the skippable frame that holds the hashes.
    static let integrityMagic: UInt32 = 0x184D_2A5D

    /// The magic of the skippable frame that holds the seek table.
    static let seekTableMagic: UInt32 = 0x184D_2A5E

    /// The last four bytes of a seek table, little-endian.
    static let seekTableFooterMagic: UInt32 = 0x8F92_EAB1

    /// The bytes of the footer that ends a seek table.
    static let seekTableFooterSize = 9

    /// The largest window that a frame of another program may ask for, as a power of two.
    static let windowLogLimit = 27
}
