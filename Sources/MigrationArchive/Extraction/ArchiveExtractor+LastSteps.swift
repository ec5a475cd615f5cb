internal import MigrationSystem

/// What comes last: links, then the modes and times of directories.
extension ArchiveExtractor {
    func makeDeferredLinks() throws {
        try links.forEach { record in
            let link = DeferredLink(record: record)
            let path = EntryPath(bytes: link.path)
            do {
                switch link.kind {
                case .symbolic: try makeSymbolicLink(link, at: path)
                case .hard: try makeHardLinkToLink(link, at: path)
                }
            } catch {
                throw Self.located(error, restoring: path, at: link.offset)
            }
        }
        guard options.externalLinks != .keep else { return }
        try links.forEach { record in
            let link = DeferredLink(record: record)
            let path = EntryPath(bytes: link.path)
            do {
                try checkResolution(of: link, at: path)
            } catch {
                throw Self.located(error, restoring: path, at: link.offset)
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

    func finishDirectories() throws {
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
                throw ArchiveError(error, restoring: path)
            }
        }
    }
}
