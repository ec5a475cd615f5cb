/// Checks the order of an archive's entries in its windows.
///
/// It checks that each entry may follow the one before it, and knows at the end whether the archive
/// is in tree order. It remembers only the bounds of two windows, however many entries there are.
package struct WindowOrder: Sendable {
    /// The bounds of a window: its first and last entry in tree order.
    private struct Window {
        var size = WindowCutter.Size()
        var lastKey: WindowKey
        var first: EntryPath
        var firstSize: WindowCutter.Size
        var last: EntryPath
    }

    private var previous: Window?
    private var current: Window?
    private var isAscending = true
    private var isCutGreedily = true
    private var holdsOneEntryEach = true

    /// Begins before the first entry.
    package init() {}

    /// Adds the next entry; returns whether its window may hold it at this place.
    package mutating func take(
        _ kind: ArchiveEntry.Kind,
        at path: EntryPath,
        place: WindowPlace
    ) -> Bool {
        let size = WindowCutter.Size(kind, at: path)
        let key = WindowKey(kind, at: path)
        if place == .first {
            endWindow()
            current = Window(
                size: size,
                lastKey: key,
                first: path,
                firstSize: size,
                last: path
            )
            return true
        }
        guard var window = current.take() else { return false }
        let isInOrder = window.lastKey < key
        window.lastKey = key
        window.size = window.size + size
        if path.isLeft(before: window.first) {
            (window.first, window.firstSize) = (path, size)
        } else if window.last.isLeft(before: path) {
            window.last = path
        }
        current = window
        return isInOrder && window.size.fits
    }

    /// The path that a walk leaves first of those in the window, so far.
    var firstInWindow: EntryPath? { current?.first }

    private mutating func endWindow() {
        guard let window = current else { return }
        if let previous {
            isAscending = isAscending && previous.last.isLeft(before: window.first)
            isCutGreedily = isCutGreedily && !(previous.size + window.firstSize).fits
        }
        holdsOneEntryEach = holdsOneEntryEach && window.size.entries == 1
        previous = window
    }

    /// Whether nothing in the window comes before what is in the windows before it, so far.
    var isAscendingSoFar: Bool {
        guard isAscending, let previous, let current else { return isAscending }
        return previous.last.isLeft(before: current.first)
    }

    /// Whether the windows come in tree order, so that no path lies in two of them, and each is as full
    /// as it may be or, where a client chose the order, holds one entry.
    package var isInTreeOrder: Bool {
        var ended = self
        ended.endWindow()
        return ended.isAscending && (ended.isCutGreedily || ended.holdsOneEntryEach)
    }
}
