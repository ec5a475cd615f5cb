/// The place of an entry in its window.
///
/// Similar entries lie next to each other, so that they compress well.
///
/// Symbolic links come first, then files, then hard links, then directories, the deepest first: so
/// every hard link follows its target, and every directory follows its content. Within a kind,
/// entries are in the order of their extensions, then of their names, then of their whole paths, each
/// compared as bytes.
package struct WindowKey: Comparable, Sendable {
    private enum Group: UInt32 {
        case symbolicLink = 0, file, hardLink, directory
    }

    /// The few bytes that decide most comparisons; copying them counts no references.
    package struct Start: Equatable, Sendable {
        /// The kind, and for a directory the inverse of its depth.
        fileprivate let group: UInt32
        /// The first bytes of the extension and of the name.
        fileprivate let extensionStart: UInt64
        fileprivate let nameStart: UInt64

        /// Whether its key comes before that of `other`; `nil` where the starts don't decide it.
        package func precedes(_ other: Start) -> Bool? {
            if group != other.group { return group < other.group }
            if extensionStart != other.extensionStart {
                return extensionStart < other.extensionStart
            }
            // Equal starts decide nothing if an extension may continue after them.
            if extensionStart & 0xFF != 0 || nameStart == other.nameStart { return nil }
            return nameStart < other.nameStart
        }
    }

    /// The beginning of the key.
    package let start: Start
    private let path: EntryPath
    /// Where the name and its extension begin in the path.
    private let nameOffset: Int
    private let extensionOffset: Int

    /// Makes the key of an entry of `kind` at `path`.
    package init(_ kind: ArchiveEntry.Kind, at path: EntryPath) {
        let group: Group =
            switch kind {
            case .symbolicLink: .symbolicLink
            case .file: .file
            case .hardLink: .hardLink
            case .directory: .directory
            }
        let depth = group == .directory ? path.bytes.count { $0 == UInt8(ascii: "/") } : 0
        self.path = path
        let name = path.lastComponent
        let end = Self.fileExtension(of: name)
        nameOffset = path.bytes.count - name.count
        extensionOffset = path.bytes.count - end.count
        start = Start(
            group: group.rawValue << 16 | UInt32(max(0, TarFormat.pathLimit - depth)),
            extensionStart: Self.start(of: end),
            nameStart: Self.start(of: name)
        )
    }

    package static func < (left: WindowKey, right: WindowKey) -> Bool {
        if let precedes = left.start.precedes(right.start) { return precedes }
        let (leftPath, rightPath) = (left.path.bytes.span, right.path.bytes.span)
        return precedes(
            leftPath.extracting(droppingFirst: left.extensionOffset),
            rightPath.extracting(droppingFirst: right.extensionOffset)
        )
            ?? precedes(
                leftPath.extracting(droppingFirst: left.nameOffset),
                rightPath.extracting(droppingFirst: right.nameOffset)
            ) ?? precedes(leftPath, rightPath) ?? false
    }

    /// The bytes after the last dot, if that isn't the first byte of the name.
    private static func fileExtension(of name: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        guard let dot = name.lastIndex(of: UInt8(ascii: ".")), dot > name.startIndex else {
            return []
        }
        return name[(dot + 1)...]
    }

    /// Whether `left` comes before `right`; `nil` if they are equal.
    private static func precedes(_ left: Span<UInt8>, _ right: Span<UInt8>) -> Bool? {
        for index in 0..<min(left.count, right.count) where left[index] != right[index] {
            return left[index] < right[index]
        }
        return left.count == right.count ? nil : left.count < right.count
    }

    private static let startSize = 8

    /// The first bytes as a number that compares as they do: no path holds a zero byte.
    private static func start(of bytes: ArraySlice<UInt8>) -> UInt64 {
        var start: UInt64 = 0
        for byte in bytes.prefix(startSize) { start = start << 8 | UInt64(byte) }
        return start << (8 * UInt64(startSize - min(startSize, bytes.count)))
    }
}
