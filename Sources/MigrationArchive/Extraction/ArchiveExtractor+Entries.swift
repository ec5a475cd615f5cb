internal import MigrationSystem

/// How each kind of entry is restored.
extension ArchiveExtractor {
    func restoreFile(_ entry: ArchiveEntry, from reader: ArchiveReader) throws {
        try checkClaim(of: entry, stored: reader.storedSize)
        let file = RestoredFile(
            entry: entry,
            directory: try parent(of: entry.path),
            permissions: restoredPermissions(of: entry),
            offset: reader.entryOffset
        )
        if let writers, let content = try reader.takeContent() {
            try writers.append(file, holding: content)
        } else {
            try make(file, from: reader)
        }
        count(entry)
    }

    /// Checks what the files claim together before the next one is made: content needs room, and
    /// holes, which cost an archive nothing to claim, have a limit.
    private func checkClaim(of entry: ArchiveEntry, stored: UInt64) throws(ArchiveError) {
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

    /// Makes a file here and now, piece by piece as its content is read.
    private func make(_ file: RestoredFile, from reader: ArchiveReader) throws {
        var made: FileContentWriter?
        let path = file.entry.path
        try replacing(path, in: file.directory) { made = try file.make(mode) }
        guard var writer = made.take() else { return }
        try reader.readContent { offset, piece in
            try writer.write(piece, at: offset)
        }
        try writer.finish(file.entry)
    }

    func restoreDirectory(_ entry: ArchiveEntry) throws {
        let directory = try parent(of: entry.path)
        let name = ByteString(entry.path.lastComponent)
        do throws(SystemError) {
            try directory.makeDirectory(name, permissions: 0o700)
            try give(name, in: directory)
            count(entry)
        } catch {
            guard error.isExisting && options.isLenient else { throw error }
            try redeclare(entry, in: directory)
        }
        try remember(entry.path)
        if !entry.extendedAttributes.isEmpty {
            try directory.openDirectory(name).setExtendedAttributes(entry.extendedAttributes)
        }
        let deferred = DeferredDirectory(
            path: entry.path.bytes,
            permissions: restoredPermissions(of: entry),
            modificationTime: entry.modificationTime
        )
        try directories.append(deferred.record)
    }

    /// Takes a directory's entry that comes again: a directory stays and gets the later metadata.
    private func redeclare(
        _ entry: ArchiveEntry,
        in directory: any RestoredDirectory
    ) throws {
        let name = ByteString(entry.path.lastComponent)
        try checkSpelling(of: name, in: directory)
        if try directory.status(of: name).kind == .directory {
            try redeclared.insert(entry.path)
            return
        }
        try removeReplaced(by: entry.path, in: directory)
        try directory.makeDirectory(name, permissions: 0o700)
        try give(name, in: directory)
        count(entry)
    }

    /// Gives what was made as `name` in `directory` to the owner of all of it, where that is another.
    func give(_ name: ByteString, in directory: any RestoredDirectory) throws(SystemError) {
        guard let owner = options.owner, let directory = directory as? OpenFile else { return }
        try directory.descriptor.setOwner(owner, of: name)
    }

    func restoreHardLink(
        _ entry: ArchiveEntry,
        to target: EntryPath,
        at offset: UInt64
    ) throws {
        try settleFiles()
        let targetName = ByteString(target.lastComponent)
        let source: any RestoredDirectory
        do {
            source = try cursor.directory(at: target.components.dropLast())
            switch try source.status(of: targetName).kind {
            case .regular: break
            case .symbolicLink: return try deferLink(entry, .hard, to: target.bytes, at: offset)
            default:
                throw ArchiveError(.refused, "a hard link to what is no file", entry: entry.path)
            }
        } catch let error as SystemError where error.isMissing {
            if skippedLinks.contains(target) { return try skip(entry.path, to: target.bytes) }
            guard !options.isLenient else { throw Self.missingTarget(target, of: entry.path) }
            // The earlier entry may be a symbolic link, which is not made yet.
            return try deferLink(entry, .hard, to: target.bytes, at: offset)
        }
        let directory = try parent(of: entry.path)
        let name = ByteString(entry.path.lastComponent)
        try replacing(entry.path, in: directory) {
            try directory.makeHardLink(name, to: targetName, in: source)
        }
        try countHardLink(entry, to: target, in: directory)
    }

    /// Counts a hard link: the first selected name of a file that is not selected is the file itself.
    private func countHardLink(
        _ entry: ArchiveEntry,
        to target: EntryPath,
        in directory: any RestoredDirectory
    ) throws(SystemError) {
        let targets = options.linkTargets
        guard targets.contains(target), !targets.contains(entry.path) else { return count(entry) }
        let file = try directory.status(of: ByteString(entry.path.lastComponent))
        if countedFiles.insert(file.identity).inserted {
            totals.countFile(of: file.size)
        } else {
            count(entry)
        }
    }

    func deferLink(
        _ entry: ArchiveEntry,
        _ kind: DeferredLink.Kind,
        to target: [UInt8],
        at offset: UInt64
    ) throws {
        if kind == .symbolic, entry.path.leadsOut(withTarget: target) {
            switch options.externalLinks {
            case .refuse: throw Self.refusal(of: entry.path, target, .outside)
            case .skip: return try skip(entry.path, to: target)
            case .keep: break
            }
        }
        // The link is made last, but its place must be there now, as every other entry's.
        let directory = try parent(of: entry.path)
        if options.isLenient { try reserve(entry.path, in: directory) }
        skippedLinks.remove(entry.path)
        let link = DeferredLink(
            kind: kind,
            path: entry.path.bytes,
            target: target,
            modificationTime: entry.modificationTime,
            offset: offset
        )
        try links.append(link.record)
    }

    /// Leaves out the link at `path`, and what it would replace.
    private func skip(_ path: EntryPath, to target: [UInt8]) throws {
        if options.isLenient {
            let directory = try parent(of: path)
            try reserve(path, in: directory)
            try directory.removeFile(ByteString(path.lastComponent))
        }
        try skippedLinks.insert(path)
        note(EntryDrop(path: path, kind: .externalLink(target: target)))
    }

    /// The permissions without the bits that would give a program another's rights.
    private func restoredPermissions(of entry: ArchiveEntry) -> UInt16 {
        let special = entry.permissions & 0o7000
        if special != 0 {
            note(EntryDrop(path: entry.path, kind: .specialPermissions(special)))
        }
        return entry.permissions & 0o777
    }
}
