/// A path below the container's root, as the bytes that the file system keeps.
struct EntryPath: Hashable, ExpressibleByStringInterpolation {
    let bytes: [UInt8]

    init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    init(_ text: String) {
        bytes = Array(text.utf8)
    }

    init(stringLiteral text: String) {
        self.init(text)
    }

    /// The path of the directory that holds this entry, or `nil` for an entry at the root.
    var parent: EntryPath? {
        bytes.lastIndex(of: UInt8(ascii: "/")).map { EntryPath(bytes: Array(bytes[..<$0])) }
    }

    /// The path as text for messages; bytes that aren't valid UTF-8 are replaced.
    var text: String {
        String(decoding: bytes, as: UTF8.self)
    }

    static func / (directory: EntryPath, name: EntryPath) -> EntryPath {
        EntryPath(bytes: directory.bytes + [UInt8(ascii: "/")] + name.bytes)
    }
}
