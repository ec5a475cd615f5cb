package import Foundation

extension URL {
    /// Names the directory at a path of any bytes.
    package init(directoryAtPath path: BytePath) {
        self.init(path, isDirectory: true)
    }

    /// Names the directory of a container at a path of any bytes, without a slash at the end.
    ///
    /// If an extension removes this path from the path of a file in it, the rest begins with a
    /// slash.
    package init(containerAtPath path: BytePath) {
        self.init(path, isDirectory: false)
    }

    /// Names the file at a path of any bytes.
    package init(fileAtPath path: BytePath) {
        self.init(path, isDirectory: false)
    }

    private init(_ path: BytePath, isDirectory: Bool) {
        let terminated = path.bytes.map { CChar(bitPattern: $0) } + [0]
        self = unsafe terminated.withUnsafeBufferPointer { buffer in
            unsafe URL(
                fileURLWithFileSystemRepresentation: buffer.baseAddress.unsafelyUnwrapped,
                isDirectory: isDirectory,
                relativeTo: nil
            )
        }
    }

    /// The path of the file in the file system; `nil` if this isn't a file URL.
    package var fileSystemPath: BytePath? {
        guard isFileURL else { return nil }
        return unsafe withUnsafeFileSystemRepresentation { path in
            unsafe path.map { unsafe BytePath(cString: $0) }
        }
    }
}

extension BytePath {
    /// Whether a URL can name the file: Foundation replaces bytes that are not valid UTF-8, and the URL
    /// then names another file.
    package var fitsURL: Bool {
        get throws(SystemError) {
            let isText = String(validating: bytes, as: UTF8.self) != nil
            guard isText, !isAbsolute else { return isText }
            return try BytePath(resolvingWhole: ".").fitsURL
        }
    }

    /// The path of `url`, or its path component if it isn't a file URL.
    package init(of url: URL) {
        self = url.fileSystemPath ?? BytePath(url.path)
    }
}
