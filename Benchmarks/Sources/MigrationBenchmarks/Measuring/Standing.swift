/// One contestant's attempts on one tree.
struct Standing {
    let peer: Peer
    var attempts: [Attempt] = []

    /// Whether it was so slow in the warm-up that it was not run again.
    var ranOnce: Bool { attempts.count == 1 }

    /// The attempts that count: the warm-up only if there is no other.
    private var counted: [Attempt] {
        let measured = attempts.filter { $0.round > 0 }
        return measured.isEmpty ? attempts : measured
    }

    func values(_ quantity: Quantity) -> [Double] {
        counted.compactMap { $0.value(quantity) }
    }

    func median(_ quantity: Quantity) -> Double? {
        values(quantity).median
    }

    /// The median of the ratios taken round by round, so noise that affects both does not change
    /// it.
    func ratio(_ quantity: Quantity, to baseline: Standing) -> Double? {
        counted.compactMap { attempt in
            let rival = baseline.attempts.first { $0.round == attempt.round }
            guard let value = attempt.value(quantity), let other = rival?.value(quantity) else {
                return nil
            }
            return other > 0 ? value / other : nil
        }
        .median
    }
}
