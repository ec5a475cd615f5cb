internal import MigrationSystem

/// Makes files on the threads of an operation, in batches.
///
/// Batches start in the archive's order. So if several fail, the first failure in the archive is
/// known: everything before it has been written.
final class FileWriters {
    private let step: OrderedStep<FileBatch, Void>
    private let mode: NewFileMode
    private let operation: MigrationOperation
    private var batch = FileBatch()
    private var pending: PendingPaths

    init(on operation: MigrationOperation, mode: NewFileMode) {
        self.mode = mode
        self.operation = operation
        // A batch often holds a whole piece.
        let depth = operation.threadCount + 1
        pending = PendingPaths(limit: (depth + 1) * FileBatch.fileLimit)
        step = OrderedStep(of: operation, depth: depth, sink: { _ in }) {
            { batch in try batch.make(mode, on: operation) }
        }
    }

    /// Makes a file whose content will come in several parts.
    func begin(_ file: RestoredFile) throws -> SharedFile? {
        try note(file)
        guard let writer = try file.make(mode) else { return nil }
        return SharedFile(file, writer)
    }

    /// Makes a file with all of its content soon; if that fails, a later call throws the error.
    func append(_ file: RestoredFile, holding content: ContentSlice) throws {
        try note(file)
        try append(.whole(file), content)
    }

    /// Writes a part of the content of a file, which begins at `offset`, soon.
    func append(partOf file: SharedFile, at offset: UInt64, _ content: ContentSlice) throws {
        try append(.part(of: file, at: offset), content)
    }

    private func append(_ work: consuming FileBatch.Work, _ content: ContentSlice) throws {
        if batch.isComplete(before: content) {
            try step.submit(batch)
            batch = FileBatch()
        }
        batch.append(work, content)
    }

    /// Records the path of a file; if a path occurs twice, the second file must fail.
    private func note(_ file: RestoredFile) throws {
        let hash = file.entry.path.randomHash
        guard !pending.insert(hash) else { return }
        try settle()
        _ = pending.insert(hash)
    }

    /// Whether the file at `path` may not be made yet.
    func mayStillMake(_ path: ArraySlice<UInt8>) -> Bool {
        pending.contains(EntryPath.hash(of: path))
    }

    /// Waits until every submitted file is made.
    func settle() throws {
        try step.settle()
        pending.removeAll()
        let rest = batch
        batch = FileBatch()
        try rest.make(mode, on: operation)
    }

    /// Ends the work; files that were not started are not made.
    func close() { step.abandon() }
}

/// The paths that were submitted last; the files at some of them may not be made yet.
private struct PendingPaths {
    private var recent = RecentPaths()
    /// Those that were submitted before.
    private var older = RecentPaths()
    private let limit: Int

    /// Remembers the last `limit` paths, and no more than twice as many.
    init(limit: Int) { self.limit = limit }

    /// Adds the path that has `hash`; returns whether it was not there yet.
    mutating func insert(_ hash: Int) -> Bool {
        if older.contains(hash) { return false }
        if recent.count == limit, !recent.contains(hash) {
            swap(&recent, &older)
            recent.removeAll()
        }
        return recent.insert(hash)
    }

    func contains(_ hash: Int) -> Bool { recent.contains(hash) || older.contains(hash) }

    mutating func removeAll() {
        recent.removeAll()
        older.removeAll()
    }
}

/// Files and parts of files whose contents are in one chunk of the tar stream, made by one thread.
struct FileBatch: Sendable {
    /// The use of some content.
    enum Work: Sendable {
        /// Make a file from it.
        case whole(RestoredFile)
        /// Write it to a file that was already made.
        case part(of: SharedFile, at: UInt64)

        fileprivate var file: RestoredFile {
            switch self {
            case .whole(let file): file
            case .part(let shared, _): shared.file
            }
        }
    }

    private struct Item {
        let work: Work
        /// Where its content lies in the chunk.
        let range: Range<Int>
    }

    /// The maximum number of files.
    ///
    /// Files that follow each other are often in one directory, where threads would wait for each
    /// other. So a batch is large, but a small archive still occupies several threads.
    static let fileLimit = 1024
    /// Every directory of a batch is an open file.
    private static let directoryLimit = 16

    private var chunk: StreamChunk?
    private var items: [Item] = []
    /// The directory of the last file, and how often it changed from one file to the next.
    private var directory: (any RestoredDirectory)?
    private var directoryCount = 0

    /// Whether the batch should be submitted before `content` is added.
    func isComplete(before content: ContentSlice) -> Bool {
        guard let chunk else { return false }
        return items.count >= Self.fileLimit || directoryCount >= Self.directoryLimit
            || chunk !== content.chunk
    }

    mutating func append(_ work: consuming Work, _ content: ContentSlice) {
        if directory !== work.file.directory {
            directory = work.file.directory
            directoryCount += 1
        }
        if chunk == nil { chunk = content.chunk }
        items.append(Item(work: work, range: content.range))
    }

    /// Makes the files, one after another.
    func make(_ mode: NewFileMode, on operation: MigrationOperation) throws {
        guard let chunk else { return }
        for item in items {
            try operation.check()
            let content = ContentSlice(chunk: chunk, range: item.range)
            do throws(SystemError) {
                switch item.work {
                case .whole(let file): try file.make(mode, holding: content)
                case .part(let shared, let offset): try shared.write(content, at: offset)
                }
            } catch {
                let file = item.work.file
                throw ArchiveError(error, restoring: file.entry.path).located(at: file.offset)
            }
        }
    }
}

// MARK: - One file

/// A file to be made in an existing directory.
final class RestoredFile: Sendable {
    let entry: ArchiveEntry
    let directory: any RestoredDirectory
    /// Its name there.
    let name: [UInt8]
    let permissions: UInt16
    /// Where its header begins in the tar stream.
    let offset: UInt64

    init(
        _ entry: ArchiveEntry,
        at place: (directory: any RestoredDirectory, name: [UInt8]),
        permissions: UInt16,
        offset: UInt64
    ) {
        self.entry = entry
        (directory, name) = place
        self.permissions = permissions
        self.offset = offset
    }

    /// Makes the file, which must not exist yet; `nil` if its content is not kept.
    func make(_ mode: NewFileMode) throws(SystemError) -> FileContentWriter? {
        // Attributes can't be set on a file that its owner may not write to.
        let hasFinalMode = entry.extendedAttributes.isEmpty && mode.grants(permissions)
        let file = try directory.makeFile(
            name,
            permissions: hasFinalMode ? permissions : 0o600,
            size: entry.contentSize
        )
        guard let file else { return nil }
        if let owner = entry.owner ?? mode.owner { try file.setOwner(owner) }
        return FileContentWriter(writingTo: file, lacking: hasFinalMode ? nil : permissions)
    }

    /// Makes the file and fills it with `content`.
    func make(_ mode: NewFileMode, holding content: ContentSlice) throws(SystemError) {
        guard let writer = try make(mode) else { return }
        let end = try content.withSpan { span throws(SystemError) in
            try writer.write(span, at: 0)
        }
        try writer.finish(entry, end: end)
        try writer.close()
    }
}

/// A file whose parts several threads write; the thread that writes the last part finishes it.
final class SharedFile: Sendable {
    let file: RestoredFile
    private let writer: FileContentWriter
    /// How much is still to be written, and the end of the last written byte.
    private let state: Monitor<(rest: UInt64, end: UInt64)>

    init(_ file: RestoredFile, _ writer: consuming FileContentWriter) {
        self.file = file
        self.writer = writer
        state = Monitor((file.entry.contentSize, 0))
    }

    func write(_ content: ContentSlice, at offset: UInt64) throws(SystemError) {
        let written = try content.withSpan { span throws(SystemError) in
            try writer.write(span, at: offset)
        }
        let (rest, end) = state.withLock { state in
            state.rest -= UInt64(content.count)
            state.end = max(state.end, written)
            return state
        }
        guard rest == 0 else { return }
        try writer.finish(file.entry, end: end)
        try writer.flush()
    }
}

/// Writes a file's content at its offsets and skips runs of zeros, which become holes.
struct FileContentWriter: ~Copyable, Sendable {
    private let descriptor: FileDescriptor
    private let lackingPermissions: UInt16?

    /// Writes to a new file, which gets `permissions` at the end unless it was made with the right ones.
    init(writingTo descriptor: consuming FileDescriptor, lacking permissions: UInt16?) {
        self.descriptor = descriptor
        lackingPermissions = permissions
    }

    /// Writes `piece` at `offset`; pages of zeros are skipped, and so are zeros in parts of pages at its ends.
    ///
    /// - Returns: The end of the last written byte; 0 if there is none.
    borrowing func write(_ piece: Span<UInt8>, at offset: UInt64) throws(SystemError) -> UInt64 {
        let page = ZeroPageCounter.pageSize
        var (start, index, end) = (0, 0, UInt64(0))
        func put(upTo limit: Int) throws(SystemError) {
            if start == limit { return }
            let bytes = piece.extracting(start..<limit)
            try descriptor.writeAll(bytes, at: offset + UInt64(start))
            end = offset + UInt64(limit)
        }
        while index < piece.count {
            let toNextPage = page - Int((offset + UInt64(index)) % UInt64(page))
            let next = min(piece.count, index + toNextPage)
            if ZeroPageCounter.isZero(piece.extracting(index..<next)) {
                try put(upTo: index)
                start = next
            }
            index = next
        }
        try put(upTo: piece.count)
        return end
    }

    /// Gives the file its size, metadata and attributes; `end` is the end of the last written byte.
    borrowing func finish(_ entry: ArchiveEntry, end: UInt64) throws(SystemError) {
        if end < entry.contentSize { try descriptor.setSize(entry.contentSize) }
        try descriptor.setExtendedAttributes(entry.attributesBesideAccessLists)
        if let lackingPermissions { try descriptor.setPermissions(lackingPermissions) }
        try descriptor.setExtendedAttributes(entry.accessLists)
        try descriptor.setModificationTime(entry.modificationTime)
    }

    /// Closes the file, and reports the errors that some file systems report only then.
    consuming func close() throws(SystemError) { try descriptor.close() }

    /// Reports the errors that closing the file would, while others still share it.
    borrowing func flush() throws(SystemError) { try descriptor.duplicate().close() }
}

/// The permissions that new files can have from the start, and their owner.
struct NewFileMode: Sendable {
    /// The permission bits that new files don't get; `nil` if unknown.
    private let withheld: UInt16?

    /// The owner of new files; `nil` for this process's own user.
    let owner: FileOwner?

    /// The permissions of new files are unknown.
    init() { (withheld, owner) = (nil, nil) }

    /// Finds out which permissions a new file in `directory` gets, which depends on the process's
    /// umask, the directory's default access list and the file system.
    init(in directory: borrowing FileDescriptor, owner: FileOwner? = nil) {
        self.owner = owner
        do throws(SystemError) {
            let all = try directory.openUnnamed(permissions: 0o777).status().permissions
            let none = try directory.openUnnamed(permissions: 0).status().permissions
            withheld = none == 0 ? ~all & 0o777 : nil
        } catch {
            withheld = nil
        }
    }

    /// Whether a file that is made with `permissions` has them.
    func grants(_ permissions: UInt16) -> Bool { withheld.map { permissions & $0 == 0 } ?? false }
}
