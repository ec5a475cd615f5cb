internal import Foundation
internal import MigrationArchive
internal import MigrationSystem

/// Reads items of a source tree and writes them to the archive as entries.
final class ItemArchiver {
    let writer: ArchiveWriter
    let cancellation: CancellationFlag
    private let progress: Progress?
    private var queue: ItemQueue
    var links = HardLinkTable()

    /// The identity of the archive's own file, which no archive can hold.
    let outputIdentity: FileStatus.Identity?

    /// Whether what no archive can hold ends the export.
    private let isStrict: Bool

    /// The user for whom root exports; `nil` where this process exports its own user's files.
    var reader: UserIdentity?

    /// Is called whenever content was read.
    var activityHandler: (() -> Void)?

    /// The paths in the archive, where items are appended by whoever names them.
    var paths: ArchivedPaths?

    /// The files in the archive, where items are appended by whoever names them.
    var files: ArchivedFiles?

    /// How many entries were begun.
    var entryCount = 0

    /// What was left out so far.
    var omissions = OmissionList()

    /// Links that lead out of the container, the first 1,000 of them, printable.
    var externalLinks: [String] = []

    /// How many links lead out of the container.
    var externalLinkCount = 0

    /// Archives with `writer`; `threadCount` further threads read small files ahead.
    init(
        writingTo writer: ArchiveWriter,
        outputIdentity: FileStatus.Identity?,
        progress: Progress?,
        threadCount: Int = 0,
        isStrict: Bool = false,
        cancellation: CancellationFlag
    ) {
        queue = ItemQueue(threadCount: threadCount, cancellation: cancellation)
        self.writer = writer
        self.outputIdentity = outputIdentity
        self.progress = progress
        self.isStrict = isStrict
        self.cancellation = cancellation
    }

    /// Begins to check that no path is archived twice, to make directories that are missing, and to
    /// remember which files are archived.
    func checkPaths() {
        paths = ArchivedPaths()
        files = ArchivedFiles(apartFrom: outputIdentity)
    }

    /// Takes note that `count` bytes of content were archived.
    func noteProgress(_ count: Int) {
        progress?.completedUnitCount += Int64(count)
        activityHandler?()
    }
}

// MARK: - What is left out

extension ItemArchiver {
    /// Leaves out what no archive can hold, which ends a strict export.
    func omitUnrepresentable(
        _ path: ByteString,
        _ reason: Omission.Reason,
        _ detail: String
    ) throws(ArchiveError) {
        guard isStrict else { return omissions.append(Omission(path, reason, detail: detail)) }
        let thing = reason == .extendedAttribute ? "the attribute \(detail)" : "a \(detail)"
        let message = "can't be archived, and nothing may be left out: \(thing)"
        throw ArchiveError(.unrepresentable, message, entry: EntryPath(bytes: path))
    }
}

extension ItemArchiver {
    /// The omission of `name` in `directory` where root can read it, and who it exports for can't.
    func unreadable(
        _ name: ByteString,
        in directory: OpenFile,
        _ status: FileStatus,
        at path: ByteString,
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

    /// Leaves out a file that its container's owner can't read; returns whether it did.
    func omitsUnreadable(
        _ name: ByteString,
        in directory: OpenFile,
        _ status: FileStatus,
        at path: ByteString
    ) throws -> Bool {
        guard
            let omission = try unreadable(name, in: directory, status, at: path, bytes: status.size)
        else { return false }
        omissions.append(omission)
        return true
    }
}

// MARK: - Items whose turn comes later

extension ItemArchiver {
    /// Archives `item` after those of earlier calls, at the latest when ``settle()`` is called.
    func appendSoon(_ item: PendingItem) throws {
        if let batch = queue.append(item) { try archive(batch) }
    }

    /// Archives everything that waits.
    func settle() throws {
        while let batch = queue.takeFirst() { try archive(batch) }
    }

    private func archive(_ batch: ItemBatch) throws {
        var count = 0
        for element in batch.elements {
            try cancellation.check()
            switch element.item {
            case .file(let file): count += try append(file, element.reading, of: batch)
            case .directory(let item, let opened): try append(item, directory: opened)
            case .end(let directory): try directory.checkIsUnchanged()
            case .other(let item): try append(item)
            case .omission(let omission): omissions.append(omission)
            }
        }
        noteProgress(count)
        queue.putBack(batch)
    }

    private func omitsUnreadable(_ file: UnreadFile, _ status: FileStatus) throws -> Bool {
        if reader == nil { return false }
        let name = ByteString(file.name)
        return try omitsUnreadable(name, in: file.directory, status, at: file.path.bytes)
    }

    /// Appends a file, and returns how many bytes of its content the progress does not know of.
    private func append(
        _ file: UnreadFile,
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
