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
}
