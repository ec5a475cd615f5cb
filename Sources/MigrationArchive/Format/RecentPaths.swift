/// Paths by their hashes, which are like random numbers and so are not hashed again.
struct RecentPaths {
    private static let leastSlots = 256

    /// Each hash is at the index in its lowest bits, or after it; at least half of the slots are
    /// empty and hold 0.
    private var slots = [Int](repeating: 0, count: leastSlots)
    private(set) var count = 0

    /// Adds the path with `hash`; returns whether it is new.
    @discardableResult
    mutating func insert(_ hash: Int) -> Bool {
        let slot = slot(of: hash)
        guard slots[slot] == 0 else { return false }
        slots[slot] = hash | 1
        count += 1
        if 2 * count > slots.count { grow() }
        return true
    }

    /// Whether the path with `hash` was added.
    func contains(_ hash: Int) -> Bool { slots[slot(of: hash)] != 0 }

    /// Forgets all paths, and shrinks the table if it was too large for them.
    mutating func removeAll() {
        if count == 0 { return }
        let size = 8 * count < slots.count ? Self.leastSlots : slots.count
        slots = [Int](repeating: 0, count: size)
        count = 0
    }

    private func slot(of hash: Int) -> Int {
        var slot = hash >> 1 & (slots.count - 1)
        while slots[slot] != 0, slots[slot] != hash | 1 {
            slot = (slot + 1) & (slots.count - 1)
        }
        return slot
    }

    private mutating func grow() {
        let old = slots
        slots = [Int](repeating: 0, count: 2 * old.count)
        for hash in old where hash != 0 { slots[slot(of: hash)] = hash }
    }
}
