/// The numbers that occurred more than once, and a few others: each number has two bits that it
/// shares with others, so a million numbers take no more memory than ten.
struct RepeatedNumbers {
    private static let bitCount = 23
    private static let wordCount = (1 << bitCount) / UInt64.bitWidth

    private var once: [UInt64] = []
    private var again: [UInt64] = []

    mutating func insert(_ number: UInt64) {
        if once.isEmpty {
            once = [UInt64](repeating: 0, count: Self.wordCount)
            again = once
        }
        let (word, bit) = Self.position(of: number)
        again[word] |= once[word] & bit
        once[word] |= bit
    }

    func contains(_ number: UInt64) -> Bool {
        let (word, bit) = Self.position(of: number)
        return !again.isEmpty && again[word] & bit != 0
    }

    /// Multiplied by the golden ratio, which spreads consecutive numbers.
    private static func position(of number: UInt64) -> (word: Int, bit: UInt64) {
        let hash = Int((number &* 0x9E37_79B9_7F4A_7C15) >> UInt64(UInt64.bitWidth - bitCount))
        return (hash / UInt64.bitWidth, 1 << UInt64(hash % UInt64.bitWidth))
    }
}
