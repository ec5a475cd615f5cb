internal import MigrationSystem

/// A set of paths by their hashes; a set of the paths themselves would be unbounded.
struct PathHashes {
    private var hashes: Set<Int> = []
    /// The name of the set, for the end of an error message.
    private let name: String
    private let limit: Int

    /// Holds at most `limit` paths, so that an archive can't demand unbounded memory.
    init(of name: String, limit: Int = 1 << 19) {
        self.name = name
        self.limit = limit
    }

    /// Adds `path`; returns whether it is new.
    @discardableResult
    mutating func insert(_ path: EntryPath) throws(ArchiveError) -> Bool {
        try insert(path.levelHash, at: path)
    }

    /// Adds the path that has `hash`, which is `path` or a directory above it.
    @discardableResult
    mutating func insert(_ hash: Int, at path: EntryPath) throws(ArchiveError) -> Bool {
        let (isNew, _) = hashes.insert(hash)
        guard hashes.count <= limit else {
            throw ArchiveError(.refused, "the archive holds too many \(name)", entry: path)
        }
        return isNew
    }

    /// Forgets `path`; returns whether it was there.
    @discardableResult
    mutating func remove(_ path: EntryPath) -> Bool {
        !hashes.isEmpty && hashes.remove(path.levelHash) != nil
    }

    var isEmpty: Bool { hashes.isEmpty }

    func contains(_ path: EntryPath) -> Bool {
        !hashes.isEmpty && contains(path.levelHash)
    }

    /// Whether the path with `hash` was added.
    func contains(_ hash: Int) -> Bool { hashes.contains(hash) }
}

/// Numbers by hashes, in memory while there are few, and in an unnamed file when there are many.
///
/// Slots are in buckets, each read at once; a full bucket continues in the next one. Hashes are
/// never removed.
struct HashTable {
    private static let bucketSlots = 16
    /// The maximum size in memory.
    private let memoryLimit: Int
    /// A hash and a number for each slot, as long as they are in memory.
    private var words: [UInt64]
    private var file: OpenFile?
    private var bucketCount = 64
    private var count = 0

    /// Makes an empty table, which moves to a file once more than `memoryLimit` bytes are needed.
    init(memoryLimit: Int = 8 << 20) {
        self.memoryLimit = memoryLimit
        words = [UInt64](repeating: 0, count: bucketCount * Self.bucketSlots * 2)
    }

    /// The number of `hash`; 0 if it has none.
    func value(of hash: UInt64) throws(SystemError) -> UInt64 { try find(hash).value }

    /// Gives `hash` a number that is not 0.
    mutating func set(_ value: UInt64, of hash: UInt64) throws(SystemError) {
        if count >= bucketCount * Self.bucketSlots / 4 * 3 { try grow() }
        try put(value, of: hash)
    }

    private mutating func put(_ value: UInt64, of hash: UInt64) throws(SystemError) {
        let slot = try find(hash)
        if slot.value == 0 { count += 1 }
        guard let file else {
            words[slot.word] = hash
            words[slot.word + 1] = value
            return
        }
        var bytes: [UInt8] = []
        bytes.appendLittleEndian(hash)
        bytes.appendLittleEndian(value)
        try file.descriptor.writeAll(bytes.span, at: UInt64(slot.word) * 8)
    }

    /// Finds the first word of the slot of `hash`, or of the free slot that it would get.
    private func find(_ hash: UInt64) throws(SystemError) -> (word: Int, value: UInt64) {
        var index = Int(hash % UInt64(bucketCount))
        while true {
            let bucket = try bucket(index)
            for word in stride(from: bucket.startIndex, to: bucket.endIndex, by: 2) {
                let value = bucket[word + 1]
                guard value == 0 || bucket[word] == hash else { continue }
                return (index * Self.bucketSlots * 2 + word - bucket.startIndex, value)
            }
            index = (index + 1) % bucketCount
        }
    }

    /// The words of a bucket.
    private func bucket(_ index: Int) throws(SystemError) -> ArraySlice<UInt64> {
        let count = Self.bucketSlots * 2
        guard let file else { return words[index * count..<(index + 1) * count] }
        var bytes = [UInt8](repeating: 0, count: count * 8)
        // Slots beyond the end of the file were never written, so they are zeros.
        let start = UInt64(index * bytes.count)
        _ = try file.descriptor.fill(&bytes, count: bytes.count, at: start)
        return (0..<count).map { bytes.littleEndian(at: $0 * 8, as: UInt64.self) }[...]
    }

    private mutating func grow() throws(SystemError) {
        let old = self
        bucketCount *= 2
        count = 0
        let size = bucketCount * Self.bucketSlots * 2
        if size * 8 <= memoryLimit {
            words = [UInt64](repeating: 0, count: size)
        } else {
            words = []
            file = OpenFile(try .openTemporary(in: nil))
        }
        for index in 0..<old.bucketCount {
            let bucket = try old.bucket(index)
            for word in stride(from: bucket.startIndex, to: bucket.endIndex, by: 2)
            where bucket[word + 1] != 0 {
                try put(bucket[word + 1], of: bucket[word])
            }
        }
    }
}
