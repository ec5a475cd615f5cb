/// Checks the order of an archive's entries in its windows.
///
/// It checks that each entry may follow the one before it, and knows at the end whether the archive
/// is in tree order. It remembers only the bounds of two windows, however many entries there are.
package struct WindowOrder: Sendable {
    /// The bounds of a window: its first and last entry in tree order.
    private struct Window {
        var size: WindowCutter.Size
        /// The entry that was taken last.
        var previous: (key: WindowKey, path: EntryPath)?
        var first: EntryPath
        var firstSize: WindowCutter.Size
        var last: EntryPath

        init(_ size: WindowCutter.Size, at path: EntryPath) {
            (self.size, firstSize) = (size, size)
            (first, last) = (path, path)
        }

        /// Takes an entry; returns whether it is the first one in tree order now.
        mutating func take(_ size: WindowCutter.Size, at path: EntryPath) -> Bool {
            self.size = self.size + size
            let isFirst = path.isLeft(before: first)
            if isFirst {
                (first, firstSize) = (path, size)
            } else if last.isLeft(before: path) {
                last = path
            }
            return isFirst
        }

        /// Takes the key of an entry; returns whether it comes after that of the entry before it.
        mutating func take(_ key: WindowKey, of path: EntryPath) -> Bool {
            defer { previous = (key, path) }
            return previous.map { $0.key.precedes(key, $0.path, path) } ?? true
        }
    }

    /// Whether entries are compared with those before them.
    private let checksOrder: Bool

    private var previous: Window?
    private var current: Window?
    /// Whether, so far, nothing in the window comes before anything in earlier windows.
    private(set) var isAscending = true
    private var isCutGreedily = true
    private var holdsOneEntryEach = true

    /// Begins before the first entry; the order need not be checked if the caller sorted the
    /// entries.
    package init(checksOrder: Bool = true) { self.checksOrder = checksOrder }

    /// Adds the next entry; returns whether its window may hold it there.
    package mutating func take(
        _ kind: ArchiveEntry.Kind,
        at path: EntryPath,
        place: WindowPlace
    ) -> Bool {
        let size = WindowCutter.Size(kind, at: path)
        var isFirst = place == .first
        if isFirst {
            endWindow()
            current = Window(size, at: path)
        } else {
            isFirst = current?.take(size, at: path) ?? false
        }
        if isFirst, let previous { isAscending = isAscending && previous.last.isLeft(before: path) }
        let hasRoom = current?.size.fits ?? false
        guard hasRoom, checksOrder else { return hasRoom }
        return current?.take(WindowKey(kind, at: path), of: path) ?? false
    }

    /// The path that a walk leaves first of those in the window, so far.
    var firstInWindow: EntryPath? { current?.first }

    private mutating func endWindow() {
        guard let window = current else { return }
        if let previous {
            isCutGreedily = isCutGreedily && !(previous.size + window.firstSize).fits
        }
        holdsOneEntryEach = holdsOneEntryEach && window.size.entries == 1
        previous = window
    }

    /// Whether the windows come in tree order, so that no path is in two of them, and each is as
    /// full as possible or, if a client chose the order, holds one entry.
    package var isInTreeOrder: Bool {
        var ended = self
        ended.endWindow()
        return ended.isAscending && (ended.isCutGreedily || ended.holdsOneEntryEach)
    }
}
