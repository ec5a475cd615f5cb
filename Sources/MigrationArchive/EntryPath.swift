/// The path of an archive entry: bytes, relative, with `/` between its components.
///
/// The bytes are what the file system held; nothing says that they are UTF-8, and two paths are
/// equal only where every byte is.
public struct EntryPath: Hashable, Sendable {
    /// The path's bytes, with no `/` at either end.
    public let bytes: [UInt8]

    /// Makes a path of bytes that are taken as they are.
    ///
    /// - Parameter bytes: The path; that it is one which an archive can hold is checked where it is used.
    public init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// Makes a path of the UTF-8 bytes of `string`, which are not normalized.
    ///
    /// - Parameter string: The path.
    public init(_ string: String) {
        self.init(bytes: [UInt8](string.utf8))
    }
}

extension EntryPath {
    /// Hashes the bytes at once rather than one by one.
    public func hash(into hasher: inout Hasher) {
        unsafe bytes.withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
    }
}

extension EntryPath: Comparable {
    /// Orders paths by their bytes.
    public static func < (left: EntryPath, right: EntryPath) -> Bool {
        left.bytes.lexicographicallyPrecedes(right.bytes)
    }
}

extension EntryPath: CustomStringConvertible {
    /// The path as it may be shown on a terminal: control bytes and bytes that are no UTF-8 are escaped.
    public var description: String { PrintableText.escaping(bytes) }
}

extension EntryPath {
    /// Makes a path of the components that go between its slashes.
    init(joining components: some Sequence<ArraySlice<UInt8>>) {
        self.init(bytes: [UInt8](components.joined(separator: CollectionOfOne(UInt8(ascii: "/")))))
    }

    /// The components between the slashes.
    package var components: [ArraySlice<UInt8>] {
        bytes.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    }

    /// The last component.
    package var lastComponent: ArraySlice<UInt8> {
        bytes[bytes.index(after: bytes.lastIndex(of: UInt8(ascii: "/")) ?? -1)...]
    }

    /// The path without its last component, or `nil` where it has only one.
    package var parent: EntryPath? {
        bytes.lastIndex(of: UInt8(ascii: "/")).map { EntryPath(bytes: [UInt8](bytes[..<$0])) }
    }

    /// Whether this path is `other` or lies below it.
    package func isEqual(toOrBelow other: EntryPath) -> Bool {
        guard bytes.starts(with: other.bytes) else { return false }
        return bytes.count == other.bytes.count || bytes[other.bytes.count] == UInt8(ascii: "/")
    }
}
