internal import Glibc

/// Reads and writes small files as a whole.
enum TextFile {
    static func write(_ text: String, to path: String) throws(BenchmarkError) {
        guard let file = fopen(path, "w") else {
            throw .system(call: "open", subject: path, code: errno)
        }
        let written = fputs(text, file)
        guard fclose(file) == 0, written >= 0 else {
            throw .system(call: "write", subject: path, code: errno)
        }
    }

    /// The first few kilobytes of a file, or nothing.
    static func read(_ path: String) -> String {
        guard let file = fopen(path, "r") else { return "" }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = fread(&bytes, 1, bytes.count, file)
        return String(decoding: bytes[..<count], as: UTF8.self)
    }

    static func size(of path: String) throws(BenchmarkError) -> Int {
        var status = stat()
        guard stat(path, &status) == 0 else {
            throw .system(call: "stat", subject: path, code: errno)
        }
        return Int(status.st_size)
    }

    /// Prints a line to standard error.
    static func complain(_ line: String) {
        let bytes = Array("\(line)\n".utf8)
        _ = Glibc.write(2, bytes, bytes.count)
    }
}
