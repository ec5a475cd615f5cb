/// The place of an entry in its window, which puts like beside like so that it compresses well.
///
/// Symbolic links come first, then files, then hard links, then directories, the deepest first: so
/// every link comes after what it leads to, and every directory after what is in it. Within a kind,
/// entries are in the order of their extensions, then of their names, then of their whole paths, each
/// compared as bytes.
package struct WindowKey: Comparable, Sendable {
    private enum Group: UInt32 {
        case symbolicLink = 0, file, hardLink, directory
    }

    /// The kind, and for a directory how deep it does not lie.
    private let group: UInt32
    /// The first bytes of the extension and of the name, which decide most comparisons.
    private let extensionStart: UInt64
    private let nameStart: UInt64
    private let path: EntryPath

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
        self.group = group.rawValue << 16 | UInt32(max(0, TarFormat.pathLimit - depth))
        self.path = path
        let name = path.lastComponent
        nameStart = Self.start(of: name)
        extensionStart = Self.start(of: Self.fileExtension(of: name))
    }

    package static func < (left: WindowKey, right: WindowKey) -> Bool {
        if left.group != right.group { return left.group < right.group }
        if left.extensionStart != right.extensionStart {
            return left.extensionStart < right.extensionStart
        }
        let (leftName, rightName) = (left.path.lastComponent, right.path.lastComponent)
        let extensions = (fileExtension(of: leftName), fileExtension(of: rightName))
        // Equal starts decide nothing where an extension goes on behind them.
        if extensions.0.count > startSize || extensions.1.count > startSize,
            let precedes = precedes(extensions.0, extensions.1)
        {
            return precedes
        }
        if left.nameStart != right.nameStart { return left.nameStart < right.nameStart }
        return precedes(leftName, rightName)
            ?? precedes(left.path.bytes[...], right.path.bytes[...]) ?? false
    }

    /// The bytes behind the last dot, which is not the first byte of the name.
    private static func fileExtension(of name: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        guard let dot = name.lastIndex(of: UInt8(ascii: ".")), dot > name.startIndex else {
            return []
        }
        return name[(dot + 1)...]
    }

    /// Whether `left` comes before `right`; `nil` if they are equal.
    private static func precedes(_ left: ArraySlice<UInt8>, _ right: ArraySlice<UInt8>) -> Bool? {
        let (left, right) = (left.span, right.span)
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
