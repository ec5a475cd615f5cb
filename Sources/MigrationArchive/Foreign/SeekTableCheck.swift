/// Compares the seek table that another program wrote with the frames that were read.
///
/// The table is never used; a false one says that the archive is not what its writer made.
struct SeekTableCheck {
    private struct Size {
        var compressed: UInt32
        var decompressed: UInt32
    }

    /// More frames than this are not remembered, and then no table is checked.
    private static let limit = 1 << 20

    private var frames: [Size] = []
    private var compressed = 0
    private var decompressed = 0
    private var isComplete = true
    private var table: [UInt8] = []
    private var tableSize = 0

    mutating func beginFrame() {
        compressed = 0
        decompressed = 0
    }

    mutating func add(compressed: Int, decompressed: Int) {
        self.compressed += compressed
        self.decompressed += decompressed
    }

    mutating func endFrame() {
        append(
            Size(
                compressed: UInt32(clamping: compressed),
                decompressed: UInt32(clamping: decompressed)
            )
        )
    }

    mutating func addSkippable(size: UInt32) {
        append(Size(compressed: UInt32(clamping: Int(size) + 8), decompressed: 0))
    }

    private mutating func append(_ size: Size) {
        isComplete = isComplete && frames.count < Self.limit
        if isComplete { frames.append(size) }
    }

    mutating func beginTable(size: UInt32) {
        table = []
        tableSize = Int(size)
    }

    /// Takes bytes of the table, as many as a true one can have.
    mutating func add(_ bytes: ArraySlice<UInt8>) throws(ArchiveError) {
        let largest = frames.count * 12 + FrameFormat.seekTableFooterSize
        guard !isComplete || tableSize <= largest else { throw Self.isFalse }
        if isComplete { table.append(contentsOf: bytes) }
    }

    /// Throws unless the table lists exactly the frames before it.
    mutating func finishTable() throws(ArchiveError) {
        defer { table = [] }
        guard isComplete else { return }
        guard table.count >= FrameFormat.seekTableFooterSize else { throw Self.isFalse }
        let footer = table.count - FrameFormat.seekTableFooterSize
        let descriptor = table[footer + 4]
        let stride = descriptor & 0x80 == 0 ? 8 : 12
        guard table.littleEndian(at: footer + 5) == FrameFormat.seekTableFooterMagic,
            descriptor & 0x7C == 0,
            Int(table.littleEndian(at: footer, as: UInt32.self)) == frames.count,
            footer == frames.count * stride
        else { throw Self.isFalse }
        for (index, frame) in frames.enumerated() {
            guard table.littleEndian(at: index * stride) == frame.compressed,
                table.littleEndian(at: index * stride + 4) == frame.decompressed
            else { throw Self.isFalse }
        }
    }

    private static let isFalse = ArchiveError(
        .damaged,
        "the seek table does not list the frames that are there"
    )
}
