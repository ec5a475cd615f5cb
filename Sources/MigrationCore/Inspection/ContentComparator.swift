internal import MigrationSystem

/// Compares the content of a file with pieces of what it should be; what lies between them is zeros.
struct ContentComparator {
    private let file: OpenFile
    private var buffer = [UInt8](repeating: 0, count: 256 * 1024)
    private var position: UInt64 = 0

    /// Where the first byte differs, as far as was compared.
    private(set) var firstDifference: UInt64?

    init(_ file: OpenFile) {
        self.file = file
    }

    /// Compares `piece`, which stands at `offset`.
    mutating func compare(_ piece: Span<UInt8>, at offset: UInt64) throws(SystemError) {
        try compareZeros(upTo: offset)
        var done = 0
        while done < piece.count, firstDifference == nil {
            let count = try fill(min(buffer.count, piece.count - done))
            for index in 0..<count where buffer[index] != piece[done + index] {
                firstDifference = position + UInt64(index)
                break
            }
            done += count
            position += UInt64(count)
        }
    }

    /// Compares what is left of a file of `size` bytes with zeros.
    mutating func finish(size: UInt64) throws(SystemError) {
        try compareZeros(upTo: size)
    }

    private mutating func compareZeros(upTo end: UInt64) throws(SystemError) {
        while position < end, firstDifference == nil {
            let count = try fill(Int(min(UInt64(buffer.count), end - position)))
            for index in 0..<count where buffer[index] != 0 {
                firstDifference = position + UInt64(index)
                break
            }
            position += UInt64(count)
        }
    }

    /// Reads at most `count` bytes of the file; a file that ends too early differs there.
    private mutating func fill(_ count: Int) throws(SystemError) -> Int {
        let read = try file.descriptor.read(at: position, into: &buffer, count: count)
        if read == 0 { firstDifference = position }
        return read
    }
}
