package import MigrationSystem

/// How to treat symbolic links that lead out of the directory they are restored into.
public enum ExternalLinkPolicy: String, Sendable, CaseIterable {
    /// The import fails.
    case refuse

    /// They are restored unchanged, and never followed.
    case keep

    /// They are omitted, and the report lists them.
    case skip
}

/// Restores entries beneath a directory, each relative to its parent's descriptor and never through a link.
///
/// Directories are made when the first entry in them arrives, accessible only to their owner;
/// several threads make the files in them. Links are made when all files exist, and directories get
/// their modes and times last.
package final class ArchiveExtractor {
    /// The rules by which entries are restored.
    package struct Options: Sendable {
        /// The policy for links that lead out.
        package var externalLinks = ExternalLinkPolicy.refuse
        /// Whether a path may occur twice and parents may be missing, as in other programs' tar
        /// files.
        package var isLenient = false
        /// The paths to restore with everything below them; empty for all.
        package var selection: [EntryPath] = []
        /// Selects more entries, by their path and whether they are directories.
        package var selects: (@Sendable (EntryPath, _ isDirectory: Bool) -> Bool)?
        /// Unselected paths with selected hard links to them: they are restored and then removed.
        package var linkTargets: Set<EntryPath> = []
        /// Whether damaged or refused entries are omitted instead of failing the extraction.
        package var passesOverDamage = false
        /// Directories that are made if the archive holds their parent but not them.
        package var recreated: [EntryPath] = []
        /// Names in the root that belong to the destination: they and everything below are omitted.
        package var reserved: [EntryPath] = []
        /// The maximum bytes of content that may be restored.
        package var byteLimit = UInt64.max
        /// The owner of everything restored; `nil` for this process's own user.
        package var owner: FileOwner?
        /// The extra metadata that is restored.
        package var extraMetadata: ExtraMetadata = []
        /// The accounts that replace those in the archive.
        package var ownerMap = OwnerMap()
        /// The times that the destination can hold; `nil` if that is not known.
        package var times: StorableTimes?
        /// Whether an entry with a time that the destination can't hold is an error.
        package var requiresTimes = false
        /// Called with each selected entry that is restored.
        package var entryHandler: (@Sendable (ArchiveEntry) -> Void)?

        package init() {}

        /// How the destination changes the time of `entry`; `nil` if it doesn't.
        ///
        /// - Throws: ``ArchiveError`` of code `unrepresentable` if the time is required.
        package func changedTime(
            of entry: ArchiveEntry
        ) throws(ArchiveError) -> EntryOmission.Kind? {
            // A hard link shares the time of its file.
            if case .hardLink = entry.kind { return nil }
            let time = entry.modificationTime
            guard let stored = times?.stored(time), stored != time else { return nil }
            guard !requiresTimes else {
                let message = "the destination can't hold the time \(time.universal) of the entry"
                throw ArchiveError(.unrepresentable, message, entry: entry.path)
            }
            return .modificationTime(time, stored: stored)
        }

        /// Whether everything is restored.
        var selectsAll: Bool { selection.isEmpty && selects == nil }

        /// Whether the directory at `path` is itself selected.
        func includesDirectory(at path: EntryPath) -> Bool {
            selectsAll || selection.contains(where: path.isEqual(toOrBelow:))
                || selects?(path, true) ?? false
        }

        /// How many of the first `count` directories on the way to `path` are not selected themselves;
        /// everything in a selected one is selected too.
        func depthOfFirstIncluded(above path: EntryPath, _ count: Int) -> Int {
            if selectsAll { return 0 }
            return (0..<count).partitionPoint {
                includesDirectory(at: path.ancestor(atDepth: $0 + 1))
            }
        }
    }

    private let options: Options
    /// Counts what was restored and omitted so far.
    package let tally: ExtractionTally
    private let tree: RestoredTree
    private let links: DeferredLinks
    private let directories: DeferredDirectories
    /// How new files get their permissions; `nil` if no files are made.
    private let mode: NewFileMode?
    private var foundSelection: Set<EntryPath> = []
    /// The last entry whose header was read.
    private var lastPath: EntryPath?
    private var hasNotedOwners = false
    private var isCutOff = false
    private var foundTargets = PathHashes(of: "files that hard links lead to")

    /// The bytes of content that were read so far, for progress.
    package private(set) var readContentBytes: UInt64 = 0

    /// How many directories were opened so far.
    var openCount: Int { tree.openCount }

    /// Restores beneath `root`.
    package convenience init(root: consuming FileDescriptor, options: Options) {
        self.init(in: OpenFile(root), options: options)
    }

    /// Checks entries exactly as when restoring, without making anything.
    ///
    /// State that does not fit into memory is kept in temporary files.
    package convenience init(restoringNothing options: Options) {
        self.init(in: TreeAccount().root, options: options)
    }

    private init(in root: any RestoredDirectory, options: Options) {
        self.options = options
        tally = ExtractionTally(options: options)
        tree = RestoredTree(root: root, options: options, tally: tally)
        mode = tree.rootOnDisk.map { NewFileMode(in: $0.descriptor, owner: options.owner) }
        links = DeferredLinks(in: tree, options: options, tally: tally)
        directories = DeferredDirectories(of: tree, options: options)
    }

    /// Restores everything that `archive` holds, and proves that it was complete.
    package func extract(
        from archive: ArchiveReader,
        onProgress: (UInt64) -> Void
    ) throws {
        tree.writers = makeWriters(for: archive)
        defer {
            tree.writers?.close()
            tree.writers = nil
            links.close()
            directories.close()
        }
        try tree.takeReservedNames()
        do {
            try restoreEntries(of: archive, onProgress: onProgress)
        } catch {
            // Files that were handed to the writers come earlier in the archive, and so do their failures.
            try tree.settleFiles()
            throw error
        }
        try tree.settleFiles()
        try tree.checkDirectories()
        try links.make(archive.operation)
        try removeLinkTargets()
        try tree.freeReservedNames()
        try links.checkEnds(archive.operation)
        for path in options.recreated { try tree.recreateDirectory(at: path) }
        try directories.finish()
    }

    /// Makes the writers, unless no file is made, or a later entry may replace an earlier one.
    private func makeWriters(for archive: ArchiveReader) -> FileWriters? {
        guard let mode, !options.isLenient, !options.passesOverDamage else { return nil }
        return FileWriters(for: archive, mode: mode)
    }

    private func restoreEntries(
        of archive: ArchiveReader,
        onProgress: (UInt64) -> Void
    ) throws {
        while let entry = try nextEntry(of: archive) {
            noteOmissions(of: archive)
            if options.reserved.contains(where: entry.path.isEqual(toOrBelow:)) {
                tally.note(EntryOmission(path: entry.path, kind: .reserved))
            } else if isSelected(entry.path, isDirectory: entry.kind == .directory) {
                if try restore(entry, from: archive, onProgress) { options.entryHandler?(entry) }
            } else if options.linkTargets.contains(entry.path) {
                try foundTargets.insert(entry.path)
                _ = try restore(entry, from: archive, onProgress)
            }
            onProgress(archive.consumedBytes)
        }
        noteOmissions(of: archive)
        if !tally.isIncomplete,
            let missing = options.selection.first(where: { !foundSelection.contains($0) })
        {
            throw ArchiveError(.notFound, "the archive has no such entry", entry: missing)
        }
    }

    private func nextEntry(of archive: ArchiveReader) throws -> ArchiveEntry? {
        while !isCutOff {
            do {
                let entry = try archive.next()
                lastPath = entry?.path
                return entry
            } catch let error as ArchiveError where options.passesOverDamage && error.isOfArchive {
                try passOverDamage(of: archive, because: ": \(error)")
            }
        }
        return nil
    }

    private func isSelected(_ path: EntryPath, isDirectory: Bool) -> Bool {
        if options.selectsAll { return true }
        var isSelected = options.selects?(path, isDirectory) ?? false
        for selected in options.selection where path.isEqual(toOrBelow: selected) {
            foundSelection.insert(selected)
            isSelected = true
        }
        return isSelected
    }

    /// Records the parts of selected entries that the reader omitted.
    private func noteOmissions(of archive: ArchiveReader) {
        for omission in archive.takeOmissions()
        where isSelected(omission.path, isDirectory: false)
            || options.linkTargets.contains(omission.path)
        {
            tally.note(omission)
        }
    }

    /// Restores `entry`; returns `false` if it is left out.
    private func restore(
        _ entry: ArchiveEntry,
        from archive: ArchiveReader,
        _ onProgress: (UInt64) -> Void
    ) throws -> Bool {
        do {
            guard options.isLenient || !links.isSkipped(entry.path) else {
                throw ArchiveError(.entryExists, "the path existed already", entry: entry.path)
            }
            let entry = restorable(entry)
            try checkTime(of: entry)
            switch entry.kind {
            case .file: try restoreFile(entry, from: archive, onProgress)
            case .directory: try restoreDirectory(entry)
            case .symbolicLink: try links.add(entry, at: archive.entryOffset)
            case .hardLink(let target):
                try restoreHardLink(entry, to: target, at: archive.entryOffset)
            }
            return !links.isSkipped(entry.path)
        } catch {
            let error = ArchiveError.located(
                error,
                restoring: entry.path,
                at: archive.entryOffset
            )
            guard try tally.passesOver(error, of: entry.path) else { throw error }
            // Any other failure affects only this entry, and the next one can be read.
            guard let error = error as? ArchiveError, error.isDamage else { return false }
            try passOverDamage(of: archive, because: "")
            return false
        }
    }

    /// Records or refuses a time that the destination would change.
    private func checkTime(of entry: ArchiveEntry) throws(ArchiveError) {
        guard let change = try options.changedTime(of: entry) else { return }
        tally.note(EntryOmission(path: entry.path, kind: change))
    }

    /// Returns `entry` with the metadata to restore, for this machine's accounts, and records what is
    /// omitted.
    private func restorable(_ entry: ArchiveEntry) -> ArchiveEntry {
        let extra = options.extraMetadata
        if entry.owner == nil, entry.extendedAttributes.isEmpty { return entry }
        if entry.owner != nil, !extra.contains(.owners), !hasNotedOwners {
            hasNotedOwners = true
            tally.note(EntryOmission(path: EntryPath("."), kind: .owners))
        }
        let attributes = entry.extendedAttributes.compactMap { attribute -> ExtendedAttribute? in
            guard extra.includesAttribute(attribute.name) else {
                let kind = EntryOmission.Kind.extendedAttribute(name: attribute.name)
                tally.note(EntryOmission(path: entry.path, kind: kind))
                return nil
            }
            return attribute.mapped(by: options.ownerMap)
        }
        return entry.changing {
            $0.extendedAttributes = attributes
            $0.owner = extra.contains(.owners) ? entry.owner.map(options.ownerMap.owner) : nil
        }
    }

    /// Resumes after damage, and records that entries with unknown names may be missing.
    private func passOverDamage(
        of archive: ArchiveReader,
        because reason: String
    ) throws {
        let next = try archive.passOverDamage { path in
            guard isSelected(path, isDirectory: false) else { return }
            tally.note(EntryOmission(path: path, kind: .damaged("it lies in a damaged part")))
        }
        isCutOff = next == nil
        let gap =
            if let path = next?.path {
                "what the archive holds between it and \(path) may be missing"
            } else if next != nil {
                "what follows it may be missing in part"
            } else {
                "everything that follows it is missing"
            }
        let path = lastPath ?? EntryPath(".")
        tally.note(EntryOmission(path: path, kind: .damaged(gap + reason)))
    }

    /// The permissions without the bits that would give a program another user's rights.
    private func restoredPermissions(of entry: ArchiveEntry) -> UInt16 {
        let special = entry.permissions & 0o7000
        if special != 0 {
            tally.note(EntryOmission(path: entry.path, kind: .specialPermissions(special)))
        }
        return entry.permissions & 0o777
    }

    /// Removes the files that were restored only because hard links lead to them.
    private func removeLinkTargets() throws {
        for path in options.linkTargets where foundTargets.contains(path) {
            do throws(SystemError) {
                try tree.removeFileAndEmptyParents(at: path)
            } catch {
                throw ArchiveError(error, restoring: path)
            }
        }
    }
}

// MARK: - Files

extension ArchiveExtractor {
    private func restoreFile(
        _ entry: ArchiveEntry,
        from archive: ArchiveReader,
        _ onProgress: (UInt64) -> Void
    ) throws {
        try tally.claim(entry, stored: archive.storedSize)
        let permissions = restoredPermissions(of: entry)
        let file = RestoredFile(entry, permissions: permissions, offset: archive.entryOffset)
        let place = try tree.place(ofFileAt: entry.path)
        if try !takeContent(of: file, entry.contentSize, at: place, from: archive, onProgress) {
            try make(file, at: place, from: archive, onProgress)
        }
        tally.count(entry)
    }

    /// Passes a file with all of its content to the writers; returns `false` if there are no
    /// writers.
    private func takeContent(
        of file: RestoredFile,
        _ size: UInt64,
        at place: RestoredPlace,
        from archive: ArchiveReader,
        _ onProgress: (UInt64) -> Void
    ) throws -> Bool {
        guard let writers = tree.writers else { return false }
        var begun: SharedFile?
        return try archive.takeContent { offset, content in
            readContentBytes.addSaturating(UInt64(content.count))
            if UInt64(content.count) == size {
                return try writers.append(file, at: place, holding: content)
            }
            if begun == nil { begun = try writers.begin(file, at: place) }
            if let begun { try writers.append(partOf: begun, at: offset, content) }
            onProgress(archive.consumedBytes)
        }
    }

    /// Makes a file on this thread, piece by piece while its content is read.
    private func make(
        _ file: RestoredFile,
        at place: RestoredPlace,
        from archive: ArchiveReader,
        _ onProgress: (UInt64) -> Void
    ) throws {
        var made: FileContentWriter?
        try tree.replacing(place.path, in: place.directory) {
            made = try file.make(place.name, in: place.directory, mode ?? NewFileMode())
        }
        guard let writer = made.take() else { return }
        do {
            var end: UInt64 = 0
            try archive.readContent { offset, piece in
                end = max(end, try writer.write(piece, at: offset))
                readContentBytes.addSaturating(UInt64(piece.count))
                onProgress(archive.consumedBytes)
            }
            try writer.finish(end: end)
            try writer.close()
        } catch {
            // A file that wasn't read completely isn't restored, even if all others are.
            if options.passesOverDamage { try place.directory.removeFile([UInt8](place.name)) }
            throw error
        }
    }
}

// MARK: - Directories

extension ArchiveExtractor {
    private func restoreDirectory(_ entry: ArchiveEntry) throws {
        let attributes = entry.extendedAttributes.besideAccessLists
        let isImplied = tree.takeImplied(entry.path)
        if !isImplied || entry.owner != nil || !attributes.isEmpty {
            let directory = try tree.parent(of: entry.path)
            let name = [UInt8](entry.path.lastComponent)
            if !isImplied { try declareDirectory(entry, named: name, in: directory) }
            if let owner = entry.owner { try tree.setOwner(owner, of: name, in: directory) }
            if !attributes.isEmpty, let directory = directory as? OpenFile {
                try directory.descriptor.open(name, .directory).setExtendedAttributes(attributes)
            }
        }
        try directories.add(entry, permissions: restoredPermissions(of: entry))
    }

    /// Makes the directory of `entry`; one that an earlier entry made stays and gets the later metadata.
    private func declareDirectory(
        _ entry: ArchiveEntry,
        named name: [UInt8],
        in directory: any RestoredDirectory
    ) throws {
        do {
            try tree.replacing(entry.path, in: directory) {
                try directory.makeDirectory(name, permissions: 0o700)
                try tree.setOwner(of: name, in: directory)
            }
            tally.count(entry)
        } catch let error as SystemError where error.isExisting && options.isLenient {
            try tree.checkSpelling(of: name, in: directory)
            try directories.redeclare(entry.path)
        }
        try tree.remember(entry.path)
    }
}

// MARK: - Hard links

extension ArchiveExtractor {
    private func restoreHardLink(
        _ entry: ArchiveEntry,
        to target: EntryPath,
        at offset: UInt64
    ) throws {
        try tree.settleFiles()
        guard let source = try tree.existing(at: target) else {
            if links.isSkipped(target) { return try links.skip(entry.path, to: target.bytes) }
            guard !options.isLenient else {
                throw DeferredLinks.missingTarget(target, of: entry.path)
            }
            // The earlier entry may be a symbolic link that isn't made yet.
            return try links.add(entry, at: offset)
        }
        switch source.kind {
        // The entry already exists.
        case .regular where entry.isLinkToItself, .symbolicLink where entry.isLinkToItself: return
        case .regular: break
        case .symbolicLink: return try links.add(entry, at: offset)
        default:
            let message = "a hard link to something that is not a file"
            throw ArchiveError(.refused, message, entry: entry.path)
        }
        let directory = try tree.parent(of: entry.path)
        let name = [UInt8](entry.path.lastComponent)
        try tree.replacing(entry.path, in: directory) {
            let targetName = [UInt8](target.lastComponent)
            try directory.makeHardLink(name, to: targetName, in: source.directory)
        }
        try tally.countHardLink(entry, to: target) { () throws(SystemError) in
            try directory.status(of: name)
        }
    }
}
