internal import MigrationArchive
internal import MigrationSystem

extension ItemArchiver {
    func append(_ item: SourceItem) throws {
        let path = EntryPath(bytes: item.path)
        try Self.checkIsRepresentable(path)
        switch item.status.kind {
        case .regular: try appendFile(item, at: path)
        case .symbolicLink: try appendSymbolicLink(item, at: path)
        default: try omitUnrepresentable(item.path, .specialFile, "\(item.status.kind)")
        }
    }

    func append(_ item: SourceItem, directory: OpenFile) throws {
        let path = EntryPath(bytes: item.path)
        try Self.checkIsRepresentable(path)
        let attributes = try attributes(of: directory, at: item.path)
        try write(Self.entry(item.status, at: path, .directory, attributes))
    }

    private func appendFile(_ item: SourceItem, at path: EntryPath) throws {
        if try omitsUnreadable(item.name, in: item.directory, item.status, at: item.path) { return }
        if try appendFurtherName(item.status, at: path) { return }
        let file: OpenFile
        let before: FileStatus
        do throws(SystemError) {
            file = OpenFile(try item.directory.descriptor.open(item.name, .reading))
            before = try file.descriptor.status()
        } catch {
            throw SourceWalker.unreadable(item.path, error)
        }
        guard before.isUnchanged(since: item.status) else { throw Self.changed(path) }
        try appendContent(of: file, before, at: path)
    }

    /// Appends a file of which another name is in the archive as a link; returns whether it is one.
    func appendFurtherName(_ status: FileStatus, at path: EntryPath) throws -> Bool {
        if status.identity == outputIdentity {
            let message = "the archive would hold itself: write it outside of the container"
            throw MigrationError(.invalidOption, message, path: path.bytes)
        }
        guard let first = links.takePath(of: status) else { return false }
        try write(Self.entry(status, at: path, .hardLink(target: first)))
        return true
    }

    /// Appends the open `file`, which must stay as it was `before`.
    func appendContent(of file: OpenFile, _ before: FileStatus, at path: EntryPath) throws {
        let attributes = try attributes(of: file, at: path.bytes)
        let entry = Self.entry(before, at: path, .file(size: before.size), attributes)
        try prepare(for: entry)
        links.remember(before, at: path)
        try writer.append(entry, contentFrom: file.descriptor, onProgress: noteProgress)
        guard try file.descriptor.status().isUnchanged(since: before) else {
            throw Self.changed(path)
        }
        files?.insert(before)
    }

    /// Appends a file that was read, of which the progress does not learn.
    func append(
        _ content: Span<UInt8>,
        _ attributes: FileAttributes,
        of status: FileStatus,
        at path: EntryPath
    ) throws {
        let carried = try reportingOthers(attributes, at: path.bytes)
        let entry = Self.entry(status, at: path, .file(size: status.size), carried)
        try prepare(for: entry)
        links.remember(status, at: path)
        try writer.append(entry, content: content)
        files?.insert(status)
    }

    private func appendSymbolicLink(_ item: SourceItem, at path: EntryPath) throws {
        let target: ByteString
        let attributes: [ByteString]
        let after: FileStatus
        do throws(SystemError) {
            let directory = item.directory
            target = try directory.descriptor.symbolicLinkTarget(item.name)
            do throws(SystemError) {
                attributes = try directory.descriptor.extendedAttributeNames(ofLink: item.name)
            } catch {
                attributes = try FileAttributes.unlisted(error)
            }
            after = try directory.descriptor.status(of: item.name)
        } catch {
            throw SourceWalker.unreadable(item.path, error)
        }
        guard after.isUnchanged(since: item.status) else { throw Self.changed(path) }
        if let first = links.takePath(of: item.status) {
            return try write(Self.entry(item.status, at: path, .hardLink(target: first)))
        }
        // A link has none that an archive carries: the system keeps those of users for files.
        for name in attributes {
            try omitUnrepresentable(item.path, .extendedAttribute, PrintableText.escaping(name))
        }
        if path.leadsOut(withTarget: target) {
            externalLinkCount += 1
            if externalLinks.count < 1_000 {
                externalLinks.append("\(path) -> \(PrintableText.escaping(target))")
            }
        }
        try write(Self.entry(item.status, at: path, .symbolicLink(target: target)))
        links.remember(item.status, at: path)
        files?.insert(item.status)
    }

    private func write(_ entry: ArchiveEntry) throws {
        try prepare(for: entry)
        try writer.append(entry)
    }

    /// Takes note of an entry that is about to be written, and writes the directories that it lacks.
    private func prepare(for entry: ArchiveEntry) throws {
        if let missing = try paths?.insert(entry.path, isDirectory: entry.kind == .directory) {
            for path in missing { try writeDirectory(at: path, as: entry.modificationTime) }
        }
        entryCount += 1
    }

    private func writeDirectory(at path: EntryPath, as time: FileTime) throws {
        let directory = ArchiveEntry(
            path: path,
            kind: .directory,
            permissions: 0o755,
            modificationTime: time,
            extendedAttributes: []
        )
        entryCount += 1
        try writer.append(directory)
    }

    /// Reads the attributes that an archive carries; the others are reported.
    private func attributes(
        of file: OpenFile,
        at path: ByteString
    ) throws -> [ExtendedAttribute] {
        let attributes: FileAttributes
        do throws(SystemError) {
            attributes = try FileAttributes(of: file.descriptor)
        } catch {
            throw SourceWalker.unreadable(path, error)
        }
        return try reportingOthers(attributes, at: path)
    }

    private func reportingOthers(
        _ attributes: FileAttributes,
        at path: ByteString
    ) throws(ArchiveError) -> [ExtendedAttribute] {
        for name in attributes.others {
            try omitUnrepresentable(path, .extendedAttribute, PrintableText.escaping(name))
        }
        return attributes.carried
    }

    static func checkIsRepresentable(_ path: EntryPath) throws(ArchiveError) {
        guard let violation = path.violation else { return }
        throw ArchiveError(.unrepresentable, "can't be archived: \(violation)", entry: path)
    }

    private static func entry(
        _ status: FileStatus,
        at path: EntryPath,
        _ kind: ArchiveEntry.Kind,
        _ attributes: [ExtendedAttribute] = []
    ) -> ArchiveEntry {
        ArchiveEntry(
            path: path,
            kind: kind,
            permissions: status.permissions,
            modificationTime: status.modificationTime,
            extendedAttributes: attributes
        )
    }

    static func changed(_ path: EntryPath) -> ArchiveError {
        ArchiveError(.sourceChanged, "changed while it was read", entry: path)
    }
}
