internal import MigrationSystem

/// Makes files on the threads of an operation, in batches.
///
/// Batches are begun in the order in which they come, so that of several failures the first one in
/// the archive's order is known: nothing that comes before it is left to be done.
final class FileWriters {
    private let step: OrderedStep<FileBatch, Void>
    private let mode: NewFileMode
    private let cancellation: CancellationFlag
    private var batch = FileBatch()
    /// The files that were handed over last, of which some may not be made yet.
    private var recent: [EntryPath] = []
    private let pendingLimit: Int

    init(on pool: WorkerPool, mode: NewFileMode) {
        let cancellation = pool.cancellation
        self.mode = mode
        self.cancellation = cancellation
        let depth = 2 * pool.threadCount
        pendingLimit = (depth + 1) * FileBatch.fileLimit
        step = OrderedStep(of: pool, depth: depth, sink: { _ in }) {
            { batch in try batch.make(mode, cancellation: cancellation) }
        }
    }

    /// Makes `file` soon; a later call throws the error where that fails.
    func append(_ file: RestoredFile, holding content: ContentSlice) throws {
        if batch.isComplete(before: content) {
            try step.submit(batch)
            batch = FileBatch()
        }
        batch.append(file, holding: content)
        if recent.count == 2 * pendingLimit { recent.removeFirst(pendingLimit) }
        recent.append(file.entry.path)
    }

    /// Whether the file at `path` may be one that is not made yet.
    func mayStillMake(_ path: ArraySlice<UInt8>) -> Bool {
        recent.contains { $0.bytes.span.isEqual(to: path.span) }
    }

    /// Waits until every file is made that was handed over.
    func settle() throws {
        try step.settle()
        recent.removeAll()
        let rest = batch
        batch = FileBatch()
        try rest.make(mode, cancellation: cancellation)
    }

    /// Ends the work; what was not begun is not done.
    func close() { step.abandon() }
}

/// Files whose contents lie in one chunk of the tar stream, made together by one thread.
struct FileBatch: Sendable {
    /// Enough files that handing them on costs little beside making them.
    static let fileLimit = 64
    /// Every directory of a batch is an open file.
    private static let directoryLimit = 16

    private(set) var files: [(file: RestoredFile, content: ContentSlice)] = []
    /// The directories that the files are in, each once.
    private var directories: [any RestoredDirectory] = []

    var isEmpty: Bool { files.isEmpty }

    /// Whether the batch should be handed on before `content` is added.
    func isComplete(before content: ContentSlice) -> Bool {
        guard let last = files.last else { return false }
        return files.count >= Self.fileLimit || directories.count >= Self.directoryLimit
            || last.content.chunk !== content.chunk
    }

    mutating func append(_ file: RestoredFile, holding content: ContentSlice) {
        if !directories.contains(where: { $0 === file.directory }) {
            directories.append(file.directory)
        }
        files.append((file, content))
    }

    /// Makes the files, one after another.
    func make(_ mode: NewFileMode, cancellation: CancellationFlag) throws {
        for (file, content) in files {
            try cancellation.check()
            do throws(SystemError) {
                try file.make(mode, holding: content)
            } catch {
                throw ArchiveError(error, restoring: file.entry.path).located(at: file.offset)
            }
        }
    }
}

// MARK: - One file

/// A file that is to be made in a directory that is there.
struct RestoredFile: Sendable {
    let entry: ArchiveEntry
    let directory: any RestoredDirectory
    let permissions: UInt16
    /// Where its header begins in the tar stream.
    let offset: UInt64

    var name: [UInt8] { [UInt8](entry.path.lastComponent) }

    /// Makes the file, which must not exist yet; `nil` where its content is not kept.
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
        guard var writer = try make(mode) else { return }
        try content.withSpan { span throws(SystemError) in try writer.write(span, at: 0) }
        try writer.finish(entry)
    }
}

/// Writes a file's content where it belongs and leaves out runs of zeros, which become holes.
struct FileContentWriter: ~Copyable {
    private let descriptor: FileDescriptor
    private let lackingPermissions: UInt16?
    private var end: UInt64 = 0

    /// Writes to a new file, which gets `permissions` at the end unless it was made with the right ones.
    init(writingTo descriptor: consuming FileDescriptor, lacking permissions: UInt16?) {
        self.descriptor = descriptor
        lackingPermissions = permissions
    }

    /// Writes `piece` at `offset`; pages of zeros are passed over, and parts of pages at its ends.
    mutating func write(_ piece: Span<UInt8>, at offset: UInt64) throws(SystemError) {
        let page = ZeroPageCounter.pageSize
        var start = 0
        var index = 0
        while index < piece.count {
            let toNextPage = page - Int((offset + UInt64(index)) % UInt64(page))
            let next = min(piece.count, index + toNextPage)
            if ZeroPageCounter.isZero(piece.extracting(index..<next)) {
                try put(piece.extracting(start..<index), at: offset + UInt64(start))
                start = next
            }
            index = next
        }
        try put(piece.extracting(start..<piece.count), at: offset + UInt64(start))
    }

    private mutating func put(_ bytes: Span<UInt8>, at offset: UInt64) throws(SystemError) {
        if bytes.isEmpty { return }
        try descriptor.writeAll(bytes, at: offset)
        end = offset + UInt64(bytes.count)
    }

    /// Gives the file its size, metadata and attributes, and closes it.
    consuming func finish(_ entry: ArchiveEntry) throws(SystemError) {
        if end < entry.contentSize { try descriptor.setSize(entry.contentSize) }
        try descriptor.setExtendedAttributes(entry.attributesBesideAccessLists)
        if let lackingPermissions { try descriptor.setPermissions(lackingPermissions) }
        try descriptor.setExtendedAttributes(entry.accessLists)
        try descriptor.setModificationTime(entry.modificationTime)
        try descriptor.close()
    }
}

/// The permissions with which files can be made, so that they need no change afterwards, and their owner.
struct NewFileMode: Sendable {
    /// The permission bits that new files don't get; `nil` where nobody can tell.
    private let withheld: UInt16?

    /// Whose new files are; `nil` for this process's own user.
    let owner: FileOwner?

    /// Nothing is known of what becomes of the permissions.
    init() { (withheld, owner) = (nil, nil) }

    /// Finds out what becomes of the permissions of a new file in `directory`: the process's mask,
    /// the directory's default access list and the file system have a say in it.
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
