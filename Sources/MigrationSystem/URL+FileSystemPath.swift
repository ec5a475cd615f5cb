package import Foundation

extension URL {
    /// Names the directory at a path of any bytes.
    package init(directoryAtPath path: ByteString) {
        self.init(path, isDirectory: true)
    }

    /// Names the directory of a container at a path of any bytes, with no slash at its end.
    ///
    /// So what is left of the path of a file in it, once that of the container is taken away, begins with
    /// a slash.
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

    /// The path that the system knows the file by; `nil` where this is no file's URL.
    package var fileSystemPath: ByteString? {
        guard isFileURL else { return nil }
        return unsafe withUnsafeFileSystemRepresentation { path in
            unsafe path.map { unsafe ByteString(cString: $0) }
        }
    }
}

extension ByteString {
    /// The path of `url`, or what stands in its place where it is no file's.
    package init(pathOf url: URL) {
        self = url.fileSystemPath ?? ByteString(utf8: url.path)
    }

    /// The path of the same file where `directory` is called `other`; `nil` where it lies elsewhere.
    package func moved(from directory: ByteString, to other: ByteString) -> ByteString? {
        guard starts(with: directory) else { return nil }
        let rest = dropFirst(directory.count)
        guard rest.isEmpty || rest.first == UInt8(ascii: "/") else { return nil }
        return other + rest
    }

    /// What follows the last slash, slashes at the end apart.
    package var lastPathComponent: ByteString {
        let slash = UInt8(ascii: "/")
        let end = (lastIndex { $0 != slash } ?? -1) + 1
        let start = (self[..<end].lastIndex(of: slash) ?? -1) + 1
        return ByteString(self[start..<end])
    }
}
