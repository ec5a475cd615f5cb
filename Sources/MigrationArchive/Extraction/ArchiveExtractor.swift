package import MigrationSystem

/// Restores entries beneath a directory, each relative to its parent's descriptor and never through a link.
///
/// Files and directories are made as they come, readable by their owner alone; links follow when all
/// files are there, and the modes and times of directories last of all, the deepest first.
package final class ArchiveExtractor {
    /// What is done with links that lead out of the directory.
    package enum ExternalLinks: Sendable {
        case refuse, keep, skip
    }

    /// What is restored, and how.
    package struct Options: Sendable {
        /// What becomes of links that lead out.
        package var externalLinks = ExternalLinks.refuse
        /// Whether a path may come twice and parents may be missing, as in other programs' tar files.
        package var isLenient = false
        /// The paths to restore with everything below them; all where there are none.
        package var selection: [EntryPath] = []
        /// Where the files are restored that are not selected but have further names that are.
        package var standIns: [EntryPath: EntryPath] = [:]
        /// Paths that are left out with everything below them, because they belong to the place.
        package var leftOut: [EntryPath] = []
        /// The bytes of content that there may be at most.
        package var byteLimit = UInt64.max

        package init() {}
    }

    private let options: Options
    private let cursor: DirectoryCursor
    private let links: RecordSpool
    private let directories: RecordSpool
    private var redeclared: Set<EntryPath> = []
    private var finished: Set<EntryPath> = []
    private var found: Set<EntryPath> = []
    private var skippedLinks: [EntryPath: [UInt8]] = [:]

    /// How much was restored so far.
    package private(set) var totals = ArchiveTotals()

    /// What of the restored entries was left out.
    package private(set) var drops: [EntryDrop] = []

    /// How many things were left out; the first 1,000 are in ``drops``.
    package private(set) var dropCount = 0

    /// Restores beneath `root`.
    package init(root: consuming FileDescriptor, options: Options) {
        self.options = options
        let cursor = DirectoryCursor(root: root)
        self.cursor = cursor
        let makeFile = { () throws(SystemError) -> FileDescriptor in
            try cursor.rootDirectory.descriptor.openUnnamed()
        }
        links = RecordSpool(makeFile: makeFile)
        directories = RecordSpool(makeFile: makeFile)
    }

    /// Restores what `reader` holds, and proves that it was all of it.
    package func extract(from reader: ArchiveReader, onProgress: (UInt64) -> Void) throws {
        while let entry = try reader.next() {
            for drop in reader.takeDrops() { note(drop) }
            if options.leftOut.contains(where: entry.path.isEqual(toOrBelow:)) {
                note(EntryDrop(path: entry.path, kind: .reserved))
            } else if isSelected(entry.path) {
                try restore(entry, from: reader)
            } else if let path = options.standIns[entry.path] {
                try restore(entry.moved(to: path), from: reader)
            }
            onProgress(reader.consumedBytes)
        }
        if let missing = options.selection.first(where: { !found.contains($0) }) {
            throw ArchiveError(.notFound, "the archive has no such entry", entry: missing)
        }
        try makeDeferredLinks()
        try finishDirectories()
    }

    private func isSelected(_ path: EntryPath) -> Bool {
        if options.selection.isEmpty { return true }
        var isSelected = false
        for selected in options.selection where path.isEqual(toOrBelow: selected) {
            found.insert(selected)
            isSelected = true
        }
        return isSelected
    }

    private func note(_ drop: EntryDrop) {
        dropCount += 1
        if drops.count < 1_000 { drops.append(drop) }
    }

    private func restore(_ entry: ArchiveEntry, from reader: ArchiveReader) throws {
        do {
            switch entry.kind {
            case .file: try restoreFile(entry, from: reader)
            case .directory: try restoreDirectory(entry)
            case .symbolicLink(let target): try deferLink(entry, .symbolic, to: target)
            case .hardLink(let target): try restoreHardLink(entry, to: target)
            }
        } catch let error as SystemError {
            throw failure(error, restoring: entry.path)
        }
    }

    private func failure(_ error: SystemError, restoring path: EntryPath) -> ArchiveError {
        if error.isOutOfSpace {
            return ArchiveError(.outOfSpace, "there is no room for", entry: path, cause: error)
        }
        if error.isExisting {
            return ArchiveError(.entryExists, "the path is there already", entry: path)
        }
        if error.isNotDirectory {
            let message = "a part of the path is a link or a file, not a directory"
            return ArchiveError(.refused, message, entry: path)
        }
        return ArchiveError(.outputFailed, "can't be restored", entry: path, cause: error)
    }
}

// MARK: - Parents

extension ArchiveExtractor {
    private func parent(of path: EntryPath) throws -> OpenFile {
        let components = path.components.dropLast()
        do {
            return try cursor.directory(at: components)
        } catch {
            guard error.isMissing else { throw error }
            // Part of a selection or another program's archive: its parents need not be entries.
            guard options.isLenient || !options.selection.isEmpty else {
                throw ArchiveError(.refused, "the entry comes before its directory", entry: path)
            }
            return try makeParents(components)
        }
    }

    private func makeParents(
        _ components: ArraySlice<ArraySlice<UInt8>>
    ) throws -> OpenFile {
        var directory = cursor.rootDirectory
        for depth in components.indices {
            let path = components[...depth]
            do throws(SystemError) {
                directory = try cursor.directory(at: path)
            } catch {
                guard error.isMissing else { throw error }
                let name = ByteString(components[depth])
                try directory.descriptor.makeDirectory(name, permissions: 0o755)
                directory = try cursor.directory(at: path)
            }
        }
        return directory
    }

    /// Calls `body`; where the name is taken in a lenient archive, what has it makes room first.
    private func replacing(
        _ name: ByteString,
        in directory: OpenFile,
        _ body: () throws -> Void
    ) throws {
        do {
            try body()
        } catch let error as SystemError where error.isExisting && options.isLenient {
            guard try directory.descriptor.status(of: name).kind != .directory else { throw error }
            try directory.descriptor.removeFile(name)
            try body()
        }
    }
}

// MARK: - Entries

extension ArchiveExtractor {
    private func restoreFile(_ entry: ArchiveEntry, from reader: ArchiveReader) throws {
        let (total, overflow) = totals.contentBytes.addingReportingOverflow(entry.contentSize)
        guard !overflow, total <= options.byteLimit else {
            throw ArchiveError(
                .outOfSpace,
                "the archive claims more content than there is room for",
                entry: entry.path
            )
        }
        let directory = try parent(of: entry.path)
        let name = ByteString(entry.path.lastComponent)
        var opened: FileDescriptor?
        try replacing(name, in: directory) {
            opened = try directory.descriptor.open(name, .creating(permissions: 0o600))
        }
        guard let descriptor = opened.take() else { return }
        var writer = FileContentWriter(writingTo: descriptor)
        try reader.readContent { offset, piece in
            try writer.write(piece, at: offset)
        }
        try writer.finish(entry, permissions: restoredPermissions(of: entry))
        totals.count(entry)
    }

    private func restoreDirectory(_ entry: ArchiveEntry) throws {
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
        if try directory.descriptor.status(of: name).kind == .directory {
            redeclared.insert(entry.path)
            return
        }
        try directory.descriptor.removeFile(name)
        try directory.descriptor.makeDirectory(name, permissions: 0o700)
    }

    private func restoreHardLink(_ entry: ArchiveEntry, to archived: EntryPath) throws {
        let target = options.standIns[archived] ?? archived
        if target == entry.path { return }
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
            return try deferLink(entry, .hard, to: target.bytes)
        }
        let directory = try parent(of: entry.path)
        let name = ByteString(entry.path.lastComponent)
        try replacing(name, in: directory) {
            try directory.descriptor.makeHardLink(name, to: targetName, in: source.descriptor)
        }
        totals.count(entry)
    }

    private func deferLink(
        _ entry: ArchiveEntry,
        _ kind: DeferredLink.Kind,
        to target: [UInt8]
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
            modificationTime: entry.modificationTime
        )
        try links.append(link.record)
        totals.count(entry)
    }

    private static func leadsOut(_ path: EntryPath, _ target: [UInt8]) -> ArchiveError {
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

// MARK: - What comes last

extension ArchiveExtractor {
    private func makeDeferredLinks() throws {
        try links.forEach { record in
            let link = DeferredLink(record: record)
            let path = EntryPath(bytes: link.path)
            do {
                switch link.kind {
                case .symbolic: try makeSymbolicLink(link, at: path)
                case .hard: try makeHardLinkToLink(link, at: path)
                }
            } catch let error as SystemError {
                throw failure(error, restoring: path)
            }
        }
        guard options.externalLinks != .keep else { return }
        try links.forEach { record in
            let link = DeferredLink(record: record)
            let path = EntryPath(bytes: link.path)
            do {
                try checkResolution(of: link, at: path)
            } catch let error as SystemError {
                throw failure(error, restoring: path)
            }
        }
    }

    private func makeSymbolicLink(_ link: DeferredLink, at path: EntryPath) throws {
        let directory = try parent(of: path)
        let name = ByteString(path.lastComponent)
        try directory.descriptor.makeSymbolicLink(name, to: link.target)
        try directory.descriptor.setModificationTime(link.modificationTime, of: name)
    }

    private func makeHardLinkToLink(_ link: DeferredLink, at path: EntryPath) throws {
        let target = EntryPath(bytes: link.target)
        if let skipped = skippedLinks[target] {
            skippedLinks[path] = skipped
            totals.hardLinks -= 1
            return note(EntryDrop(path: path, kind: .externalLink(target: skipped)))
        }
        let missing = ArchiveError(
            .refused,
            "a hard link to \(target), which does not come before it",
            entry: path
        )
        let targetName = ByteString(target.lastComponent)
        let source: OpenFile
        do {
            source = try cursor.directory(at: target.components.dropLast())
            guard try source.descriptor.status(of: targetName).kind == .symbolicLink else {
                throw missing
            }
        } catch let error as SystemError where error.isMissing {
            throw missing
        }
        let directory = try parent(of: path)
        let name = ByteString(path.lastComponent)
        try directory.descriptor.makeHardLink(name, to: targetName, in: source.descriptor)
    }

    /// Finds links whose words stay inside but that lead out through other links, and links that
    /// lead out from where a further name of them lies.
    private func checkResolution(of link: DeferredLink, at path: EntryPath) throws {
        if skippedLinks[path] != nil { return }
        let directory = try parent(of: path)
        let name = ByteString(path.lastComponent)
        let isFurtherName = link.kind == .hard
        let target = try isFurtherName ? directory.descriptor.symbolicLinkTarget(name) : link.target
        guard
            isFurtherName && path.leadsOut(withTarget: target)
                || cursor.rootDirectory.descriptor.resolution(of: link.path) == .outside
        else { return }
        guard options.externalLinks == .skip else { throw Self.leadsOut(path, target) }
        try directory.descriptor.removeFile(name)
        if isFurtherName { totals.hardLinks -= 1 } else { totals.symbolicLinks -= 1 }
        note(EntryDrop(path: path, kind: .externalLink(target: target)))
    }

    private func finishDirectories() throws {
        try directories.forEachReversed { record in
            let directory = DeferredDirectory(record: record)
            let path = EntryPath(bytes: directory.path)
            if !redeclared.isEmpty, redeclared.contains(path) {
                guard finished.insert(path).inserted else { return }
            }
            do throws(SystemError) {
                let opened = try cursor.directory(at: path.components)
                try opened.descriptor.setPermissions(directory.permissions)
                try opened.descriptor.setModificationTime(directory.modificationTime)
            } catch {
                throw failure(error, restoring: path)
            }
        }
    }
}
