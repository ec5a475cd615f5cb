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
