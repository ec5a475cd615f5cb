/// Where the frames of pieces begin and the last one ends, by the seek table (zstd's seekable format).
package enum FrameBoundaries {
    /// The offsets in `archive`, in their order.
    package static func of(_ archive: [UInt8]) -> [Int] {
        func number(_ at: Int) -> Int {
            (0..<4).reduce(0) { $0 | Int(archive[at + $1]) << (8 * $1) }
        }
        let count = number(archive.count - 9)
        let table = archive.count - 9 - 8 * count
        let ends = (0..<count - 2).map { number(table + 8 * $0) }
        return ends.reduce(into: []) { $0.append(($0.last ?? 0) + $1) }
    }
}
