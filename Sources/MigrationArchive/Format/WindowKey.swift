internal import MigrationSystem

/// The sort key of an entry in its window, which groups similar files so that they compress well.
///
/// Symbolic links come first, then files, then hard links, then directories, the deepest first. So
/// every hard link follows its target, and every directory its content. Within a kind, entries are
/// in the order of their extensions, then of their names, then of their whole paths, each compared
/// as bytes.
///
/// A key doesn't hold its path, so that copying it needs no reference counting.
package struct WindowKey: Sendable {
    /// The kind; for a directory it decreases with its depth.
    private let group: UInt32
    /// Where the name and its extension begin in the path.
    private let nameOffset: UInt32
    private let extensionOffset: UInt32
    /// The first bytes of the extension and of the name, which decide most comparisons.
    private let extensionStart: UInt64
    private let nameStart: (UInt64, UInt64)

    /// Makes the key of an entry of `kind` at `path`.
    package init(_ kind: ArchiveEntry.Kind, at path: EntryPath) {
        let depth = kind.isDirectory ? path.bytes.count { $0 == UInt8(ascii: "/") } : 0
        group = UInt32(kind.number) << 16 | UInt32(max(0, TarFormat.pathLimit - depth))
        let bytes = path.bytes.span
        let (name, end) = Self.offsets(in: bytes)
        (nameOffset, extensionOffset) = (UInt32(name), UInt32(end))
        extensionStart = bytes.orderedWord(from: end)
        nameStart = (bytes.orderedWord(from: name), bytes.orderedWord(from: name + 8))
    }

    /// Where the name begins, and the bytes after its last dot, which is not the first byte of the
    /// name.
    private static func offsets(in path: Span<UInt8>) -> (name: Int, extension: Int) {
        var (name, dot) = (path.count, -1)
        while name > 0, path[name - 1] != UInt8(ascii: "/") {
            name -= 1
            if dot < 0, path[name] == UInt8(ascii: ".") { dot = name }
        }
        return (name, dot > name ? dot + 1 : path.count)
    }

    /// Whether the entry with this key, at `path`, comes before the one with the key `other`, at
    /// `otherPath`.
    package func precedes(_ other: WindowKey, _ path: EntryPath, _ otherPath: EntryPath) -> Bool {
        precedes(other) ?? isBefore(other, path.bytes.span, otherPath.bytes.span)
    }

    /// The same without the paths; `nil` if only they decide it.
    package func precedes(_ other: WindowKey) -> Bool? {
        if group != other.group { return group < other.group }
        if extensionStart != other.extensionStart { return extensionStart < other.extensionStart }
        // Equal starts don't decide if an extension may continue after them.
        if extensionStart & 0xFF != 0 || nameStart == other.nameStart { return nil }
        return nameStart < other.nameStart
    }

    private func isBefore(
        _ other: WindowKey,
        _ path: Span<UInt8>,
        _ otherPath: Span<UInt8>
    ) -> Bool {
        Self.precedes(
            path.extracting(droppingFirst: Int(extensionOffset)),
            otherPath.extracting(droppingFirst: Int(other.extensionOffset))
        )
            ?? Self.precedes(
                path.extracting(droppingFirst: Int(nameOffset)),
                otherPath.extracting(droppingFirst: Int(other.nameOffset))
            ) ?? Self.precedes(path, otherPath) ?? false
    }

    /// Whether `left` comes before `right`; `nil` if they are equal.
    private static func precedes(_ left: Span<UInt8>, _ right: Span<UInt8>) -> Bool? {
        let common = left.commonPrefix(with: right)
        if common < min(left.count, right.count) { return left[common] < right[common] }
        return left.count == right.count ? nil : left.count < right.count
    }
}

extension ArchiveEntry.Kind {
    /// The number of the kind in the index of entries, in the order of a window.
    var number: UInt8 {
        switch self {
        case .symbolicLink: 1
        case .file: 2
        case .hardLink: 3
        case .directory: 4
        }
    }
}
