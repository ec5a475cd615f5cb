internal import Glibc

/// A directory of this run, for trees, archives and copies.
struct ScratchDirectory {
    let path: String

    init(in parent: String) throws(BenchmarkError) {
        path = "\(try TextFile.absolute(parent))/migration-benchmarks.\(getpid())"
        guard mkdir(path, 0o700) == 0 else {
            throw .system(call: "mkdir", subject: path, code: errno)
        }
    }

    /// The file for commands' standard error.
    var complaints: String { file("complaints") }

    func file(_ name: String) -> String {
        "\(path)/\(name)"
    }

    /// Makes the directory `name`, empty even if it exists.
    func freshDirectory(_ name: String) throws(BenchmarkError) -> String {
        try clear(name)
        let directory = file(name)
        guard mkdir(directory, 0o755) == 0 else {
            throw .system(call: "mkdir", subject: directory, code: errno)
        }
        return directory
    }

    func clear(_ name: String) throws(BenchmarkError) {
        try ChildProcess.run(["rm", "-rf", "--", file(name)], complaints: "/dev/null")
    }

    /// Flushes what earlier commands left in memory, so that no later one waits for it.
    func settle() throws(BenchmarkError) {
        try ChildProcess.run(["sync", "-f", path], complaints: "/dev/null")
    }

    func remove() {
        _ = try? ChildProcess.run(["rm", "-rf", "--", path], complaints: "/dev/null")
    }
}
