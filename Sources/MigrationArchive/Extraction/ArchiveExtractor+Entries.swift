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
        totals.count(entry)
    }

    /// Checks what the files claim together before the next one is made: content needs room, and
    /// holes, which cost an archive nothing to claim, have a limit.
    private func checkClaim(of entry: ArchiveEntry, stored: UInt64) throws(ArchiveError) {
        let (total, overflow) = totals.contentBytes.addingReportingOverflow(entry.contentSize)
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
        try replacing(file.name, in: file.directory) { made = try file.make(mode) }
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
            try directory.descriptor.makeDirectory(name, permissions: 0o700)
        } catch {
            let mayBeThere = options.isLenient || !options.standIns.isEmpty
            guard error.isExisting && mayBeThere else { throw error }
            try redeclare(entry, in: directory)
        }
        if !entry.extendedAttributes.isEmpty {
            let made = OpenFile(try directory.descriptor.open(name, .directory))
            try made.descriptor.setExtendedAttributes(entry.extendedAttributes)
        }
        let deferred = DeferredDirectory(
            path: entry.path.bytes,
            permissions: restoredPermissions(of: entry),
            modificationTime: entry.modificationTime
        )
        try directories.append(deferred.record)
        totals.count(entry)
    }

    /// Takes a directory's entry that comes again: a directory stays and gets the later metadata.
    private func redeclare(
        _ entry: ArchiveEntry,
        in directory: OpenFile
    ) throws {
        let name = ByteString(entry.path.lastComponent)
        try checkSpelling(of: name, in: directory)
        if try directory.descriptor.status(of: name).kind == .directory {
            redeclared.insert(entry.path)
            return
        }
        try directory.descriptor.removeFile(name)
        try directory.descriptor.makeDirectory(name, permissions: 0o700)
    }

    func restoreHardLink(
        _ entry: ArchiveEntry,
        to archived: EntryPath,
        at offset: UInt64
    ) throws {
        let target = options.standIns[archived] ?? archived
        if target == entry.path { return }
        try settleFiles()
        let targetName = ByteString(target.lastComponent)
        let source: OpenFile
        do {
            source = try cursor.directory(at: target.components.dropLast())
            let kind = try source.descriptor.status(of: targetName).kind
            guard kind == .regular else {
                throw ArchiveError(.refused, "a hard link to what is no file", entry: entry.path)
            }
        } catch let error as SystemError where error.isMissing {
            // The earlier entry may be a symbolic link, which is not made yet.
            return try deferLink(entry, .hard, to: target.bytes, at: offset)
        }
        let directory = try parent(of: entry.path)
        let name = ByteString(entry.path.lastComponent)
        try replacing(name, in: directory) {
            try directory.descriptor.makeHardLink(name, to: targetName, in: source.descriptor)
        }
        totals.count(entry)
    }

    func deferLink(
        _ entry: ArchiveEntry,
        _ kind: DeferredLink.Kind,
        to target: [UInt8],
        at offset: UInt64
    ) throws {
        if kind == .symbolic, entry.path.leadsOut(withTarget: target) {
            switch options.externalLinks {
            case .refuse: throw Self.leadsOut(entry.path, target)
            case .skip:
                skippedLinks[entry.path] = target
                return note(EntryDrop(path: entry.path, kind: .externalLink(target: target)))
            case .keep: break
            }
        }
        // The link is made last, but its place must be there now, as every other entry's.
        _ = try parent(of: entry.path)
        let link = DeferredLink(
            kind: kind,
            path: entry.path.bytes,
            target: target,
            modificationTime: entry.modificationTime,
            offset: offset
        )
        try links.append(link.record)
        totals.count(entry)
    }

    static func leadsOut(_ path: EntryPath, _ target: [UInt8]) -> ArchiveError {
        let target = PrintableText.escaping(target)
        return ArchiveError(
            .refused,
            "a link leads out of the container, to \(target)",
            entry: path
        )
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
