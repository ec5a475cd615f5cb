/// All peers on one tree, in one place, at one level.
struct Section {
    let subject: Subject
    let size: TreeSize
    let place: String
    let level: Int
    let rounds: Int
    let standings: [Standing]

    var ours: Standing? { standings.first { $0.peer.role == .ours } }
    var baseline: Standing? { standings.first { $0.peer.role == .baseline } }

    /// The ratio of a standing to the baseline of this section.
    func ratio(_ quantity: Quantity, of standing: Standing) -> Double? {
        baseline.flatMap { standing.ratio(quantity, to: $0) }
    }

    /// The rival that needs the least, the baseline included, and its ratio.
    func best(_ quantity: Quantity) -> (name: String, ratio: Double)? {
        standings
            .filter { $0.peer.role == .rival || $0.peer.role == .baseline }
            .compactMap { standing in
                ratio(quantity, of: standing).map { (standing.peer.name, $0) }
            }
            .min { $0.1 < $1.1 }
    }
}
