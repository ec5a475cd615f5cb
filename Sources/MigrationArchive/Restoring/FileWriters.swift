internal import MigrationSystem

/// Makes files on the threads of an operation, in batches.
///
/// Batches start in the archive's order. So if several fail, the first failure in the archive is
/// known: everything before it has been written.
final class FileWriters {
    /// The maximum number of pending paths; then their files are made before more are added.
    private static let pendingLimit = 1 << 15

    private let archive: ArchiveReader
    private let mode: NewFileMode
    private let step: OrderedStep<FileBatch, Void>
    private var batch: FileBatch?
    /// The paths of files that may not be made yet; `nil` as long as no path can come twice.
    private var pending: RecentPaths?

    init(for archive: ArchiveReader, mode: NewFileMode) {
        (self.archive, self.mode) = (archive, mode)
        let operation = archive.operation
        // A batch often holds a whole piece.
        let depth = operation.threadCount + 1
        step = OrderedStep(of: operation, depth: depth, sink: { _ in }) {
            { batch in try batch.make(mode, on: operation) }
        }
    }

    /// Makes a file whose content will come in several parts.
    func begin(_ file: RestoredFile, at place: RestoredPlace) throws -> SharedFile? {
        try note(place.path)
        guard let writer = try file.make(place.name, in: place.directory, mode) else { return nil }
        return SharedFile(file, at: place, writer)
    }

    /// Makes a file with all of its content soon; if that fails, a later call throws the error.
    func append(
        _ file: RestoredFile,
        at place: RestoredPlace,
        holding content: ContentSlice
    ) throws {
        try note(place.path)
        try makeRoom(for: content, in: place.directory)
        batch?.append(file, at: place, content.range)
    }

    /// Writes a part of the content of a file, which begins at `offset`, soon.
    func append(partOf file: SharedFile, at offset: UInt64, _ content: ContentSlice) throws {
        try makeRoom(for: content, in: file.place.directory)
        batch?.append(partOf: file, at: offset, content.range)
    }

    /// Submits the batch and begins another, unless it has room.
    private func makeRoom(
        for content: ContentSlice,
        in directory: any RestoredDirectory
    ) throws {
        if batch?.hasRoom(for: content, in: directory) == true { return }
        if let full = batch.take() { try step.submit(full) }
        batch = FileBatch(of: content.chunk, in: directory)
    }

    /// Records the path of a file; if a path occurs twice, the second file must fail.
    private func note(_ path: EntryPath) throws {
        if archive.hasDistinctPaths { return }
        if pending == nil || pending?.count == Self.pendingLimit { try settle() }
        let hash = path.randomHash
        if pending?.insert(hash) == true { return }
        try settle()
        pending?.insert(hash)
    }

    /// Whether the file at `path` may not be made yet.
    func mayStillMake(_ path: ArraySlice<UInt8>) -> Bool {
        let hash = EntryPath.hash(of: path)
        if archive.hasDistinctPaths { return archive.windowHolds(hash) }
        return pending?.contains(hash) ?? true
    }

    /// Waits until every submitted file is made.
    func settle() throws {
        try step.settle()
        pending = archive.hasDistinctPaths ? nil : RecentPaths()
        try batch.take()?.make(mode, on: archive.operation)
    }

    /// Ends the work; files that were not started are not made.
    func close() { step.abandon() }
}

/// Files and parts of files whose contents are in one chunk of the tar stream, made by one thread.
///
/// A batch holds copies of what it needs of each file. If its thread and the reading one used the
/// same objects, they would slow each other down by counting references to them.
struct FileBatch: Sendable {
    /// A file to make, or a part of one to write, with the place of its content in the chunk.
    private enum Item {
        /// Make a file; its path and its name in the directory are in `paths`.
        case whole(RestoredFile, path: Range<Int>, name: Range<Int>, content: Range<Int>)
        /// Write to a file that was already made.
        case part(of: SharedFile, at: UInt64, content: Range<Int>)
    }

    /// The maximum number of files.
    ///
    /// Files that follow each other are often in one directory, where threads would wait for each
    /// other. So a batch is large, but a small archive still occupies several threads.
    static let fileLimit = 1024

    private let chunk: StreamChunk
    /// The directory in which all of the files are made.
    private let directory: any RestoredDirectory
    private var items: [Item] = []
    private var paths: [UInt8] = []

    /// Makes an empty batch.
    init(of chunk: StreamChunk, in directory: any RestoredDirectory) {
        (self.chunk, self.directory) = (chunk, directory)
    }

    /// Whether `content` of a file in `directory` can be added.
    func hasRoom(for content: ContentSlice, in directory: any RestoredDirectory) -> Bool {
        items.count < Self.fileLimit && chunk === content.chunk && self.directory === directory
    }

    mutating func append(_ file: RestoredFile, at place: RestoredPlace, _ content: Range<Int>) {
        let start = paths.count
        paths.append(copying: place.path.bytes.span)
        let name = start + place.name.startIndex..<start + place.name.endIndex
        items.append(.whole(file, path: start..<paths.count, name: name, content: content))
    }

    mutating func append(partOf file: SharedFile, at offset: UInt64, _ content: Range<Int>) {
        items.append(.part(of: file, at: offset, content: content))
    }

    /// Makes the files, one after another.
    func make(_ mode: NewFileMode, on operation: MigrationOperation) throws {
        let bytes = chunk.buffer.bytes
        for item in items {
            try operation.check()
            switch item {
            case .whole(let file, let path, let name, let content):
                let content = bytes.span.extracting(content)
                do throws(SystemError) {
                    try file.make(paths[name], in: directory, mode, holding: content)
                } catch {
                    throw file.failure(error, at: EntryPath(bytes: [UInt8](paths[path])))
                }
            case .part(let shared, let offset, let content):
                try shared.write(bytes.span.extracting(content), at: offset)
            }
        }
    }
}

// MARK: - One file

/// Where a file is made: a directory, and the part of the file's path that is its name there.
struct RestoredPlace: Sendable {
    let directory: any RestoredDirectory
    let path: EntryPath
    let name: ArraySlice<UInt8>
}

/// The size and the metadata of a file to be made, without its path.
struct RestoredFile: Sendable {
    fileprivate let size: UInt64
    fileprivate let permissions: UInt16
    fileprivate let modificationTime: FileTime
    fileprivate let attributes: [ExtendedAttribute]
    private let owner: FileOwner?
    /// Where its header begins in the tar stream.
    private let offset: UInt64

    init(_ entry: ArchiveEntry, permissions: UInt16, offset: UInt64) {
        size = entry.contentSize
        modificationTime = entry.modificationTime
        (attributes, owner) = (entry.extendedAttributes, entry.owner)
        (self.permissions, self.offset) = (permissions, offset)
    }

    /// Makes the file, which must not exist yet; `nil` if its content is not kept.
    func make(
        _ name: ArraySlice<UInt8>,
        in directory: any RestoredDirectory,
        _ mode: NewFileMode
    ) throws(SystemError) -> FileContentWriter? {
        // Attributes can't be set on a file that its owner may not write to.
        let hasFinalMode = attributes.isEmpty && mode.grants(permissions)
        let file = try directory.makeFile(
            name,
            permissions: hasFinalMode ? permissions : 0o600,
            size: size
        )
        guard let file else { return nil }
        if let owner = owner ?? mode.owner { try file.setOwner(owner) }
        return FileContentWriter(writingTo: file, for: self, hasFinalMode: hasFinalMode)
    }

    /// Makes the file and fills it with `content`.
    fileprivate func make(
        _ name: ArraySlice<UInt8>,
        in directory: any RestoredDirectory,
        _ mode: NewFileMode,
        holding content: Span<UInt8>
    ) throws(SystemError) {
        guard let writer = try make(name, in: directory, mode) else { return }
        try writer.finish(end: try writer.write(content, at: 0))
        try writer.close()
    }

    /// The error that ends the extraction because of `error`.
    fileprivate func failure(_ error: SystemError, at path: EntryPath) -> ArchiveError {
        ArchiveError(error, restoring: path).located(at: offset)
    }
}

/// A file whose parts several threads write; the thread that writes the last part finishes it.
final class SharedFile: Sendable {
    fileprivate let place: RestoredPlace
    private let file: RestoredFile
    private let writer: FileContentWriter
    /// How much is still to be written, and the end of the last written byte.
    private let state: Monitor<(rest: UInt64, end: UInt64)>

    init(_ file: RestoredFile, at place: RestoredPlace, _ writer: consuming FileContentWriter) {
        (self.file, self.place) = (file, place)
        self.writer = writer
        state = Monitor((file.size, 0))
    }

    fileprivate func write(_ content: Span<UInt8>, at offset: UInt64) throws(ArchiveError) {
        do throws(SystemError) {
            let written = try writer.write(content, at: offset)
            let (rest, end) = state.withLock { state in
                state.rest -= UInt64(content.count)
                state.end = max(state.end, written)
                return state
            }
            guard rest == 0 else { return }
            try writer.finish(end: end)
            try writer.flush()
        } catch {
            throw file.failure(error, at: place.path)
        }
    }
}

/// Writes a file's content at its offsets and skips runs of zeros, which become holes.
struct FileContentWriter: ~Copyable, Sendable {
    private let descriptor: FileDescriptor
    private let file: RestoredFile
    private let hasFinalMode: Bool

    fileprivate init(
        writingTo descriptor: consuming FileDescriptor,
        for file: RestoredFile,
        hasFinalMode: Bool
    ) {
        self.descriptor = descriptor
        (self.file, self.hasFinalMode) = (file, hasFinalMode)
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
    borrowing func finish(end: UInt64) throws(SystemError) {
        if end < file.size { try descriptor.setSize(file.size) }
        if !hasFinalMode {
            try descriptor.setExtendedAttributes(file.attributes.besideAccessLists)
            try descriptor.setPermissions(file.permissions)
            try descriptor.setExtendedAttributes(file.attributes.accessLists)
        }
        try descriptor.setModificationTime(file.modificationTime)
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
