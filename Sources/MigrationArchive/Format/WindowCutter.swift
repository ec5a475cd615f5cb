internal import MigrationSystem

/// Cuts the entries of a tree into windows, each as full as possible.
///
/// Entries come in the order in which a walk through the tree leaves them: names in byte order, and
/// a directory after everything in it (``EntryPath/isLeft(before:)``). A window ends when the next
/// entry doesn't fit, so the windows depend on the tree alone.
package struct WindowCutter: Sendable {
    /// The size of an entry or a window, by which windows are limited.
    package struct Size: Equatable, Sendable {
        private(set) var entries: Int
        private(set) var contentBytes: UInt64
        /// The bytes of paths and of link targets.
        private(set) var pathBytes: Int

        /// An empty window.
        init() { (entries, contentBytes, pathBytes) = (0, 0, 0) }

        /// The size of an entry of `kind` at `path`.
        package init(_ kind: ArchiveEntry.Kind, at path: EntryPath) {
            entries = 1
            (contentBytes, pathBytes) =
                switch kind {
                case .file(let size): (size, path.bytes.count)
                case .directory: (0, path.bytes.count)
                case .symbolicLink(let target): (0, path.bytes.count + target.count)
                case .hardLink(let target): (0, path.bytes.count + target.bytes.count)
                }
        }

        /// Whether a window may be this large; a single entry always fits.
        var fits: Bool {
            entries <= 1
                || entries <= WindowCutter.entryLimit && contentBytes <= WindowCutter.contentLimit
                    && pathBytes <= WindowCutter.pathLimit
        }

        static func + (left: Size, right: Size) -> Size {
            var sum = left
            sum.entries += right.entries
            sum.contentBytes.addSaturating(right.contentBytes)
            sum.pathBytes += right.pathBytes
            return sum
        }
    }

    /// The maximum number of entries in a window.
    package static let entryLimit = 8192

    /// The maximum size of content in a window that holds more than one entry.
    package static let contentLimit: UInt64 = 512 << 20

    /// The maximum size of paths and link targets in a window that holds more than one entry.
    package static let pathLimit = 1 << 20

    private var window = Size()

    /// Begins before the first entry.
    package init() {}

    /// Adds the next entry; returns whether it begins a window.
    package mutating func take(_ size: Size) -> Bool {
        let isFirst = window.entries == 0
        let grown = window + size
        guard isFirst || !grown.fits else {
            window = grown
            return false
        }
        window = size
        return true
    }
}

/// The place of an entry in its window.
package enum WindowPlace: Sendable {
    /// It is the first entry of its window.
    case first
    /// It isn't the first entry of its window.
    case further
}
