internal import Foundation
internal import MigrationConversation
internal import MigrationCore
internal import MigrationSystem

/// Shows an extension's progress, which may report any numbers, in the caller's progress.
///
/// The first total is shown unchanged. If the extension later reports another one, the rest is
/// shown as parts of a fixed total: on Linux, Foundation multiplies all totals that a progress ever
/// had, and crashes if the product overflows.
final class ReportedProgress: Sendable {
    /// The total that replaces all later ones.
    static let scale = ImportProgress.scale

    private struct Totals {
        var reported: Int64
        var shown: Int64
    }

    private let progress: Progress
    private let totals = Monitor<Totals?>(nil)

    init(in progress: Progress) {
        self.progress = progress
    }

    /// Shows that `completed` of `total` units are done; does nothing if the total is unknown (0 or
    /// less).
    func show(_ completed: Int64, of total: Int64) {
        guard total > 0 else { return }
        totals.withLock { totals in
            guard totals != nil || completed > 0 else {
                progress.completedUnitCount = 0
                return
            }
            let units = Self.units(totals?.shown, after: totals?.reported, now: total)
            if totals?.shown != units {
                // A count above the total would overflow too.
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
