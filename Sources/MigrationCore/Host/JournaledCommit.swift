internal import MigrationSystem

/// Makes a staged container the live one by moving what is in it, in steps that can be taken up again.
///
/// The journal in the live container says which step is under way: first the old data is moved
/// aside, then the new data is moved in. Whoever finds the journal goes on where it stands, so a
/// process or a machine that stops leaves the new container, a little later.
struct JournaledCommit {
    let path: PathName
    let live: OpenFile
    let staging: StagingDirectory
    let record: ImportRecord

    /// Commits from the beginning; returns why some of what imports left is still there.
    @discardableResult
    func run() throws -> [MigrationError] {
        let bookkeeping = try BookkeepingDirectory.make(in: live)
        let replaced = try Self.makeReplaced(in: bookkeeping, resuming: false)
        try moveData(asideTo: replaced, bookkeeping)
        try Self.conclude(record, bookkeeping)
        var leftovers = Leftovers(of: path)
        leftovers.remove(staging)
        leftovers.remove(in: bookkeeping)
        leftovers.removeBeside()
        return leftovers.problems
    }

    /// Moves the old data out and the new data in, or has all of it where it was.
    func moveData(asideTo replaced: OpenFile, _ bookkeeping: BookkeepingDirectory) throws {
        do {
            try advance(.clearing, bookkeeping)
            try Self.move(allOf: live, to: replaced)
            try advance(.filling, bookkeeping)
            try Self.fill(live, from: staging.directory, resuming: false)
        } catch {
            try restore(from: replaced, bookkeeping)
            throw error
        }
    }

    private func advance(
        _ phase: ImportJournal.Phase,
        _ bookkeeping: BookkeepingDirectory
    ) throws {
        try live.descriptor.synchronize()
        try ImportJournal(phase: phase, record: record).write(to: bookkeeping)
    }

    /// Undoes a commit that failed: new data back to staging, old data back to its place.
    private func restore(from replaced: OpenFile, _ bookkeeping: BookkeepingDirectory) throws {
        if try ImportJournal.read(from: bookkeeping)?.phase == .filling {
            try Self.move(allOf: live, to: staging.directory, resuming: true)
        }
        try advance(.restoring, bookkeeping)
        try Self.move(allOf: replaced, to: live, resuming: true)
        try live.descriptor.synchronize()
        try ImportJournal(phase: .staging, record: nil).write(to: bookkeeping)
        // It is empty now; the reason of the failure is what the person must hear.
        try? bookkeeping.openDirectory.descriptor.removeDirectory(Leftovers.replacedName)
    }
}

// MARK: - Taking up what is under way

extension JournaledCommit {
    /// Goes on with the commit that `journal` says is under way.
    static func resume(
        _ journal: ImportJournal,
        in live: OpenFile,
        _ bookkeeping: BookkeepingDirectory,
        staged: OpenFile?
    ) throws {
        let replaced = try makeReplaced(in: bookkeeping, resuming: true)
        guard staged != nil || journal.phase == .restoring else {
            // The container was moved away from the staging directory beside it. Going on would lose
            // the old data for nothing.
            let message = "what was being imported is no longer beside the container"
            throw MigrationError(.containerInvalid, message)
        }
        if journal.phase == .restoring {
            try move(allOf: replaced, to: live, resuming: true)
            try live.descriptor.synchronize()
            return
        }
        if journal.phase == .clearing {
            try move(allOf: live, to: replaced, resuming: true)
            try live.descriptor.synchronize()
            var next = journal
            next.phase = .filling
            try next.write(to: bookkeeping)
        }
        if let staged { try fill(live, from: staged, resuming: true) }
        try conclude(journal.record, bookkeeping)
    }

    /// Makes the place for the old data; at the beginning there must be none, which may hold other data.
    private static func makeReplaced(
        in bookkeeping: BookkeepingDirectory,
        resuming: Bool
    ) throws(SystemError) -> OpenFile {
        let directory = bookkeeping.openDirectory
        do {
            try directory.descriptor.makeDirectory(Leftovers.replacedName, permissions: 0o700)
        } catch {
            guard error.isExisting && resuming else { throw error }
        }
        return OpenFile(try directory.descriptor.open(Leftovers.replacedName, .directory))
    }

    private static func fill(
        _ live: OpenFile,
        from staged: OpenFile,
        resuming: Bool
    ) throws(SystemError) {
        try move(allOf: staged, to: live, resuming: resuming)
        try live.descriptor.synchronize()
        try staged.descriptor.synchronize()
    }

    /// Moves every entry but the bookkeeping and the container's own metadata.
    private static func move(
        allOf source: OpenFile,
        to destination: OpenFile,
        resuming: Bool = false
    ) throws(SystemError) {
        let listing = try DirectoryListing(of: source.descriptor)
        for index in 0..<listing.count {
            let name = listing[index]
            if [ContainerLayout.bookkeepingName, ContainerLayout.metadataName].contains(name) {
                continue
            }
            try source.descriptor.move(name, into: destination.descriptor, resuming: resuming)
        }
    }

    /// Makes the success visible.
    private static func conclude(
        _ record: ImportRecord?,
        _ bookkeeping: BookkeepingDirectory
    ) throws {
        if let record {
            let data = try BookkeepingCoding.encode(record)
            try bookkeeping.write(data, as: BookkeepingDirectory.recordName)
        }
        try bookkeeping.remove(BookkeepingDirectory.journalName)
    }
}
