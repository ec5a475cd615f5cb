/// The figures of one contestant in one round.
struct Attempt {
    /// The number of the round; 0 is the warm-up.
    let round: Int
    let usages: [Operation: Usage]
    /// The bytes of the archive.
    let archiveSize: Double

    func value(_ quantity: Quantity) -> Double? {
        switch quantity {
        case .wall(let operation): usages[operation]?.wall
        case .processor(let operation): usages[operation]?.processor
        case .memory(let operation): usages[operation]?.memory
        case .archiveSize: archiveSize
        }
    }
}
