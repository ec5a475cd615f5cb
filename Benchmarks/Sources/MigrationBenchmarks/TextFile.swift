internal import Glibc

/// Reads and writes whole files, and finds out what is at a path.
enum TextFile {
    /// The kind of file at a path.
    enum Kind {
        case file(size: Int)
        case directory
        /// A link, something else, or nothing that can be read.
        case other
    }

    static func write(_ text: String, to path: String) throws(BenchmarkError) {
        try OutputFile.write(Array(text.utf8)[...], to: path)
    }

    /// The first few kilobytes of a file, or nothing.
    static func read(_ path: String) -> String {
        String(decoding: readBytes(path, atMost: 8192), as: UTF8.self)
    }

    /// The first bytes of a file, or nothing.
    static func readBytes(_ path: String, atMost limit: Int) -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return [] }
        defer { close(descriptor) }
        return [UInt8](unsafeUninitializedCapacity: limit) { buffer, count in
            while count < limit, let start = buffer.baseAddress {
                let size = Glibc.read(descriptor, start + count, limit - count)
                guard size > 0 else { return }
                count += size
            }
        }
    }

    /// The absolute path.
    static func absolute(_ path: String) throws(BenchmarkError) -> String {
        guard let resolved = realpath(path, nil) else {
            throw .system(call: "find", subject: path, code: errno)
        }
        defer { free(resolved) }
        return String(cString: resolved)
    }

    static func kind(of path: String) -> Kind {
        var status = stat()
        guard lstat(path, &status) == 0 else { return .other }
        return switch status.st_mode & S_IFMT {
        case S_IFDIR: .directory
        case S_IFREG: .file(size: Int(status.st_size))
        default: .other
        }
    }

    /// Prints a line to standard error.
    static func complain(_ line: String) {
        let bytes = Array("\(line)\n".utf8)
        _ = Glibc.write(2, bytes, bytes.count)
    }
}
