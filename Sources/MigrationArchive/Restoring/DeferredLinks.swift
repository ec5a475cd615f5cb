internal import MigrationSystem

/// Links, which are made after all files exist, so that nothing can be written through them.
final class DeferredLinks {
    private let options: ArchiveExtractor.Options
    private let tree: RestoredTree
    private let tally: ExtractionTally
    private let spool: RecordSpool
    private var skipped = PathHashes(of: "links that lead out")

    /// The steps that the links of any archive may take.
    private static let leastSteps = 1 << 16
    /// The steps that each link adds, plus four for each directory above it.
    private static let stepsForLink = 16

    init(in tree: RestoredTree, options: ArchiveExtractor.Options, tally: ExtractionTally) {
        self.tree = tree
        self.options = options
        self.tally = tally
        spool = RecordSpool(in: tree.rootOnDisk)
    }

    /// Forgets all links.
    func close() { spool.close() }

    /// Whether the link at `path` was omitted because it leads out.
    func isSkipped(_ path: EntryPath) -> Bool { skipped.contains(path) }

    /// Adds the link of `entry`; `offset` is where its header begins in the tar stream.
    func add(_ entry: ArchiveEntry, at offset: UInt64) throws {
        if case .symbolicLink(let target) = entry.kind, entry.path.leadsOut(withTarget: target) {
            switch options.externalLinks {
            case .refuse: throw Self.refusal(of: entry.path, to: target, end: .outside)
            case .skip: return try skip(entry.path, to: target)
            case .keep: break
            }
        }
        // The link is made last, but its directory must be there now, as for every other entry.
        let directory = try tree.parent(of: entry.path)
        if options.isLenient { try tree.makePlaceholder(at: entry.path, in: directory) }
        skipped.remove(entry.path)
        var record: [UInt8] = []
        record.appendLittleEndian(offset)
        try spool.append(record + entry.record)
    }

    /// Omits the link at `path`, and removes the entry that it would have replaced.
    func skip(_ path: EntryPath, to target: [UInt8]) throws {
        if options.isLenient {
            let directory = try tree.parent(of: path)
            try tree.makePlaceholder(at: path, in: directory)
            try directory.removeFile([UInt8](path.lastComponent))
        }
        try skipped.insert(path)
        tally.note(EntryOmission(path: path, kind: .externalLink(target: target)))
    }

    /// Passes each link to `body`, and an error of `body`, which then names the link, to `fail`.
    private func forEach(
        _ operation: MigrationOperation,
        _ body: (ArchiveEntry) throws -> Void,
        fail: (any Error, EntryPath) throws -> Void = { error, _ in throw error }
    ) throws {
        try spool.forEach { record in
            try operation.check()
            let link = ArchiveEntry(record: record.dropFirst(8))
            do {
                try body(link)
            } catch {
                let offset = record.littleEndian(at: 0, as: UInt64.self)
                try fail(ArchiveError.located(error, restoring: link.path, at: offset), link.path)
            }
        }
    }
}

// MARK: - Making

extension DeferredLinks {
    /// Makes all links.
    func make(_ operation: MigrationOperation) throws {
        try forEach(operation, make) { error, path in
            guard try tally.passesOver(error, of: path) else { throw error }
        }
    }

    private func make(_ link: ArchiveEntry) throws {
        let directory = try tree.parent(of: link.path)
        guard try tree.removePlaceholder(at: link.path, in: directory) else { return }
        switch link.kind {
        case .symbolicLink(let target):
            let (name, time) = ([UInt8](link.path.lastComponent), link.modificationTime)
            try directory.makeSymbolicLink(name, to: target, modificationTime: time)
            try tree.setOwner(link.owner, of: name, in: directory)
        case .hardLink(let target): try makeHardLink(link, to: target, in: directory)
        case .file, .directory: return
        }
        tally.count(link)
    }

    /// Makes a hard link to a symbolic link.
    private func makeHardLink(
        _ link: ArchiveEntry,
        to target: EntryPath,
        in directory: any RestoredDirectory
    ) throws {
        guard let source = try tree.existing(at: target), source.kind == .symbolicLink else {
            throw Self.missingTarget(target, of: link.path)
        }
        let (name, targetName) = ([UInt8](link.path.lastComponent), [UInt8](target.lastComponent))
        try directory.makeHardLink(name, to: targetName, in: source.directory)
    }

    /// Returns why a hard link at `path` is refused if its target does not come before it.
    static func missingTarget(_ target: EntryPath, of path: EntryPath) -> ArchiveError {
        let message = "a hard link to \(target), which does not come before it"
        return ArchiveError(.refused, message, entry: path)
    }
}

// MARK: - Their ends

extension DeferredLinks {
    /// Finds links that lead out of the tree, which must already be complete.
    ///
    /// The number of steps for all links is bounded, however long their routes are: a link through
    /// thousands of directories takes almost no space in an archive.
    func checkEnds(_ operation: MigrationOperation) throws {
        guard options.externalLinks != .keep else { return }
        let start = tree.openCount
        var looks = 0
        var allowance = Self.leastSteps
        var isFirstLook = true
        var knownCount: Int
        repeat {
            // An omitted link may have been on the route of a link that was checked before.
            knownCount = tally.omissionCount
            try forEach(operation) { link in
                let depth = link.path.bytes.count { $0 == UInt8(ascii: "/") }
                if isFirstLook { allowance += Self.stepsForLink + 4 * depth }
                looks += 1
                guard looks + tree.openCount - start <= allowance else {
                    throw Self.tooManySteps(link.path)
                }
                if let target = try target(of: link) { try checkEnd(of: link, to: target) }
            }
            isFirstLook = false
        } while tally.omissionCount > knownCount
    }

    private static func tooManySteps(_ path: EntryPath) -> ArchiveError {
        let message =
            "the archive's links lead through more directories than are followed"
        return ArchiveError(.refused, message, entry: path, remedy: .keepExternalLinks)
    }

    /// The target of `link` in the tree; `nil` if a later entry has replaced or removed the link.
    private func target(of link: ArchiveEntry) throws(SystemError) -> [UInt8]? {
        guard let (directory, kind) = try tree.existing(at: link.path), kind == .symbolicLink else {
            return nil
        }
        let target = try directory.symbolicLinkTarget([UInt8](link.path.lastComponent))
        if case .symbolicLink(let own) = link.kind, own != target { return nil }
        return target
    }

    /// Refuses or removes a link that leads out through other links, or from the path of a hard
    /// link to it.
    private func checkEnd(of link: ArchiveEntry, to target: [UInt8]) throws {
        let directory = try tree.existingParent(of: link.path)
        let isOutside = link.path.leadsOut(withTarget: target)
        let end = try isOutside ? .outside : tree.end(ofLinkAt: link.path, to: target)
        if end == .inside { return }
        guard options.externalLinks == .skip else {
            throw Self.refusal(of: link.path, to: target, end: end)
        }
        try directory.removeFile([UInt8](link.path.lastComponent))
        tally.discount(link)
        tally.note(EntryOmission(path: link.path, kind: .externalLink(target: target)))
    }

    /// Returns why a link at `path` to `target`, which doesn't end inside the tree, is refused.
    private static func refusal(
        of path: EntryPath,
        to target: [UInt8],
        end: LinkWalk.End
    ) -> ArchiveError {
        let target = PrintableText.escaping(target)
        let reason =
            end == .undecided
            ? "a link may lead out of the container, up from something that is not a directory: \(target)"
            : "a link leads out of the container, to \(target)"
        return ArchiveError(.externalLink, reason, entry: path)
    }
}
