internal import Glibc

/// A process and everything that it has started, as the kernel lists them.
struct ProcessTree {
    let root: pid_t

    /// The sum in bytes of the peak memory of every process that is alive.
    ///
    /// The kernel keeps each process's peak, so that asking now and then misses little.
    var peakMemory: Int {
        processes.reduce(0) { $0 + Self.peakMemory(of: $1) }
    }

    /// Every thread of every process.
    var threads: [pid_t] {
        processes.flatMap { Self.threads(of: $0) }
    }

    private var processes: [pid_t] {
        var found: [pid_t] = []
        var pending = [root]
        while let process = pending.popLast() {
            found.append(process)
            pending += Self.children(of: process)
        }
        return found
    }

    /// The peak memory of one process, or 0 if it has ended.
    static func peakMemory(of process: pid_t) -> Int {
        let status = TextFile.read("/proc/\(process)/status")
        for line in status.split(separator: "\n") where line.hasPrefix("VmHWM:") {
            let kilobytes = line.split { $0 == " " || $0 == "\t" }.dropFirst().first
            return (kilobytes.flatMap { Int($0) } ?? 0) * 1024
        }
        return 0
    }

    private static func threads(of process: pid_t) -> [pid_t] {
        DirectoryListing.names(in: "/proc/\(process)/task").compactMap { pid_t($0) }
    }

    private static func children(of process: pid_t) -> [pid_t] {
        threads(of: process).flatMap { thread in
            TextFile.read("/proc/\(process)/task/\(thread)/children")
                .split(separator: " ")
                .compactMap { pid_t($0) }
        }
    }
}
