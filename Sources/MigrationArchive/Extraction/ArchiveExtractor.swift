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

    let options: Options
    let cursor: DirectoryCursor
    let links: RecordSpool
    let directories: RecordSpool
    var redeclared: Set<EntryPath> = []
    var finished: Set<EntryPath> = []
    private var found: Set<EntryPath> = []
    var skippedLinks: [EntryPath: [UInt8]] = [:]

    /// How much was restored so far.
    package internal(set) var totals = ArchiveTotals()

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

    func note(_ drop: EntryDrop) {
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

    func failure(_ error: SystemError, restoring path: EntryPath) -> ArchiveError {
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
    func parent(of path: EntryPath) throws -> OpenFile {
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
    func replacing(
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
