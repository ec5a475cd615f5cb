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
