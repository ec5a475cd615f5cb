internal import MigrationArchive
internal import MigrationSystem

/// Items that wait to be archived in their order, while other threads read the files among them.
struct ItemQueue {
    /// The most batches under way.
    private static let depth = 3

    private let readAhead: FileReadAhead
    private let cancellation: CancellationFlag
    private var filling: ItemBatch?
    private var ahead: [ItemBatch] = []
    private var free: [ItemBatch] = []

    /// Prepares a queue of which `threadCount` threads read the files.
    init(threadCount: Int, cancellation: CancellationFlag) {
        readAhead = FileReadAhead(threadCount: threadCount, cancellation: cancellation)
        self.cancellation = cancellation
    }

    /// Adds an item after the others.
    ///
    /// - Returns: The items to archive before more are added, read.
    mutating func append(_ item: PendingItem) -> ItemBatch? {
        let batch = filling ?? free.popLast() ?? ItemBatch()
        batch.append(item)
        filling = batch.isFull ? nil : batch
        guard filling == nil else { return nil }
        ahead.append(batch)
        readAhead.submit(batch)
        return ahead.count > Self.depth ? takeFirst() : nil
    }

    /// Takes the first of the items, read; `nil` where there are none.
    mutating func takeFirst() -> ItemBatch? {
        if ahead.isEmpty {
            guard let batch = filling.take() else { return nil }
            // There is nothing to do meanwhile.
            batch.read(cancellation)
            return batch
        }
        let batch = ahead.removeFirst()
        readAhead.finishReading(batch)
        return batch
    }

    /// Takes back a batch that was archived.
    mutating func putBack(_ batch: ItemBatch) {
        batch.clear()
        free.append(batch)
    }
}

/// Something that is to be archived, or reported as left out, when its turn comes.
enum PendingItem {
    /// A file, or what was one when its directory was read.
    case file(UnreadFile)
    /// A directory by itself, without what is in it.
    case directory(SourceItem, opened: OpenFile)
    /// The end of a directory, of which everything came before.
    case end(of: WalkedDirectory)
    case other(SourceItem)
    case omission(Omission)
}

/// A file of which no more is known than where it is.
struct UnreadFile {
    /// The path under which the archive holds it.
    let path: EntryPath
    /// The open directory that holds it.
    let directory: OpenFile
    let name: ArraySlice<UInt8>

    /// Looks at the file.
    func item() throws(ArchiveError) -> SourceItem {
        try SourceItem(named: ByteString(name), at: path.bytes, in: directory)
    }
}

// MARK: - Batches

/// A few items that follow one another, of which the files are opened, and read where they are small,
/// together.
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

    /// What was done with a file.
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

    private func reading(of unread: UnreadFile) throws(SystemError) -> Reading {
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

// MARK: - Threads

/// Reads the files of batches on several threads, ahead of the one that archives them in order.
///
/// The archiving thread reads a batch itself where no other has begun to, so it never waits for
/// work that nobody does, and there may be no other thread at all.
///
/// Safe because `workers` is used by the archiving thread alone.
final class FileReadAhead: @unchecked Sendable {
    /// What the threads share; apart, so that they don't keep the rest alive.
    private struct State {
        var waiting: [ItemBatch] = []
        var reading: [ItemBatch] = []
        var isClosed = false
    }

    private let threadCount: Int
    private let cancellation: CancellationFlag
    private let monitor = Monitor(State())
    private var workers: WorkerThreads?

    /// Prepares `threadCount` threads, which start when there is something to read ahead.
    init(threadCount: Int, cancellation: CancellationFlag) {
        self.threadCount = threadCount
        self.cancellation = cancellation
    }

    deinit {
        monitor.withLock { $0.isClosed = true }
        workers?.join()
    }

    /// Has `batch` read by whoever comes to it first.
    func submit(_ batch: ItemBatch) {
        startWorkers()
        monitor.withLock { $0.waiting.append(batch) }
    }

    /// Returns once `batch` is read, by this thread where no other has begun to.
    func finishReading(_ batch: ItemBatch) {
        let isTaken = monitor.wait { state -> Bool? in
            if let place = state.waiting.firstIndex(where: { $0 === batch }) {
                state.waiting.remove(at: place)
                return false
            }
            return state.reading.contains { $0 === batch } ? nil : true
        }
        if !isTaken { batch.read(cancellation) }
    }

    private func startWorkers() {
        guard workers == nil, threadCount > 0 else { return }
        // Where the system gives no more threads, whoever needs a batch reads it.
        workers = try? WorkerThreads(count: threadCount, named: "migration-read") {
            [monitor, cancellation] in
            while let batch = Self.takeWaiting(from: monitor) {
                batch.read(cancellation)
                monitor.withLock { $0.reading.removeAll { $0 === batch } }
            }
        }
    }

    private static func takeWaiting(from monitor: Monitor<State>) -> ItemBatch? {
        monitor.wait { state in
            if state.isClosed { return .some(nil) }
            guard !state.waiting.isEmpty else { return nil }
            let batch = state.waiting.removeFirst()
            state.reading.append(batch)
            return batch
        }
    }
}
