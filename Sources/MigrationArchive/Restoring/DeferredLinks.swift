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

    init(
        in tree: RestoredTree,
        options: ArchiveExtractor.Options,
        tally: ExtractionTally,
        makeFile: @escaping () throws(SystemError) -> FileDescriptor
    ) {
        self.tree = tree
        self.options = options
        self.tally = tally
        spool = RecordSpool(makeFile: makeFile)
    }

    /// Forgets all links.
    func close() { spool.close() }

    /// Whether the link at `path` was omitted because it leads out.
    func isSkipped(_ path: EntryPath) -> Bool { skipped.contains(path) }

    /// Adds the link of `entry` to `target`; `offset` is where its header begins in the tar stream.
    func add(
        _ entry: ArchiveEntry,
        kind: DeferredLink.Kind,
        to target: [UInt8],
        at offset: UInt64
    ) throws {
        if kind == .symbolic, entry.path.leadsOut(withTarget: target) {
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
        let link = DeferredLink(
            kind: kind,
            path: entry.path.bytes,
            target: target,
            modificationTime: entry.modificationTime,
            owner: entry.owner,
            offset: offset
        )
        try spool.append(link.record)
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

    private func forEach(
        _ operation: MigrationOperation,
        _ body: (DeferredLink, EntryPath) throws -> Void
    ) throws {
        try spool.forEach { record in
            try operation.check()
            let link = DeferredLink(record: record)
            let path = EntryPath(bytes: link.path)
            do {
                try body(link, path)
            } catch {
                throw ArchiveError.located(error, restoring: path, at: link.offset)
            }
        }
    }
}

// MARK: - Making

extension DeferredLinks {
    /// Makes all links.
    func make(_ operation: MigrationOperation) throws {
        try forEach(operation) { link, path in
            do {
                switch link.kind {
                case .symbolic: try makeSymbolicLink(link, at: path)
                case .hard: try makeHardLink(link, at: path)
                }
            } catch {
                let error = ArchiveError.located(error, restoring: path, at: link.offset)
                guard try tally.passesOver(error, of: path) else { throw error }
            }
        }
    }

    private func makeSymbolicLink(_ link: DeferredLink, at path: EntryPath) throws {
        let directory = try tree.parent(of: path)
        let name = [UInt8](path.lastComponent)
        guard try tree.removePlaceholder(at: path, in: directory) else { return }
        try directory.makeSymbolicLink(
            name,
            to: link.target,
            modificationTime: link.modificationTime
        )
        if let owner = link.owner {
            try tree.setOwner(owner, of: name, in: directory)
        } else {
            try tree.setOwner(of: name, in: directory)
        }
        tally.countLink(.symbolic, at: path)
    }

    /// Makes a hard link to a symbolic link.
    private func makeHardLink(_ link: DeferredLink, at path: EntryPath) throws {
        let target = EntryPath(bytes: link.target)
        let directory = try tree.parent(of: path)
        guard try tree.removePlaceholder(at: path, in: directory) else { return }
        let targetName = [UInt8](target.lastComponent)
        let source: any RestoredDirectory
        do {
            source = try tree.existingParent(of: target)
            guard try source.status(of: targetName).kind == .symbolicLink else {
                throw Self.missingTarget(target, of: path)
            }
        } catch let error as SystemError where error.isMissing {
            throw Self.missingTarget(target, of: path)
        }
        let name = [UInt8](path.lastComponent)
        try directory.makeHardLink(name, to: targetName, in: source)
        tally.countLink(.hard, at: path)
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
            try forEach(operation) { link, path in
                let depth = path.bytes.count { $0 == UInt8(ascii: "/") }
                if isFirstLook { allowance += Self.stepsForLink + 4 * depth }
                looks += 1
                guard looks + tree.openCount - start <= allowance else {
                    throw Self.tooManySteps(path)
                }
                if try isGone(link, at: path) { return }
                try checkEnd(of: link, at: path)
            }
            isFirstLook = false
        } while tally.omissionCount > knownCount
    }

    private static func tooManySteps(_ path: EntryPath) -> ArchiveError {
        let message =
            "the archive's links lead through more directories than are followed"
        return ArchiveError(.refused, message, entry: path, remedy: .keepExternalLinks)
    }

    /// Whether a later entry has replaced or removed `link`.
    private func isGone(_ link: DeferredLink, at path: EntryPath) throws(SystemError) -> Bool {
        do {
            let directory = try tree.existingParent(of: path)
            let name = [UInt8](path.lastComponent)
            guard try tree.isLink(name, in: directory) else { return true }
            guard link.kind == .symbolic else { return false }
            return try directory.symbolicLinkTarget(name) != link.target
        } catch {
            guard error.isMissing else { throw error }
            return true
        }
    }

    /// Refuses or removes a link that leads out through other links, or from the path of a hard
    /// link to it.
    private func checkEnd(of link: DeferredLink, at path: EntryPath) throws {
        let directory = try tree.existingParent(of: path)
        let name = [UInt8](path.lastComponent)
        let target = try link.kind == .hard ? directory.symbolicLinkTarget(name) : link.target
        let isOutside = path.leadsOut(withTarget: target)
        let end = try isOutside ? .outside : tree.end(ofLinkAt: path, to: target)
        if end == .inside { return }
        guard options.externalLinks == .skip else {
            throw Self.refusal(of: path, to: target, end: end)
        }
        try directory.removeFile(name)
        tally.discountLink(link.kind)
        tally.note(EntryOmission(path: path, kind: .externalLink(target: target)))
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

// MARK: - Records

/// One link, kept until all files exist.
struct DeferredLink: Equatable {
    enum Kind: UInt8 {
        case symbolic = 0
        case hard = 1
    }

    let kind: Kind
    let path: [UInt8]
    let target: [UInt8]
    let modificationTime: FileTime
    /// The link's owner; `nil` if all entries get the same owner.
    var owner: FileOwner?
    /// Where its header begins in the tar stream.
    let offset: UInt64

    var record: [UInt8] {
        var bytes = [kind.rawValue]
        bytes.append(modificationTime)
        bytes.appendLittleEndian(offset)
        // The largest number is never an owner.
        bytes.appendLittleEndian(owner?.user ?? .max)
        bytes.appendLittleEndian(owner?.group ?? .max)
        bytes.appendLittleEndian(UInt32(path.count))
        return bytes + path + target
    }

    init(
        kind: Kind,
        path: [UInt8],
        target: [UInt8],
        modificationTime: FileTime,
        owner: FileOwner? = nil,
        offset: UInt64
    ) {
        self.kind = kind
        self.path = path
        self.target = target
        self.modificationTime = modificationTime
        self.owner = owner
        self.offset = offset
    }

    init(record: [UInt8]) {
        kind = record[0] == Kind.hard.rawValue ? .hard : .symbolic
        modificationTime = record.time(at: 1)
        offset = record.littleEndian(at: 13)
        let owner = FileOwner(
            user: record.littleEndian(at: 21),
            group: record.littleEndian(at: 25)
        )
        self.owner = owner.isStorable ? owner : nil
        let count = Int(record.littleEndian(at: 29, as: UInt32.self))
        path = [UInt8](record[33..<33 + count])
        target = [UInt8](record[(33 + count)...])
    }
}
