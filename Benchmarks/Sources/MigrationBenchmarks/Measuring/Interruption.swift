internal import Glibc
internal import Synchronization

/// Ends the benchmarks when the person or the system asks for it.
enum Interruption {
    /// The process group that is running, or 0.
    private static let runningGroup = Atomic<pid_t>(0)
    private static let hasArrived = Atomic<Bool>(false)

    /// Makes an interruption end the running command too, which is in no terminal's group.
    ///
    /// The benchmarks then end in the ordinary way, with their scratch directory removed.
    static func handle() {
        for number in [SIGINT, SIGTERM, SIGHUP] {
            signal(number) { _ in
                Interruption.hasArrived.store(true, ordering: .relaxed)
                let group = Interruption.runningGroup.load(ordering: .relaxed)
                if group > 0 {
                    kill(-group, SIGKILL)
                }
            }
        }
    }

    static func check() throws(BenchmarkError) {
        if hasArrived.load(ordering: .relaxed) {
            throw .interrupted
        }
    }

    /// Names the process group that an interruption ends, or 0 for none.
    static func watch(_ group: pid_t) {
        runningGroup.store(group, ordering: .relaxed)
    }
}
