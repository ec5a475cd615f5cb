internal import Foundation
internal import MigrationSystem

extension Progress {
    /// The largest count that is shown; with much greater ones Foundation's fractions overflow, which
    /// on Linux ends the process.
    static let largestCount: Int64 = 1 << 53

    /// Sets the total, which is unknown where it is not above 0.
    func setTotal(_ total: Int64) {
        // Foundation on Linux ends the process where a total above 0 becomes 0.
        totalUnitCount = total > 0 ? min(total, Self.largestCount) : -1
    }

    /// Makes the progress complete, with `total` units where there are any.
    func complete(of total: Int64) {
        setTotal(max(total, 1))
        completedUnitCount = totalUnitCount
    }
}

/// Shows what an extension says of its progress, which may be any numbers, in a caller's.
///
/// The total with which it first moves is shown as it is. Where it says another one, parts of a fixed
/// total are shown from then on: on Linux Foundation keeps a product of all totals that a progress had,
/// and ends the process where one overflows.
final class ReportedProgress: Sendable {
    /// The total that stands for all others.
    static let scale: Int64 = 1 << 20

    private struct Totals {
        var reported: Int64
        var shown: Int64
    }

    private let progress: Progress
    private let totals = Monitor<Totals?>(nil)

    init(in progress: Progress) {
        self.progress = progress
    }

    /// Shows that `completed` of `total` units are done, unless no total is known: it is not above 0.
    func show(_ completed: Int64, of total: Int64) {
        guard total > 0 else { return }
        totals.withLock { totals in
            guard totals != nil || completed > 0 else {
                progress.completedUnitCount = 0
                return
            }
            let units = Self.units(totals?.shown, after: totals?.reported, now: total)
            if totals?.shown != units {
                // A count above the total would overflow, too.
                progress.completedUnitCount = 0
                progress.setTotal(units)
            }
            totals = Totals(reported: total, shown: units)
            progress.completedUnitCount = Self.part(completed, of: total, in: units)
        }
    }

    private static func units(_ shown: Int64?, after last: Int64?, now total: Int64) -> Int64 {
        guard let shown, let last else { return min(total, Progress.largestCount) }
        return last == total ? shown : scale
    }

    private static func part(_ completed: Int64, of total: Int64, in units: Int64) -> Int64 {
        let done = UInt64(min(max(completed, 0), total))
        let product = done.multipliedFullWidth(by: UInt64(units))
        return Int64(UInt64(total).dividingFullWidth(product).quotient)
    }
}
