/// Random numbers from a seed (SplitMix64), the same on every machine.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    /// Starts the sequence of one `part`, so that the numbers of parts don't depend on each other.
    init(seed: UInt64, part: StaticString) {
        state = part.withUTF8Buffer { bytes in
            bytes.reduce(seed) { hash, byte in (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        }
    }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }

    /// A number in `range`, mapped without the standard library, whose mapping may change.
    mutating func number(in range: ClosedRange<Int>) -> Int {
        range.lowerBound + Int(next() % UInt64(range.count))
    }

    /// One of `choices`, which must not be empty.
    mutating func pick<Element>(_ choices: [Element]) -> Element {
        choices[number(in: 0...choices.count - 1)]
    }

    /// `count` incompressible bytes.
    mutating func bytes(count: Int) -> [UInt8] {
        let words = (0..<(count + 7) / 8).map { _ in next().littleEndian }
        return words.withUnsafeBytes { [UInt8]($0.prefix(count)) }
    }
}
