package import MigrationSystem

/// A header block as bytes, with the fields of the ustar format.
package struct UstarBlock {
    package enum Field {
        package static let name = 0..<100
        package static let mode = 100..<108
        package static let userID = 108..<116
        package static let groupID = 116..<124
        package static let size = 124..<136
        package static let modificationTime = 136..<148
        static let checksum = 148..<156
        package static let typeFlag = 156
        static let linkName = 157..<257
        package static let magic = 257..<263
        static let version = 263..<265
        static let deviceMajor = 329..<337
        static let deviceMinor = 337..<345
        package static let prefix = 345..<500
        /// Where GNU tar's old headers keep the first extents of a sparse file.
        static let gnuSparseMap = 386..<482
        static let gnuIsExtended = 482
        static let gnuRealSize = 483..<495
        static let gnuSparseExtension = 0..<504
        static let gnuExtensionIsExtended = 504
    }

    var bytes = [512 of UInt8](repeating: 0)

    package subscript(index: Int) -> UInt8 { bytes[index] }

    /// Writes `piece` at `start`.
    mutating func copy(_ piece: Span<UInt8>, to start: Int) {
        var span = bytes.mutableSpan
        span.copy(piece, to: start)
    }

    /// Whether every byte is zero, as in the blocks that end a tar stream.
    package var isZero: Bool {
        let span = bytes.span
        for index in span.indices where span[index] != 0 { return false }
        return true
    }
}

// MARK: - Writing fields

extension UstarBlock {
    /// The bytes that are the same in all headers.
    private static let form: UstarBlock = {
        var form = UstarBlock()
        var span = form.bytes.mutableSpan
        span.copy([UInt8]("ustar\u{0}00".utf8).span, to: Field.magic.lowerBound)
        for field in [Field.userID, Field.groupID, Field.deviceMajor, Field.deviceMinor] {
            setOctal(0, at: field, in: &span)
        }
        for index in Field.checksum { span[index] = UInt8(ascii: " ") }
        return form
    }()

    /// Makes a header of the ustar format without user and group names; the owner is root if
    /// `owner` is `nil`.
    package init(
        name: ArraySlice<UInt8>,
        prefix: ArraySlice<UInt8>,
        permissions: UInt16,
        size: UInt64,
        modificationTime: UInt64,
        typeFlag: UInt8,
        linkName: ArraySlice<UInt8>,
        owner: FileOwner? = nil
    ) {
        self = Self.form
        var span = bytes.mutableSpan
        span.copy(name.span, to: Field.name.lowerBound)
        Self.setOctal(UInt64(permissions), at: Field.mode, in: &span)
        if let owner {
            Self.setOctal(UInt64(owner.user), at: Field.userID, in: &span)
            Self.setOctal(UInt64(owner.group), at: Field.groupID, in: &span)
        }
        Self.setOctal(size, at: Field.size, in: &span)
        Self.setOctal(modificationTime, at: Field.modificationTime, in: &span)
        span[Field.typeFlag] = typeFlag
        span.copy(linkName.span, to: Field.linkName.lowerBound)
        span.copy(prefix.span, to: Field.prefix.lowerBound)
        Self.setChecksum(in: &span)
    }

    /// Writes digits into the whole field except its last byte, which stays zero.
    private static func setOctal(
        _ value: UInt64,
        at field: Range<Int>,
        in span: inout MutableSpan<UInt8>
    ) {
        var rest = value
        var index = field.upperBound - 1
        while index > field.lowerBound {
            index &-= 1
            span[index] = UInt8(ascii: "0") | UInt8(truncatingIfNeeded: rest & 7)
            rest >>= 3
        }
    }

    /// Writes six digits, a zero and a space into a field that is all spaces.
    private static func setChecksum(in span: inout MutableSpan<UInt8>) {
        let field = Field.checksum
        let sum = span.span.sum
        setOctal(sum, at: field.lowerBound..<field.upperBound - 1, in: &span)
        span[field.upperBound - 2] = 0
    }
}

// MARK: - Reading fields

extension UstarBlock {
    /// The sum of the bytes, with the checksum field counted as spaces.
    var checksum: UInt64 { Self.checksum(of: bytes.span) }

    private static func checksum(of block: Span<UInt8>) -> UInt64 {
        let spaces = UInt64(UInt8(ascii: " ")) * UInt64(Field.checksum.count)
        return block.sum - block.extracting(Field.checksum).sum + spaces
    }

    /// The same sum as some old tars compute it, with signed bytes.
    var signedChecksum: Int64 {
        var sum = Int64(checksum)
        for index in bytes.indices where bytes[index] >= 0x80 && !Field.checksum.contains(index) {
            sum -= 256
        }
        return sum
    }

    /// Whether the block's checksum is valid, by any of the algorithms that tars have used.
    package var hasValidChecksum: Bool {
        // Some tars leave the end of an older number after the new one.
        guard let stored = octal(at: Field.checksum, thenBlank: false) else { return false }
        return stored == checksum || Int64(exactly: stored) == signedChecksum
    }

    /// The bytes of a text field up to its first zero.
    package func text(at field: Range<Int>) -> [UInt8] {
        let field = bytes.span.extracting(field)
        return [UInt8](copying: field.extracting(first: field.firstIndex(of: 0) ?? field.count))
    }

    /// Whether the magic is POSIX's, whose headers have a prefix field.
    package var isPOSIX: Bool { text(at: Field.magic) == [UInt8]("ustar".utf8) }

    /// An octal number with spaces or zeros around it; a blank field is 0.
    ///
    /// The result is `nil` if it isn't a number. Everything after the digits must be blank, or only the first byte if `thenBlank` is `false`.
    func octal(at field: Range<Int>, thenBlank: Bool = true) -> UInt64? {
        let span = bytes.span
        var index = field.lowerBound
        while index < field.upperBound, span[index] == UInt8(ascii: " ") { index += 1 }
        var value: UInt64 = 0
        while index < field.upperBound {
            let digit = span[index] &- UInt8(ascii: "0")
            if digit > 7 { break }
            guard value >> 61 == 0 else { return nil }
            value = value << 3 | UInt64(digit)
            index += 1
        }
        while index < field.upperBound {
            guard span[index] == 0 || span[index] == UInt8(ascii: " ") else { return nil }
            if !thenBlank { break }
            index += 1
        }
        return value
    }

    /// A number in octal or, with its first bit set, in base 256; `nil` if it is invalid or too large.
    package func number(at field: Range<Int>) -> Int64? {
        let first = bytes[field.lowerBound]
        guard first & 0x80 != 0 else {
            return octal(at: field).flatMap { Int64(exactly: $0) }
        }
        let isNegative = first & 0x40 != 0
        var value: Int64 = isNegative ? -1 : 0
        for index in field {
            var byte = bytes[index]
            if index == field.lowerBound { byte = isNegative ? byte | 0x80 : byte & 0x7F }
            let (product, overflow) = value.multipliedReportingOverflow(by: 256)
            if overflow { return nil }
            value = product | Int64(byte)
        }
        return value
    }
}

// MARK: - Reading fields that are exactly as they are written

extension UstarBlock {
    /// The bytes of a header in which no field is filled.
    private static let unfilled = [UInt8](copying: form.bytes.span)

    /// Whether the bytes of `block` in `range` are those of a header in which no field is filled.
    private static func isUnfilled(_ block: Span<UInt8>, in range: Range<Int>) -> Bool {
        block.extracting(range).isEqual(to: unfilled.span.extracting(range))
    }

    /// Whether `block` has its checksum, and the bytes that are the same in all headers.
    static func isWritten(_ block: Span<UInt8>) -> Bool {
        let field = block.orderedWord(from: Field.checksum.lowerBound)
        let sum = number(ofDigits: field >> 16 | 0x3030 << 48)
        return field & 0xFFFF == UInt64(UInt8(ascii: " ")) && sum == checksum(of: block)
            && isUnfilled(block, in: Field.magic.lowerBound..<Field.prefix.lowerBound)
            && isUnfilled(block, in: Field.prefix.upperBound..<block.count)
    }

    /// The bytes of a text field, which zeros fill up; `nil` if something follows the first zero.
    static func writtenText(at field: Range<Int>, of block: Span<UInt8>) -> [UInt8]? {
        let bytes = block.extracting(field)
        let count = bytes.firstIndex(of: 0) ?? bytes.count
        guard isUnfilled(block, in: field.lowerBound + count..<field.upperBound) else { return nil }
        return count == 0 ? [] : [UInt8](copying: bytes.extracting(first: count))
    }

    /// The number whose octal digits fill a field of 8 to 16 bytes but for its last byte, which is zero; `nil` if it
    /// isn't one.
    static func writtenNumber(at field: Range<Int>, of block: Span<UInt8>) -> UInt64? {
        let last = block.orderedWord(from: field.upperBound - 8)
        guard last & 0xFF == 0, let low = number(ofDigits: last | UInt64(UInt8(ascii: "0"))) else {
            return nil
        }
        if field.count == 8 { return low >> 3 }
        // The two words overlap.
        let bits = UInt64(3 * (field.count - 9))
        return number(ofDigits: block.orderedWord(from: field.lowerBound)).map { high in
            high << bits | low >> 3 & (1 << bits - 1)
        }
    }

    /// Reads the eight octal digits in `word`; `nil` if it holds anything else.
    private static func number(ofDigits word: UInt64) -> UInt64? {
        var digits = word ^ 0x3030_3030_3030_3030
        guard digits & 0xF8F8_F8F8_F8F8_F8F8 == 0 else { return nil }
        digits = (digits | digits >> 5) & 0x003F_003F_003F_003F
        digits = (digits | digits >> 10) & 0x0000_0FFF_0000_0FFF
        return (digits | digits >> 20) & 0xFF_FFFF
    }
}

extension [UInt8] {
    /// Replaces the bytes at `start` by those of `block`.
    mutating func replaceBlock(at start: Int, with block: UstarBlock) {
        var target = mutableSpan
        target.copy(block.bytes.span, to: start)
    }

    /// Appends the bytes of `block`.
    package mutating func append(block: UstarBlock) {
        append(copying: block.bytes.span)
    }
}

/// The kind of an entry, by the header's type flag.
package enum TypeFlag {
    package static let regular = UInt8(ascii: "0")
    package static let regularOfOldTar: UInt8 = 0
    package static let hardLink = UInt8(ascii: "1")
    package static let symbolicLink = UInt8(ascii: "2")
    package static let characterDevice = UInt8(ascii: "3")
    package static let blockDevice = UInt8(ascii: "4")
    package static let directory = UInt8(ascii: "5")
    package static let fifo = UInt8(ascii: "6")
    package static let contiguous = UInt8(ascii: "7")
    package static let extendedHeader = UInt8(ascii: "x")
    package static let globalHeader = UInt8(ascii: "g")
    package static let solarisExtendedHeader = UInt8(ascii: "X")
    package static let gnuLongName = UInt8(ascii: "L")
    package static let gnuLongLink = UInt8(ascii: "K")
    package static let gnuSparse = UInt8(ascii: "S")
    package static let gnuDumpDirectory = UInt8(ascii: "D")
    package static let gnuMultiVolume = UInt8(ascii: "M")
    package static let gnuVolumeLabel = UInt8(ascii: "V")
}

/// The constants of the tar format (POSIX.1-2017, pax, "ustar Interchange Format").
enum TarFormat {
    /// The size of a block; headers are one block, contents are padded to whole ones.
    static let blockSize = 512

    /// The largest size and time that an octal field of 12 bytes holds.
    static let largestOctal: UInt64 = 0o77_777_777_777

    /// The largest number of a user or a group that an octal field of 8 bytes holds.
    static let largestOwner: UInt32 = 0o7_777_777

    /// The largest size of the pax records in a header.
    static let recordLimit = 1 << 20

    /// The longest path or link target.
    static let pathLimit = 65_535

    /// The longest component of a path.
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
