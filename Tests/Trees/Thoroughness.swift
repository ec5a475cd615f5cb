import Foundation

/// How much of the possible cases the tests try.
package enum Thoroughness: Sendable {
    /// Whether all cases are tried, which `Scripts/enumerate` asks for; it takes minutes.
    package static let isFull = ProcessInfo.processInfo.environment["MIGRATION_ENUMERATE"] == "1"
}

extension Thoroughness {
    /// The places that are tried: all of them, or at most `most` of them, evenly spread, with the first and the
    /// last.
    package static func places(_ all: ClosedRange<Int>, most: Int = 12) -> [Int] {
        guard !isFull, all.count > most, most > 1 else { return Array(all) }
        return (0..<most).map { all.lowerBound + $0 * (all.count - 1) / (most - 1) }
    }

    /// The bits of the byte at `position` that are tried: all, or another one of each byte.
    package static func bits(at position: Int) -> Range<Int> {
        isFull ? 0..<8 : position % 8..<position % 8 + 1
    }

    /// The numbers from 0 that are tried, such as the seeds of random cases: `count` of them, or a fifth.
    package static func seeds(_ count: UInt64) -> Range<UInt64> { 0..<(isFull ? count : count / 5) }

    /// The steps between places that are tried: each place, or every `step`-th.
    package static func step(_ step: Int) -> Int { isFull ? 1 : step }
}
