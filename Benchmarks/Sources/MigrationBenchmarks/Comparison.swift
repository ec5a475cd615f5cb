/// One quantity over all rounds.
struct Comparison {
    let name: String
    let ours: [Double]
    let theirs: [Double]
    /// Renders a value of this quantity with its unit.
    let render: (Double) -> String

    var medianOfOurs: Double { ours.median }
    var medianOfTheirs: Double { theirs.median }

    /// The median of the ratios taken pair by pair, which noise that both saw does not move.
    var ratio: Double {
        zip(ours, theirs).map { $0 / $1 }.median
    }
}

extension Array where Element == Double {
    /// The middle value, or the mean of the two middle ones; the array must not be empty.
    var median: Double {
        let sorted = sorted()
        let middle = count / 2
        return count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
    }
}
