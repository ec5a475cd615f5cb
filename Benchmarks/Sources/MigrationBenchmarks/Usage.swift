internal import Glibc

/// What one command took.
struct Usage {
    /// Seconds from its start to its end.
    let wall: Double
    /// Seconds of processor time, user and system, of it and all its descendants.
    let processor: Double
    /// The peak memory in bytes of the largest single process among them.
    let memory: Int

    init(wall: Duration, resources: rusage) {
        self.wall = Self.seconds(wall)
        processor = Self.seconds(resources.ru_utime) + Self.seconds(resources.ru_stime)
        memory = resources.ru_maxrss * 1024
    }

    private static func seconds(_ duration: Duration) -> Double {
        let parts = duration.components
        return Double(parts.seconds) + Double(parts.attoseconds) / 1e18
    }

    private static func seconds(_ time: timeval) -> Double {
        Double(time.tv_sec) + Double(time.tv_usec) / 1e6
    }
}
