/// Paths that are known again by their hashes: a set of the paths themselves has no bound.
struct PathHashes {
    private var hashes: Set<Int> = []
    /// What the paths are, in words that an error can end with.
    private let name: String
    private let limit: Int

    /// Takes at most `limit` paths: what an archive holds must not take memory.
    init(of name: String, limit: Int = 1 << 19) {
        self.name = name
        self.limit = limit
    }

    /// Adds `path`; returns whether it was not there yet.
    @discardableResult
    mutating func insert(_ path: EntryPath) throws(ArchiveError) -> Bool {
        let (isNew, _) = hashes.insert(path.hashValue)
        guard hashes.count <= limit else {
            throw ArchiveError(.refused, "the archive holds too many \(name)", entry: path)
        }
        return isNew
    }

    /// Forgets `path`.
    mutating func remove(_ path: EntryPath) {
        hashes.remove(path.hashValue)
    }

    func contains(_ path: EntryPath) -> Bool {
        !hashes.isEmpty && hashes.contains(path.hashValue)
    }
}
