import Testing

@testable import MigrationSystem

/// What is done by words gives what is done byte by byte.
struct BytesTests {
    private func bytes(_ count: Int) -> [UInt8] {
        (0..<count).map { _ in UInt8.random(in: 0...255) }
    }

    @Test(arguments: [0, 1, 7, 8, 511, 512, 513, 1_500])
    func `adds up bytes`(_ count: Int) {
        let (some, largest) = (bytes(count), [UInt8](repeating: 255, count: count))
        #expect(some.span.sum == some.reduce(0) { $0 + UInt64($1) })
        #expect(largest.span.sum == UInt64(255 * count))
    }

    @Test(arguments: 0..<40)
    func `finds where bytes begin to differ`(_ common: Int) {
        let prefix = bytes(common)
        let ends: [([UInt8], [UInt8])] = [([], []), ([1], []), ([1, 5, 6], [2, 5, 6]), ([], [0])]
        for (left, right) in ends {
            let (left, right) = (prefix + left, prefix + right)
            #expect(left.span.commonPrefix(with: right.span) == common)
            #expect(right.span.commonPrefix(with: left.span) == common)
        }
    }

    @Test func `makes words that compare as the bytes do`() {
        for _ in 0..<500 {
            let (left, right) = (bytes(.random(in: 0...10)), bytes(.random(in: 0...10)))
            let start = Int.random(in: 0...min(left.count, right.count))
            let words = (left.span.orderedWord(from: start), right.span.orderedWord(from: start))
            let (first, second) = (left[start...].prefix(8), right[start...].prefix(8))
            if words.0 != words.1 {
                #expect((words.0 < words.1) == first.lexicographicallyPrecedes(second))
            } else {
                // They differ at most in zeros at the end.
                #expect(first.filter { $0 != 0 } == second.filter { $0 != 0 })
            }
        }
        #expect([UInt8]([1, 2]).span.orderedWord(from: 9) == 0)
    }

    @Test func `finds a byte`() {
        let some: [UInt8] = [3, 1, 2, 1]
        #expect(some.span.firstIndex(of: 1) == 1)
        #expect(some.span.firstIndex(of: 0) == nil)
        #expect([UInt8]().span.firstIndex(of: 0) == nil)
    }
}
