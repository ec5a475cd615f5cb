internal import Foundation

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
