internal import MigrationArchive
internal import MigrationSystem

/// Items that wait to be archived in their order, while other threads read the files among them.
///
/// The archiving thread reads files itself where no other thread has begun to, so that it never waits
/// for work that nobody does, and there may be no other thread at all.
struct ItemQueue {
    /// The most batches under way.
    private static let depth = 3

    private let threadCount: Int
    private let cancellation: CancellationFlag
    private var pipeline: OrderedPipeline<ItemBatch, ItemBatch>?
    private var filling: ItemBatch?
    private var aheadCount = 0
    private var free: [ItemBatch] = []

    /// Prepares a queue for which `threadCount` threads read, as soon as there is something to read.
    init(threadCount: Int, cancellation: CancellationFlag) {
        self.threadCount = threadCount
        self.cancellation = cancellation
    }

    /// Adds an item after the others.
    ///
    /// - Returns: The items to archive before more are added, read.
    mutating func append(_ item: PendingItem) throws -> ItemBatch? {
        let batch = filling ?? free.popLast() ?? ItemBatch()
        batch.append(item)
        filling = batch.isFull ? nil : batch
        guard filling == nil else { return nil }
        try startedPipeline().submit(batch)
        aheadCount += 1
        return aheadCount > Self.depth ? try takeFirst() : nil
    }

    /// Takes the first of the items, read; `nil` where there are none.
    mutating func takeFirst() throws -> ItemBatch? {
        guard aheadCount > 0 else {
            guard let batch = filling.take() else { return nil }
            // There is nothing to do meanwhile.
            batch.read(cancellation)
            return batch
        }
        let batch = try pipeline?.next()
        pipeline?.release()
        aheadCount -= 1
        return batch
    }

    /// Takes back a batch that was archived.
    mutating func putBack(_ batch: ItemBatch) {
        batch.clear()
        free.append(batch)
    }

    private mutating func startedPipeline() throws -> OrderedPipeline<ItemBatch, ItemBatch> {
        if let pipeline { return pipeline }
        let started: OrderedPipeline<ItemBatch, ItemBatch>
        do {
            started = try makePipeline(threadCount: threadCount)
        } catch is SystemError {
            // The system gives no more threads.
            started = try makePipeline(threadCount: 0)
        }
        pipeline = started
        return started
    }

    private func makePipeline(
        threadCount: Int
    ) throws -> OrderedPipeline<ItemBatch, ItemBatch> {
        let cancellation = cancellation
        return try OrderedPipeline(
            named: "migration-read",
            threadCount: threadCount,
            depth: Self.depth + 1,
            cancellation: cancellation
        ) {
            { batch in
                batch.read(cancellation)
                return batch
            }
        }
    }
}

/// Something that is to be archived, or reported as left out, when its turn comes.
enum PendingItem {
    /// A file, or what was one when its directory was read.
    case file(SourceFile)
    /// A directory by itself, without what is in it.
    case directory(SourceItem, opened: OpenFile)
    /// The end of a directory, of which everything came before.
    case end(of: WalkedDirectory)
    case other(SourceItem)
    case omission(Omission)
}

/// A file of which no more is known than where it is.
struct SourceFile {
    /// The path under which the archive holds it.
    let path: EntryPath
    /// The open directory that holds it.
    let directory: OpenFile
    let name: ArraySlice<UInt8>

    /// Looks at the file.
    func item() throws(ArchiveError) -> SourceItem {
        try SourceItem(named: [UInt8](name), at: path.bytes, in: directory)
    }
}

// MARK: - Batches

/// A few items that follow one another, of which the files are opened, and read where they are
/// small, together.
///
/// Whatever goes wrong with a file leaves it unread: who archives it meets the error again. Only
/// that it changed is said at once, since nobody would see it again.
///
/// Safe because one thread at a time has a batch: it is handed on under a lock.
final class ItemBatch: @unchecked Sendable {
    /// One item, and what became of it where it is a file.
    struct Element {
        let item: PendingItem
        var reading = Reading.none
    }

    /// The outcome of reading a file ahead.
    enum Reading {
        case none
        /// It was being changed while it was read.
        case changed
        /// Too large to be read ahead: it is open, and was in that state before it is read.
        case opened(OpenFile, FileStatus)
        /// Read whole; its state was the same before and after.
        case read(FileStatus, FileAttributes, Range<Int>)
    }

    /// The most items in a batch.
    static let itemLimit = 64

    /// The largest file that is read ahead.
    static let largestFile = 32 * 1024

    /// The most bytes of content in a batch.
    static let contentLimit = 32 * largestFile

    /// The most directories that a batch holds open.
    private static let directoryLimit = 16

    /// The most large files that a batch holds open.
    private static let openLimit = 8

    private(set) var elements: [Element] = []

    /// Room for the contents; it takes no memory until written.
    private var bytes = unsafe [UInt8](unsafeUninitializedCapacity: contentLimit) {
        _,
        count in count = contentLimit
    }
    private var used = 0
    private var opened = 0
    private var directoryCount = 0
    private var lastDirectory: OpenFile?

    /// Whether no more items should be added.
    var isFull: Bool {
        elements.count >= Self.itemLimit || directoryCount >= Self.directoryLimit
    }

    /// Adds an item after the others.
    func append(_ item: PendingItem) {
        let directory: OpenFile? =
            switch item {
            case .file(let file): file.directory
            case .directory(_, let opened): opened
            case .end(let directory): directory.opened
            case .other(let item): item.directory
            case .omission: nil
            }
        if let directory, directory !== lastDirectory {
            directoryCount += 1
            lastDirectory = directory
        }
        elements.append(Element(item: item))
    }

    /// Lets go of the items.
    func clear() {
        elements.removeAll(keepingCapacity: true)
        (used, opened, directoryCount, lastDirectory) = (0, 0, 0, nil)
    }

    /// The content of a file that was read.
    func content(_ range: Range<Int>) -> ArraySlice<UInt8> { bytes[range] }

    /// Opens and reads the files.
    func read(_ cancellation: CancellationFlag) {
        for place in elements.indices {
            guard case .file(let file) = elements[place].item else { continue }
            if cancellation.isCancelled { return }
            do throws(SystemError) {
                elements[place].reading = try reading(of: file)
            } catch {
                elements[place].reading = .none
            }
        }
    }

    private func reading(of unread: SourceFile) throws(SystemError) -> Reading {
        let file = try unread.directory.descriptor.openFile(unread.name)
        let before = try file.status()
        guard before.kind == .regular else { return .none }
        if before.size > UInt64(min(Self.largestFile, bytes.count - used)) {
            opened += 1
            return opened > Self.openLimit ? .none : .opened(OpenFile(file), before)
        }
        let end = used + Int(before.size)
        var position = used
        while position < end {
            let count = try file.read(into: &bytes, from: position, count: end - position)
            guard count > 0 else { return .changed }
            position += count
        }
        let attributes = try FileAttributes(of: file)
        guard try file.status().isUnchanged(since: before) else { return .changed }
        defer { used = end }
        return .read(before, attributes, used..<end)
    }
}
