internal import Foundation
internal import MigrationArchive
internal import MigrationSystem

/// Writes items of a source tree to the archive as entries, and collects the facts for the report.
final class EntryArchiver {
    private let writer: ArchiveWriter
    private let progress: Progress?
    private var links = HardLinkTable()

    /// The identity of the archive's own file, which the archive can't hold.
    private let outputIdentity: FileStatus.Identity?

    /// Whether an item that no archive can hold fails the export.
    private let isStrict: Bool

    /// The user for whom root exports; `nil` if this process exports its own user's files.
    var reader: UserIdentity?

    /// Called after content was read.
    var activityHandler: (() -> Void)?

    /// The paths in the archive, if an extension chooses them.
    private var paths: ArchivedPaths?

    /// The files in the archive, if an extension chooses them.
    private(set) var files: ArchivedFiles?

    /// The number of entries begun.
    private(set) var entryCount = 0

    /// The omissions so far.
    private(set) var omissions = OmissionList()

    /// The first 1,000 links that lead out of the container, printable.
    private(set) var externalLinks: [String] = []

    /// The number of links that lead out of the container.
    private(set) var externalLinkCount = 0

    init(
        writingTo writer: ArchiveWriter,
        outputIdentity: FileStatus.Identity?,
        progress: Progress?,
        isStrict: Bool
    ) {
        self.writer = writer
        self.outputIdentity = outputIdentity
        self.progress = progress
        self.isStrict = isStrict
    }

    /// Turns on the rules for items that an extension appends: no path is archived twice, missing
    /// directories are made, and the archived files are remembered.
    func checkPaths() {
        paths = ArchivedPaths()
        files = ArchivedFiles(apartFrom: outputIdentity)
    }

    /// Adds `count` bytes of content to the progress.
    func noteProgress(_ count: Int) {
        progress?.completedUnitCount += Int64(count)
        activityHandler?()
    }
}

// MARK: - Files that were read ahead

extension EntryArchiver {
    private func omitsUnreadable(_ file: SourceFile, _ status: FileStatus) throws -> Bool {
        if reader == nil { return false }
        let name = [UInt8](file.name)
        return try omitsUnreadable(name, in: file.directory, status, at: file.path.bytes)
    }

    /// Appends a file, and returns the bytes of its content that the progress does not include yet.
    func append(
        _ file: SourceFile,
        _ reading: ItemBatch.Reading,
        of batch: ItemBatch
    ) throws -> Int {
        switch reading {
        case .read(let status, let attributes, let range):
            try Self.checkIsRepresentable(file.path)
            if try omitsUnreadable(file, status) { return 0 }
            if try appendFurtherName(status, at: file.path) { return 0 }
            try append(batch.content(range).span, attributes, of: status, at: file.path)
            return range.count
        case .opened(let opened, let status):
            try Self.checkIsRepresentable(file.path)
            if try omitsUnreadable(file, status) { return 0 }
            if try appendFurtherName(status, at: file.path) { return 0 }
            try appendContent(of: opened, status, at: file.path)
        case .changed: throw Self.changed(file.path)
        case .none:
            let item = try file.item()
            guard item.status.kind == .regular else { throw Self.changed(file.path) }
            try append(item)
        }
        return 0
    }
}

// MARK: - Items

extension EntryArchiver {
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

    /// Appends a file as a hard link if another of its names is archived; returns whether it was.
    private func appendFurtherName(_ status: FileStatus, at path: EntryPath) throws -> Bool {
        if status.identity == outputIdentity {
            let message = "the archive would contain itself: write it outside the container"
            throw MigrationError(.invalidOption, message, path: BytePath(path.bytes))
        }
        guard let first = links.nextPath(of: status) else { return false }
        try write(Self.entry(status, at: path, .hardLink(target: first)))
        return true
    }

    /// Appends the open `file`, whose status must stay as it was `before`.
    private func appendContent(of file: OpenFile, _ before: FileStatus, at path: EntryPath) throws {
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

    /// Appends a file that was read ahead, without adding to the progress.
    private func append(
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
        let target: [UInt8]
        let attributes: [[UInt8]]
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
        if let first = links.nextPath(of: item.status) {
            return try write(Self.entry(item.status, at: path, .hardLink(target: first)))
        }
        // An archive carries none of a link's attributes: the system allows `user.*` only for
        // files.
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

    /// Notes an entry that is about to be written, and writes its missing directories.
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

    /// Reads the attributes that an archive carries, and reports the others.
    private func attributes(
        of file: OpenFile,
        at path: [UInt8]
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
        at path: [UInt8]
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

    private static func changed(_ path: EntryPath) -> ArchiveError {
        ArchiveError(.sourceChanged, "changed while it was read", entry: path)
    }
}

// MARK: - What is left out

extension EntryArchiver {
    /// Adds `omission` to the report.
    func omit(_ omission: Omission) { omissions.append(omission) }

    /// Omits something that no archive can hold; a strict export fails instead.
    private func omitUnrepresentable(
        _ path: [UInt8],
        _ reason: Omission.Reason,
        _ detail: String
    ) throws(ArchiveError) {
        guard isStrict else { return omissions.append(Omission(path, reason, detail: detail)) }
        let thing = reason == .extendedAttribute ? "the attribute \(detail)" : "a \(detail)"
        let message = "can't be archived, and a strict export may not omit it: \(thing)"
        throw ArchiveError(.unrepresentable, message, entry: EntryPath(bytes: path))
    }

    /// The omission of `name` in `directory` if root can read it, but the user it exports for
    /// can't.
    func unreadable(
        _ name: [UInt8],
        in directory: OpenFile,
        _ status: FileStatus,
        at path: [UInt8],
        bytes: UInt64
    ) throws -> Omission? {
        guard let reader else { return nil }
        let isReadable: Bool
        do throws(SystemError) {
            isReadable = try reader.mayRead(name, in: directory.descriptor, status)
        } catch {
            throw SourceWalker.unreadable(path, error)
        }
        if isReadable { return nil }
        guard !isStrict else {
            let message = "the container's owner, \(reader.text), can't read it"
            throw ArchiveError(.sourceUnreadable, message, entry: EntryPath(bytes: path))
        }
        return Omission(path, .unreadableToOwner, bytes: bytes)
    }

    /// Omits a file that the container's owner can't read; returns whether it did.
    func omitsUnreadable(
        _ name: [UInt8],
        in directory: OpenFile,
        _ status: FileStatus,
        at path: [UInt8]
    ) throws -> Bool {
        guard
            let omission = try unreadable(name, in: directory, status, at: path, bytes: status.size)
        else { return false }
        omissions.append(omission)
        return true
    }
}

// MARK: - Attributes

/// The extended attributes of a file: those that an archive carries, and the names of the others.
struct FileAttributes {
    private(set) var carried: [ExtendedAttribute] = []
    private(set) var others: [[UInt8]] = []

    /// Reads the attributes of `file`.
    init(of file: borrowing FileDescriptor) throws(SystemError) {
        let names: [[UInt8]]
        do throws(SystemError) {
            names = try file.extendedAttributeNames()
        } catch {
            others = try Self.unlisted(error)
            return
        }
        for name in names {
            if ExtendedAttribute.isOfUser(name) {
                let value = try file.extendedAttribute(name)
                carried.append(ExtendedAttribute(name: name, value: value))
            } else {
                others.append(name)
            }
        }
    }

    /// A placeholder for names that the system can't list, for the report; rethrows other errors.
    static func unlisted(_ error: SystemError) throws(SystemError) -> [[UInt8]] {
        guard error.isUnsupported else { throw error }
        return [[UInt8](utf8: "all, which the system can't list: \(error)")]
    }
}
