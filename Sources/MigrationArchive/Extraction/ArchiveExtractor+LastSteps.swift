internal import MigrationSystem

/// What comes last: links, then the modes and times of directories.
extension ArchiveExtractor {
    func makeDeferredLinks(_ cancellation: CancellationFlag) throws {
        try forEachLink(cancellation) { link, path in
            switch link.kind {
            case .symbolic: try makeSymbolicLink(link, at: path)
            case .hard: try makeHardLinkToLink(link, at: path)
            }
        }
    }

    /// Finds links that lead out through what is there to stay; nothing else may be there any more.
    ///
    /// All of them together take a bounded number of steps for each link, whatever leads through
    /// whatever: links that lead through thousands of directories cost an archive next to nothing.
    func checkEnds(_ cancellation: CancellationFlag) throws {
        guard options.externalLinks != .keep else { return }
        let start = cursor.openCount
        var looks = 0
        var allowance = Self.leastSteps
        var isFirstLook = true
        var knownCount: Int
        repeat {
            // What is left out may have been on the way of a link that was looked at before.
            knownCount = dropCount
            try forEachLink(cancellation) { link, path in
                let depth = path.bytes.count { $0 == UInt8(ascii: "/") }
                if isFirstLook { allowance += Self.stepsForLink + 4 * depth }
                looks += 1
                guard looks + cursor.openCount - start <= allowance else {
                    throw Self.tooManySteps(path)
                }
                if try isGone(link, at: path) { return }
                try checkEnd(of: link, at: path)
            }
            isFirstLook = false
        } while dropCount > knownCount
    }

    /// The steps that the links of any archive may take.
    private static let leastSteps = 1 << 16
    /// The steps that each further link may add, on top of four for each directory above it.
    private static let stepsForLink = 16

    private static func tooManySteps(_ path: EntryPath) -> ArchiveError {
        let message =
            "the archive's links lead through more directories than are followed; only "
            + "--external-links keep restores them, wherever they lead"
        return ArchiveError(.refused, message, entry: path)
    }

    private func forEachLink(
        _ cancellation: CancellationFlag,
        _ body: (DeferredLink, EntryPath) throws -> Void
    ) throws {
        try links.forEach { record in
            try cancellation.check()
            let link = DeferredLink(record: record)
            let path = EntryPath(bytes: link.path)
            do {
                try body(link, path)
            } catch {
                throw Self.located(error, restoring: path, at: link.offset)
            }
        }
    }

    private func makeSymbolicLink(_ link: DeferredLink, at path: EntryPath) throws {
        let directory = try parent(of: path)
        let name = ByteString(path.lastComponent)
        guard try takeReserved(path, in: directory) else { return }
        try directory.makeSymbolicLink(
            name,
            to: link.target,
            modificationTime: link.modificationTime
        )
        try give(name, in: directory)
        if !options.linkTargets.contains(path) { totals.symbolicLinks += 1 }
    }

    private func makeHardLinkToLink(_ link: DeferredLink, at path: EntryPath) throws {
        let target = EntryPath(bytes: link.target)
        let directory = try parent(of: path)
        let name = ByteString(path.lastComponent)
        guard try takeReserved(path, in: directory) else { return }
        let missing = Self.missingTarget(target, of: path)
        let targetName = ByteString(target.lastComponent)
        let source: any RestoredDirectory
        do {
            source = try cursor.directory(at: target.components.dropLast())
            guard try source.status(of: targetName).kind == .symbolicLink else {
                throw missing
            }
        } catch let error as SystemError where error.isMissing {
            throw missing
        }
        try directory.makeHardLink(name, to: targetName, in: source)
        if !options.linkTargets.contains(path) { totals.hardLinks += 1 }
    }

    static func missingTarget(_ target: EntryPath, of path: EntryPath) -> ArchiveError {
        let message = "a hard link to \(target), which does not come before it"
        return ArchiveError(.refused, message, entry: path)
    }

    /// Finds links whose words stay inside but that lead out through other links, and links that
    /// lead out from where a further name of them lies.
    private func checkEnd(of link: DeferredLink, at path: EntryPath) throws {
        let directory = try cursor.directory(at: path.components.dropLast())
        let name = ByteString(path.lastComponent)
        let isFurtherName = link.kind == .hard
        let target = try isFurtherName ? directory.symbolicLinkTarget(name) : link.target
        let isOutsideByWords = path.leadsOut(withTarget: target)
        let end = try isOutsideByWords ? .outside : LinkWalk.end(ofLinkAt: path, to: target, cursor)
        if end == .inside { return }
        guard options.externalLinks == .skip else { throw Self.refusal(of: path, target, end) }
        try directory.removeFile(name)
        if isFurtherName { totals.hardLinks -= 1 } else { totals.symbolicLinks -= 1 }
        note(EntryDrop(path: path, kind: .externalLink(target: target)))
    }

    /// Says why a link at `path` to `target` is refused, which does not end inside.
    static func refusal(
        of path: EntryPath,
        _ target: [UInt8],
        _ end: LinkWalk.End
    ) -> ArchiveError {
        let target = PrintableText.escaping(target)
        let reason =
            end == .undecided
            ? "a link may lead out of the container, up from what is no directory there: \(target)"
            : "a link leads out of the container, to \(target)"
        return ArchiveError(.refused, reason, entry: path)
    }

    /// Removes what was restored only for its further names, with the directories made for it.
    func removeLinkTargets() throws {
        for path in options.linkTargets where foundTargets.contains(path) {
            do throws(SystemError) {
                try removeLinkTarget(path)
            } catch {
                throw ArchiveError(error, restoring: path)
            }
        }
    }

    private func removeLinkTarget(_ path: EntryPath) throws(SystemError) {
        do {
            let directory = try cursor.directory(at: path.components.dropLast())
            let name = ByteString(path.lastComponent)
            // A directory may have come in its place.
            if try directory.status(of: name).kind != .directory {
                try directory.removeFile(name)
            }
        } catch {
            guard error.isMissing else { throw error }
        }
        try removeEmptyDirectories(from: path)
    }

    /// Removes the directory at `path` and those above it as long as they are empty, or not there.
    private func removeEmptyDirectories(from path: EntryPath) throws(SystemError) {
        var components = path.components[...]
        while let name = components.last {
            do throws(SystemError) {
                let directory = try cursor.directory(at: components.dropLast())
                try directory.removeDirectory(ByteString(name))
            } catch {
                if error.isNotEmpty { return }
                guard error.isMissing else { throw error }
            }
            components = components.prefix(cursor.depth)
        }
    }

    func finishDirectories() throws {
        try directories.forEachReversed { record in
            let directory = DeferredDirectory(record: record)
            let path = EntryPath(bytes: directory.path)
            if redeclared.contains(path) {
                guard try finished.insert(path) else { return }
            }
            do throws(SystemError) {
                let opened = try cursor.directory(at: path.components)
                try opened.finish(
                    permissions: directory.permissions,
                    modificationTime: directory.modificationTime
                )
            } catch {
                if error.isMissing, options.linkTargets.contains(path) { return }
                throw ArchiveError(error, restoring: path)
            }
        }
    }
}
