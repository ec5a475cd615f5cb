internal import Glibc

/// A new file of a workload.
struct OutputFile: ~Copyable {
    private let path: String
    private let descriptor: Int32

    init(_ path: String) throws(BenchmarkError) {
        self.path = path
        descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else {
            throw .system(call: "open", subject: path, code: errno)
        }
    }

    deinit {
        _ = close(descriptor)
    }

    func write(_ bytes: ArraySlice<UInt8>) throws(BenchmarkError) {
        var rest = bytes
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            guard count > 0 else {
                throw .system(call: "write", subject: path, code: errno)
            }
            rest = rest.dropFirst(count)
        }
    }

    /// Leaves a hole of `count` bytes, which stays one even at the end of the file.
    func skip(_ count: Int) throws(BenchmarkError) {
        let end = lseek(descriptor, count, SEEK_CUR)
        guard end >= 0, ftruncate(descriptor, end) == 0 else {
            throw .system(call: "truncate", subject: path, code: errno)
        }
    }

    /// Makes a file with such a content.
    static func write(_ bytes: ArraySlice<UInt8>, to path: String) throws(BenchmarkError) {
        let file = try OutputFile(path)
        try file.write(bytes)
    }

    /// Makes a directory, and those above it that are missing.
    static func makeDirectory(_ path: String) throws(BenchmarkError) {
        guard mkdir(path, 0o755) != 0, errno != EEXIST else { return }
        guard errno == ENOENT, let slash = path.lastIndex(of: "/"), slash > path.startIndex else {
            throw .system(call: "mkdir", subject: path, code: errno)
        }
        try makeDirectory(String(path[..<slash]))
        try makeDirectory(path)
    }
}
