internal import MigrationSystem

/// Makes a staged container the live one by moving what is in it, in steps that can be taken up again.
///
/// The journal in the live container says which step is under way: first the old data is moved
/// aside, then the new data is moved in. Whoever finds the journal goes on where it stands, so a
/// process or a machine that stops leaves the new container, a little later.
struct JournaledCommit {
    private static let replacedName = ByteString(utf8: "replaced")

    let path: PathName
    let live: OpenFile
    let staging: StagingDirectory
    let record: ImportRecord

    /// Commits from the beginning.
    func run() throws {
        let bookkeeping = try BookkeepingDirectory.make(in: live)
        let replaced = try Self.makeReplaced(in: bookkeeping)
        do {
            try advance(.clearing, bookkeeping)
            try Self.move(allOf: live, to: replaced)
            try advance(.filling, bookkeeping)
            try Self.fill(live, from: staging.directory, resuming: false)
        } catch {
            try restore(from: replaced, bookkeeping)
            throw error
        }
        try Self.conclude(record, live, bookkeeping)
        try staging.remove()
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
        try Self.removeReplaced(in: bookkeeping)
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
        let replaced = try makeReplaced(in: bookkeeping)
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
        try conclude(journal.record, live, bookkeeping)
    }

    private static func makeReplaced(
        in bookkeeping: BookkeepingDirectory
    ) throws(SystemError) -> OpenFile {
        let directory = bookkeeping.openDirectory
        do {
            try directory.descriptor.makeDirectory(replacedName, permissions: 0o700)
        } catch {
            guard error.isExisting else { throw error }
        }
        return OpenFile(try directory.descriptor.open(replacedName, .directory))
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

    /// Makes the success visible and removes what is left of the commit.
    private static func conclude(
        _ record: ImportRecord?,
        _ live: OpenFile,
        _ bookkeeping: BookkeepingDirectory
    ) throws {
        if let record {
            let data = try BookkeepingCoding.encode(record)
            try bookkeeping.write(data, as: BookkeepingDirectory.recordName)
        }
        try bookkeeping.remove(BookkeepingDirectory.journalName)
        try removeReplaced(in: bookkeeping)
    }

    /// Removes old data that was moved aside, once nothing needs it.
    static func removeReplaced(in bookkeeping: BookkeepingDirectory) throws(SystemError) {
        do {
            try bookkeeping.openDirectory.descriptor.removeTree(replacedName)
        } catch {
            guard error.isMissing else { throw error }
        }
    }
}
