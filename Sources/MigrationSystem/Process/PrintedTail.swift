/// The last lines of a program's output, for a report of its failure.
struct PrintedTail {
    /// The bytes that are kept.
    private static let byteLimit = 16 * 1024

    /// The lines that are reported.
    private static let lineLimit = 20

    private var bytes: [UInt8] = []

    /// Appends what the program printed next.
    mutating func append(_ printed: ArraySlice<UInt8>) {
        bytes += printed
        bytes.removeFirst(max(0, bytes.count - Self.byteLimit))
    }

    /// The lines, without their ends.
    var lines: [String] {
        String(decoding: bytes, as: UTF8.self)
            .split { $0 == "\n" || $0 == "\r" || $0 == "\r\n" }
            .suffix(Self.lineLimit)
            .map(String.init)
    }
}
