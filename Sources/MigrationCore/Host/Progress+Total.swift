internal import Foundation

extension Progress {
    /// Sets the total, which is unknown where it is not above 0.
    func setTotal(_ total: Int64) {
        // Foundation on Linux ends the process where a total above 0 becomes 0.
        totalUnitCount = total > 0 ? total : -1
    }

    /// Makes the progress complete, with `total` units where there are any.
    func complete(of total: Int64) {
        totalUnitCount = max(total, 1)
        completedUnitCount = totalUnitCount
    }
}
