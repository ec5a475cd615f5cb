internal import MigrationArchive
internal import MigrationSystem

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
