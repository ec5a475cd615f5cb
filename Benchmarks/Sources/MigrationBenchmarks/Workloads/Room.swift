internal import Glibc

/// The space in a directory for trees, archives and copies.
struct Room {
    let bytes: Int
    let files: Int

    /// Asks the file system, and the kernel too if it is in memory, and leaves a fifth free.
    init(in directory: String) throws(BenchmarkError) {
        var status = statvfs()
        guard statvfs(directory, &status) == 0 else {
            throw .system(call: "statvfs", subject: directory, code: errno)
        }
        var free = Int(status.f_bavail) * Int(status.f_frsize)
        if Self.isInMemory(directory), let memory = Self.availableMemory {
            free = min(free, memory)
        }
        bytes = free / 5 * 4
        // Some file systems make inodes as they need them, and say that there are none.
        files = status.f_files == 0 ? .max : Int(status.f_favail) / 5 * 4
    }

    /// The largest scale, up to the requested one, at which the workload fits.
    func scale(_ wanted: Double, for workload: Workload) -> Double {
        let extent = workload.fullExtent
        let byBytes = Double(bytes) / Double(extent.room)
        let byFiles = Double(files) / Double(3 * extent.files)
        let fitting = min(byBytes, byFiles)
        return wanted <= fitting ? wanted : (fitting * 100).rounded(.down) / 100
    }

    /// Whether the directory is on a RAM disk: that is, whether the mount with the longest matching
    /// path is one.
    private static func isInMemory(_ directory: String) -> Bool {
        let mounts = String(
            decoding: TextFile.readBytes("/proc/self/mounts", atMost: 1 << 18),
            as: UTF8.self
        )
        let leading = mounts.split(separator: "\n").map(\.words).filter { fields in
            fields.count > 2 && "\(directory)/".hasPrefix(fields[1] == "/" ? "/" : "\(fields[1])/")
        }
        return leading.max { $0[1].utf8.count < $1[1].utf8.count }?[2] == "tmpfs"
    }

    private static var availableMemory: Int? {
        let lines = TextFile.read("/proc/meminfo").split(separator: "\n")
        let line = lines.first { $0.hasPrefix("MemAvailable:") }
        let kilobytes = line?.split(separator: " ").dropFirst().first.flatMap { Int($0) }
        return kilobytes.map { $0 * 1024 }
    }
}
