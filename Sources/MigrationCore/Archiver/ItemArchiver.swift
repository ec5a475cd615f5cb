internal import Foundation
internal import MigrationArchive
internal import MigrationSystem

/// Reads items of a source tree and writes them to the archive as entries.
final class ItemArchiver {
    private let writer: ArchiveWriter
    let cancellation: CancellationFlag
    private let progress: Progress?
    let readAhead: FileReadAhead
    private var links = HardLinkTable()

    /// The identity of the archive's own file, which no archive can hold.
    private let outputIdentity: FileStatus.Identity?

    /// Whether what no archive can hold ends the export.
    private let isStrict: Bool

    /// Is called whenever content was read.
    var activityHandler: (() -> Void)?

    /// The paths in the archive, where items are appended by whoever names them.
    private var paths: ArchivedPaths?

    /// How many entries were begun.
    private(set) var entryCount = 0

    /// What was left out so far.
    private(set) var omissions = OmissionList()

    /// Links that lead out of the container, the first 1,000 of them, printable.
    private(set) var externalLinks: [String] = []

    /// Archives with `writer`; `threadCount` further threads read small files ahead.
    init(
        writingTo writer: ArchiveWriter,
        outputIdentity: FileStatus.Identity?,
        progress: Progress?,
        threadCount: Int = 0,
        isStrict: Bool = false,
        cancellation: CancellationFlag
    ) {
        readAhead = FileReadAhead(threadCount: threadCount, cancellation: cancellation)
        self.writer = writer
        self.outputIdentity = outputIdentity
        self.progress = progress
        self.isStrict = isStrict
        self.cancellation = cancellation
    }

    /// Begins to check that no path is archived twice, and to make directories that are missing.
    func checkPaths() {
        paths = ArchivedPaths()
    }

    /// Appends everything in `container` that `selection` keeps, each at its own path.
    func appendContents(
        of container: MigrationDataContainer,
        selecting selection: ContainerSelection
    ) throws {
        let root: FileDescriptor
        do {
            root = try FileDescriptor.open(container.rootPath.path, .directory)
        } catch {
            throw MigrationError(
                .containerInvalid,
                "the container can't be read",
                path: container.rootPath.path,
                cause: error
            )
        }
        try appendContents(of: root, base: []) { path, isDirectory in
            selection.reasonForLeavingOut(path, isDirectory: isDirectory)
        }
    }

    /// Appends everything in `directory`, whose own path in the archive is `base`.
    ///
    /// What `reason` returns a reason for is left out.
    func appendContents(
        of directory: consuming FileDescriptor,
        base: ByteString,
        leavingOut reason: @escaping (ByteString, _ isDirectory: Bool) -> Omission.Reason?
    ) throws {
        var walker = SourceWalker(root: directory, base: base, cancellation: cancellation)
        var visitor = Visitor(archiver: self, reasonForLeavingOut: reason)
        try walker.walk(&visitor)
    }

    private struct Visitor: SourceVisitor {
        let archiver: ItemArchiver
        let reasonForLeavingOut: (ByteString, _ isDirectory: Bool) -> Omission.Reason?

        static var takesRuns: Bool { true }

        func visit(_ run: FileRun) throws {
            try archiver.append(run, leavingOut: reasonForLeavingOut)
        }

        func visit(_ item: SourceItem) throws {
            if let reason = reasonForLeavingOut(item.path, false) {
                let bytes = item.status.kind == .regular ? item.status.size : 0
                archiver.omit(item.path, reason, bytes: bytes)
            } else {
                try archiver.append(item)
            }
        }

        func enter(_ item: SourceItem, opened: OpenFile) throws -> Bool {
            if let reason = reasonForLeavingOut(item.path, true) {
                archiver.omit(item.path, reason, bytes: try archiver.measure(opened))
                return false
            }
            try archiver.append(item, directory: opened)
            return true
        }

        func passesOver(_ item: SourceItem) -> Bool {
            guard let reason = reasonForLeavingOut(item.path, true) else {
                return false
            }
            // Nobody can tell its bytes.
            archiver.omit(item.path, reason)
            return true
        }
    }
}

// MARK: - What is left out

extension ItemArchiver {
    func omit(
        _ path: ByteString,
        _ reason: Omission.Reason,
        bytes: UInt64 = 0,
        detail: String? = nil
    ) {
        let path = PrintableText.escaping(path)
        omissions.append(Omission(path: path, reason: reason, bytes: bytes, detail: detail))
    }

    /// Leaves out what no archive can hold, which ends a strict export.
    private func omitUnrepresentable(
        _ path: ByteString,
        _ reason: Omission.Reason,
        _ detail: String
    ) throws(ArchiveError) {
        guard isStrict else { return omit(path, reason, detail: detail) }
        let thing = reason == .extendedAttribute ? "the attribute \(detail)" : "a \(detail)"
        let message = "can't be archived, and nothing may be left out: \(thing)"
        throw ArchiveError(.unsupported, message, entry: EntryPath(bytes: path))
    }

    private func measure(_ directory: OpenFile) throws -> UInt64 {
        do {
            let copy = try directory.descriptor.duplicate()
            var measure = SourceMeasure(selecting: nil)
            var walker = SourceWalker(root: copy, cancellation: cancellation)
            try walker.walk(&measure)
            return measure.contentBytes
        } catch let error as ArchiveError where error.code != .damaged {
            // What can't be read here is left out anyway; its bytes stay uncounted.
            return 0
        }
    }
}

// MARK: - Entries

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
    }

    /// Appends a file that was read.
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
        try writer.append(entry, content: content, onProgress: noteProgress)
    }

    private func noteProgress(_ count: Int) {
        progress?.completedUnitCount += Int64(count)
        activityHandler?()
    }

    private func appendSymbolicLink(_ item: SourceItem, at path: EntryPath) throws {
        let target: ByteString
        do throws(SystemError) {
            target = try item.directory.descriptor.symbolicLinkTarget(item.name)
            let after = try item.directory.descriptor.status(of: item.name)
            guard after.isUnchanged(since: item.status) else { throw SystemError("lstat", code: 0) }
        } catch {
            if error.code == 0 { throw Self.changed(path) }
            throw SourceWalker.unreadable(item.path, error)
        }
        if let first = links.takePath(of: item.status) {
            return try write(Self.entry(item.status, at: path, .hardLink(target: first)))
        }
        if path.leadsOut(withTarget: target), externalLinks.count < 1_000 {
            externalLinks.append("\(path) -> \(PrintableText.escaping(target))")
        }
        try write(Self.entry(item.status, at: path, .symbolicLink(target: target)))
        links.remember(item.status, at: path)
    }

    /// Throws where nothing can be written at `path`, before anything is.
    func checkIsFree(_ path: EntryPath) throws(ArchiveError) {
        _ = try paths?.missingDirectories(for: path)
    }

    private func write(_ entry: ArchiveEntry) throws {
        try prepare(for: entry)
        try writer.append(entry)
    }

    /// Takes note of an entry that is about to be written, and writes the directories that it lacks.
    private func prepare(for entry: ArchiveEntry) throws {
        let missing = try paths?.missingDirectories(for: entry.path) ?? []
        for path in missing {
            let directory = ArchiveEntry(
                path: path,
                kind: .directory,
                permissions: 0o755,
                modificationTime: entry.modificationTime,
                extendedAttributes: []
            )
            entryCount += 1
            try writer.append(directory)
            paths?.insert(path, isDirectory: true)
        }
        entryCount += 1
        paths?.insert(entry.path, isDirectory: entry.kind == .directory)
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
        throw ArchiveError(.unsupported, "can't be archived: \(violation)", entry: path)
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
