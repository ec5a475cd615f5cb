internal import MigrationSystem

/// Where in an archive the fault lies, added by those who know it.
extension ArchiveError {
    /// Whether the archive is at fault, so that a place in it says something.
    private var isOfArchive: Bool {
        switch code {
        case .damaged, .entryExists, .refused, .truncated, .unsupported: true
        default: false
        }
    }

    /// The same error at `offset` of the tar stream, unless it has an offset of its own.
    func located(at offset: UInt64) -> ArchiveError {
        guard isOfArchive, self.offset == nil else { return self }
        return ArchiveError(code, message, entry: entry, offset: offset, cause: cause)
    }

    /// The same error about the entry at `path`, unless it is about one already.
    func about(_ path: EntryPath) -> ArchiveError {
        guard isOfArchive, entry == nil else { return self }
        return ArchiveError(code, message, entry: path, offset: offset, cause: cause)
    }

    /// The same error, found behind the entry at `path` where there was one, unless it is about an entry.
    func following(_ path: EntryPath?) -> ArchiveError {
        guard isOfArchive, entry == nil, let path else { return self }
        return ArchiveError(code, "\(message), after \(path)", offset: offset, cause: cause)
    }
}

extension ArchiveError {
    /// Starts threads, and says so where there are none to be had.
    static func startingThreads(
        _ body: () throws(SystemError) -> WorkerThreads
    ) throws(ArchiveError) -> WorkerThreads {
        do {
            return try body()
        } catch {
            throw ArchiveError(.inputFailed, "no thread can be started", cause: error)
        }
    }
}
