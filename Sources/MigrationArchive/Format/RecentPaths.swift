/// Paths by their hashes, which are as good as random numbers and so are not hashed once more.
struct RecentPaths {
    private static let leastSlots = 256

    /// Each hash lies where its lowest bits say, or behind that; at least half of the places are empty and hold 0.
    private var slots = [Int](repeating: 0, count: leastSlots)
    private(set) var count = 0

    /// Adds the path that has `hash`; returns whether it was not there yet.
    @discardableResult
    mutating func insert(_ hash: Int) -> Bool {
        let place = place(of: hash)
        guard slots[place] == 0 else { return false }
        slots[place] = hash | 1
        count += 1
        if 2 * count > slots.count { grow() }
        return true
    }

    /// Whether the path that has `hash` is there.
    func contains(_ hash: Int) -> Bool { slots[place(of: hash)] != 0 }

    /// Forgets all paths, and gives back memory that was not needed for them.
    mutating func removeAll() {
        if count == 0 { return }
        let size = 8 * count < slots.count ? Self.leastSlots : slots.count
        slots = [Int](repeating: 0, count: size)
        count = 0
    }

    private func place(of hash: Int) -> Int {
        var place = hash >> 1 & (slots.count - 1)
        while slots[place] != 0, slots[place] != hash | 1 {
            place = (place + 1) & (slots.count - 1)
        }
        return place
    }

    private mutating func grow() {
        let old = slots
        slots = [Int](repeating: 0, count: 2 * old.count)
        for hash in old where hash != 0 { slots[place(of: hash)] = hash }
    }
}
