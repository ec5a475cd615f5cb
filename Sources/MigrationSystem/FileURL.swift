package import Foundation

extension URL {
    /// Names the directory at a path of any bytes.
    package init(directoryAtPath path: ByteString) {
        self.init(path, isDirectory: true)
    }

    /// Names the directory of a container at a path of any bytes, without a slash at the end.
    ///
    /// If an extension removes this path from the path of a file in it, the rest begins with a
    /// slash.
    package init(containerAtPath path: ByteString) {
        self.init(path, isDirectory: false)
    }

    /// Names the file at a path of any bytes.
    package init(fileAtPath path: ByteString) {
        self.init(path, isDirectory: false)
    }

    private init(_ path: ByteString, isDirectory: Bool) {
        let terminated = path.map { CChar(bitPattern: $0) } + [0]
        self = unsafe terminated.withUnsafeBufferPointer { buffer in
            unsafe URL(
                fileURLWithFileSystemRepresentation: buffer.baseAddress.unsafelyUnwrapped,
                isDirectory: isDirectory,
                relativeTo: nil
            )
        }
    }

    /// The path of the file in the file system; `nil` if this isn't a file URL.
    package var fileSystemPath: ByteString? {
        guard isFileURL else { return nil }
        return unsafe withUnsafeFileSystemRepresentation { path in
            unsafe path.map { unsafe ByteString(cString: $0) }
        }
    }
}

extension ByteString {
    /// The path of `url`, or its path component if it isn't a file URL.
    package init(pathOf url: URL) {
        self = url.fileSystemPath ?? ByteString(utf8: url.path)
    }

    /// The path of the same file if `directory` is renamed to `other`; `nil` if it isn't in
    /// `directory`.
    package func moved(from directory: ByteString, to other: ByteString) -> ByteString? {
        guard starts(with: directory) else { return nil }
        let rest = dropFirst(directory.count)
        guard rest.isEmpty || rest.first == UInt8(ascii: "/") else { return nil }
        return other + rest
    }

    /// The text after the last slash, ignoring slashes at the end.
    package var lastPathComponent: ByteString {
        let slash = UInt8(ascii: "/")
        let end = (lastIndex { $0 != slash } ?? -1) + 1
        let start = (self[..<end].lastIndex(of: slash) ?? -1) + 1
        return ByteString(self[start..<end])
    }
}
