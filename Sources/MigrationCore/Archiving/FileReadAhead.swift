internal import MigrationArchive
internal import MigrationSystem

/// Items that wait to be archived in their order, while other threads read the files among them.
struct ItemQueue {
    /// The most batches that are read ahead.
    private var depth: Int { pool.threadCount == 1 ? 0 : 3 }

    private let pool: WorkerPool
    /// The extra metadata that is read from files.
    private let extra: ExtraMetadata
    private let step: OrderedStep<ItemBatch, ItemBatch>
    private var filling: ItemBatch?
    private var aheadCount = 0
    private var free: [ItemBatch] = []

    /// Prepares a queue for which the threads of `pool` read.
    init(on pool: WorkerPool, holding extra: ExtraMetadata = []) {
        (self.pool, self.extra) = (pool, extra)
        step = OrderedStep(of: pool, depth: 4) {
            { batch in
                batch.read(holding: extra, pool.cancellation)
                return batch
            }
        }
    }

    /// Adds an item after the others, which has `place` in its window.
    ///
    /// - Returns: The items to archive before more are added, read.
    mutating func append(_ item: WindowItem, _ place: WindowPlace) throws -> ItemBatch? {
        let batch = filling ?? free.popLast() ?? ItemBatch()
        batch.append(item, place)
        filling = batch.isFull ? nil : batch
        guard filling == nil else { return nil }
        try step.submit(batch)
        aheadCount += 1
        return aheadCount > depth ? try takeFirst() : nil
    }

    /// Takes the first of the items, read; `nil` where there are none.
    mutating func takeFirst() throws -> ItemBatch? {
        guard aheadCount > 0 else {
            guard let batch = filling.take() else { return nil }
            // There is nothing to do meanwhile.
            batch.read(holding: extra, pool.cancellation)
            return batch
        }
        let batch = try step.next()
        step.release()
        aheadCount -= 1
        return batch
    }

    /// Takes back a batch that was archived.
    mutating func putBack(_ batch: ItemBatch) {
        batch.clear()
        free.append(batch)
    }
}

// MARK: - Batches

/// A few items that follow one another, of which the files are opened, and read where they are
/// small, together.
///
/// After an error a file stays unread: the archiver reads it again and reports the error. Only a
/// change of the file is reported at once, since the second reading wouldn't see it.
///
/// Safe because one thread at a time has a batch: it is handed on under a lock.
final class ItemBatch: @unchecked Sendable {
    /// One item, and what became of it where it is a file.
    struct Element {
        let item: WindowItem
        let place: WindowPlace
        var reading = Reading.none
    }

    /// The outcome of reading a file ahead.
    enum Reading {
        case none
        /// It is not what it was when the tree was walked, or was being changed while it was read.
        case changed
        /// Too large to be read ahead: it is open, and unchanged so far.
        case opened(OpenFile)
        /// Read whole and unchanged.
        case read(FileAttributes, Range<Int>)
    }

    /// The most items in a batch.
    static let itemLimit = 64

    /// The largest file that is read ahead.
    static let largestFile = 32 * 1024

    /// The most bytes of content in a batch.
    static let contentLimit = 8 * largestFile

    /// The most large files that a batch holds open.
    private static let openLimit = 8

    private(set) var elements: [Element] = []

    /// Room for the contents; it takes no memory until written.
    private var bytes = unsafe [UInt8](unsafeUninitializedCapacity: contentLimit) {
        _,
        count in count = contentLimit
    }
    /// The bytes of the files that are to be read.
    private var planned = 0
    private var used = 0
    private var opened = 0
    /// The directory of the last files, if several lie in it.
    private var lastDirectory: (base: SourceBase, path: ArraySlice<UInt8>, opened: OpenFile)?

    /// Whether no more items should be added.
    var isFull: Bool {
        elements.count >= Self.itemLimit || planned > Self.contentLimit - Self.largestFile
    }

    /// Adds an item after the others, which has `place` in its window.
    func append(_ item: WindowItem, _ place: WindowPlace) {
        elements.append(Element(item: item, place: place))
        if let size = item.source?.status.size, size <= Self.largestFile { planned += Int(size) }
    }

    /// Lets go of the items.
    func clear() {
        elements.removeAll(keepingCapacity: true)
        (planned, used, opened, lastDirectory) = (0, 0, 0, nil)
    }

    /// The content of a file that was read.
    func content(_ range: Range<Int>) -> ArraySlice<UInt8> { bytes[range] }

    /// Opens and reads the files.
    func read(holding extra: ExtraMetadata, _ cancellation: CancellationFlag) {
        for place in elements.indices {
            let item = elements[place].item
            guard let source = item.source, item.entry.kind != .directory else { continue }
            if cancellation.isCancelled { return }
            do throws(SystemError) {
                elements[place].reading = try reading(of: item, source, at: place, extra)
            } catch {
                elements[place].reading = .none
            }
        }
    }

    private func reading(
        of item: WindowItem,
        _ source: WindowItem.Source,
        at place: Int,
        _ extra: ExtraMetadata
    ) throws(SystemError) -> Reading {
        let size = source.status.size
        let isRead = size <= UInt64(min(Self.largestFile, bytes.count - used))
        if !isRead {
            opened += 1
            if opened > Self.openLimit { return .none }
        }
        let file = try open(item, source, at: place)
        guard isRead else {
            let isUnchanged = try file.status().isUnchanged(since: source.status)
            return isUnchanged ? .opened(OpenFile(file)) : .changed
        }
        let end = used + Int(size)
        var position = used
        while position < end {
            let count = try file.read(into: &bytes, from: position, count: end - position)
            guard count > 0 else { return .changed }
            position += count
        }
        let attributes = try FileAttributes(of: file, holding: extra)
        // It is the file that the walk saw, and was in that state all the time.
        guard try file.status().isUnchanged(since: source.status) else { return .changed }
        defer { used = end }
        return .read(attributes, used..<end)
    }

    /// Opens a file through its directory, if the next one lies in it too.
    private func open(
        _ item: WindowItem,
        _ source: WindowItem.Source,
        at place: Int
    ) throws(SystemError) -> FileDescriptor {
        let path = item.entry.path
        let name = path.lastComponent
        let directory = path.bytes.dropLast(name.count + 1)
        if let last = lastDirectory, last.base === source.base,
            last.path.span.isEqual(to: directory.span)
        {
            return try last.opened.descriptor.openFile(name)
        }
        guard place + 1 < elements.count, elements[place + 1].item.source?.base === source.base,
            elements[place + 1].item.entry.path.lies(in: directory)
        else { return try item.open(source) }
        let parent = EntryPath(bytes: [UInt8](directory))
        let opened = OpenFile(try source.base.open(parent, .directory))
        lastDirectory = (source.base, directory, opened)
        return try opened.descriptor.openFile(name)
    }
}

extension EntryPath {
    /// Whether the last component comes right after `directory`.
    fileprivate func lies(in directory: ArraySlice<UInt8>) -> Bool {
        let own = bytes.dropLast(lastComponent.count + 1)
        return own.span.isEqual(to: directory.span)
    }
}
