/// The kind of an entry, as the header's type flag says it.
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
