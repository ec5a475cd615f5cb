internal import Glibc

/// The resources that one command used.
struct Usage {
    /// Seconds from its start to its end.
    let wall: Double
    /// Seconds of processor time, user and system, of it and all its descendants.
    let processor: Double
    /// The peak memory in bytes of it and its descendants that ran beside each other.
    let memory: Double
    /// The thread with the most processor time, where threads were watched.
    let busiestThread: (name: String, time: Double)

    /// Takes the larger of the sampled sum of all processes and the kernel's figure for one.
    ///
    /// The kernel charges a process with the peak of the one that started it, up to `floor`.
    init(wall: Duration, resources: rusage, sampledMemory: Int, floor: Int, threads: ThreadTimes) {
        self.wall = Self.seconds(wall)
        processor = Self.seconds(resources.ru_utime) + Self.seconds(resources.ru_stime)
        let largest = resources.ru_maxrss * 1024
        let isInherited = sampledMemory > 0 && largest <= floor
        busiestThread = threads.busiest
        memory = Double(isInherited ? sampledMemory : max(sampledMemory, largest))
    }

    private static func seconds(_ duration: Duration) -> Double {
        let parts = duration.components
        return Double(parts.seconds) + Double(parts.attoseconds) / 1e18
    }

    private static func seconds(_ time: timeval) -> Double {
        Double(time.tv_sec) + Double(time.tv_usec) / 1e6
    }
}
