import Glibc

/// The processor time of each thread of a command, looked at again and again while it runs.
struct ThreadTimes {
    private var threads: [pid_t: (name: String, time: Double)] = [:]

    /// The thread with the most seconds of processor time.
    var busiest: (name: String, time: Double) {
        threads.values.max { $0.time < $1.time } ?? ("", 0)
    }

    /// Looks at the threads that are alive in `tree`.
    mutating func sample(_ tree: ProcessTree) {
        for thread in tree.threads {
            // Nanoseconds on a processor, waiting for one, and the number of turns.
            let times = TextFile.read("/proc/\(thread)/schedstat")
            guard let time = times.words.first.flatMap({ Double($0) }) else { continue }
            let name = TextFile.read("/proc/\(thread)/comm").words.joined(separator: " ")
            threads[thread] = (name.isEmpty ? threads[thread]?.name ?? "" : name, time / 1e9)
        }
    }
}
