internal import MigrationSystem

/// Counts what an extraction has restored, claimed and omitted.
package final class ExtractionTally {
    /// The limit for all holes together.
    private static let holeLimit: UInt64 = 32 << 30

    /// The omissions that are kept, and the bytes of their paths and names; the rest are only counted.
    private static let omissionLimit = 1_000
    private static let omissionBytesLimit = 1 << 20

    private let options: ArchiveExtractor.Options
    private var claimedBytes: UInt64 = 0
    private var holeBytes: UInt64 = 0
    private var omissionBytes = 0
    /// Files that were counted under the first of their selected names.
    private var countedFiles: Set<FileStatus.Identity> = []

    /// How much was restored.
    package private(set) var totals = ArchiveTotals()

    /// The first parts of the archive that were not restored.
    package private(set) var omissions: [EntryOmission] = []

    /// How many parts of the archive were not restored.
    package private(set) var omissionCount = 0

    /// How many entries have a different time than in the archive, because the destination can't
    /// hold it.
    package private(set) var changedTimeCount = 0

    /// Whether something was omitted because it is damaged or refused.
    package private(set) var isIncomplete = false

    /// How many files are remembered because a hard link was counted as the file.
    var rememberedFileCount: Int { countedFiles.count }

    init(options: ArchiveExtractor.Options) {
        self.options = options
    }
}

// MARK: - Claims and omissions

extension ExtractionTally {
    /// Checks the sizes that files claim together before the next one is made.
    ///
    /// Content needs disk space. Holes need neither disk space nor archive bytes, so they have a
    /// separate limit.
    func claim(_ entry: ArchiveEntry, stored: UInt64) throws(ArchiveError) {
        let (total, overflow) = claimedBytes.addingReportingOverflow(entry.contentSize)
        claimedBytes = total
        holeBytes += entry.contentSize - stored
        let isTooMuch = overflow || total > options.byteLimit
        if isTooMuch, overflow || total - holeBytes > options.byteLimit {
            let message = "the archive claims more content than there is room for"
            throw ArchiveError(.outOfSpace, message, entry: entry.path)
        }
        if isTooMuch || holeBytes > Self.holeLimit {
            let message = "the archive claims more holes than there may be"
            throw ArchiveError(.refused, message, entry: entry.path)
        }
    }

    /// Records the omission of the entry at `path`, unless `error` ends the whole extraction.
    func passesOver(_ error: any Error, of path: EntryPath) throws -> Bool {
        guard options.passesOverDamage, let error = error as? ArchiveError, error.isOfArchive
        else { return false }
        note(EntryOmission(path: path, kind: .damaged(error.withoutEntry)))
        return true
    }

    /// Records `omission`.
    func note(_ omission: EntryOmission) {
        omissionCount += 1
        switch omission.kind {
        case .damaged: isIncomplete = true
        case .modificationTime: changedTimeCount += 1
        default: break
        }
        // The list has no gaps: after the first one that doesn't fit, all others are only counted.
        guard omissions.count == omissionCount - 1, omissions.count < Self.omissionLimit,
            omission.byteCount <= Self.omissionBytesLimit - omissionBytes
        else { return }
        omissionBytes += omission.byteCount
        omissions.append(omission)
    }
}

// MARK: - Entries

extension ExtractionTally {
    /// Counts `entry`, unless it was restored only because hard links lead to it.
    func count(_ entry: ArchiveEntry) {
        if !options.linkTargets.contains(entry.path) { totals.count(entry) }
    }

    /// Counts a directory without its own entry.
    func countImpliedDirectory() { totals.directories += 1 }

    /// Uncounts a link that was removed again.
    func discount(_ link: ArchiveEntry) {
        if link.kind.isSymbolicLink { totals.symbolicLinks -= 1 } else { totals.hardLinks -= 1 }
    }

    /// Counts a hard link to `target`.
    ///
    /// If the target is not selected, the first selected name of the file counts as the file itself.
    func countHardLink(
        _ entry: ArchiveEntry,
        to target: EntryPath,
        status: () throws(SystemError) -> FileStatus
    ) throws(SystemError) {
        let targets = options.linkTargets
        guard targets.contains(target), !targets.contains(entry.path) else { return count(entry) }
        let file = try status()
        if countedFiles.insert(file.identity).inserted {
            totals.countFile(of: file.size)
        } else {
            count(entry)
        }
    }

    /// Uncounts the file or link with `status`, which the entry at `path` replaces.
    func discount(_ status: FileStatus, replacedBy path: EntryPath, isPlaceholder: Bool) {
        // A path may occur any number of times, and another file may get the same identity.
        let wasCounted = countedFiles.remove(status.identity) != nil
        guard !isPlaceholder, !options.linkTargets.contains(path) else { return }
        let isHardLink = status.linkCount > 1 && totals.hardLinks > 0 && !wasCounted
        switch status.kind {
        case .regular where isHardLink, .symbolicLink where isHardLink:
            totals.hardLinks -= 1
        case .regular where totals.files > 0:
            totals.files -= 1
            totals.contentBytes -= min(totals.contentBytes, status.size)
        case .symbolicLink where totals.symbolicLinks > 0: totals.symbolicLinks -= 1
        default: break
        }
    }
}
