internal import CScheduling
internal import Glibc

/// Assigns the threads of a process tree to the processors in turn.
///
/// Some kernels keep the threads of a program on one processor while another is idle, which hides
/// what a program gains by having several.
struct ThreadPlacement {
    private let processors: [CInt]
    private var placed: Set<pid_t> = []
    private var start: ContinuousClock.Instant?

    /// How long threads stay where they are, because a program may first count the processors that it may use.
    private static let delay = Duration.milliseconds(100)

    /// Uses the processors that this process may run on.
    init() {
        let count = CInt(clamping: sysconf(CInt(_SC_NPROCESSORS_CONF)))
        processors = (0..<count).filter { scheduling_allows($0) != 0 }
    }

    /// Places the threads of `tree` that are not placed yet.
    mutating func place(_ tree: ProcessTree) {
        let start = start ?? .now
        self.start = start
        guard !processors.isEmpty, .now - start >= Self.delay else { return }
        for thread in tree.threads where placed.insert(thread).inserted {
            // A thread that has ended meanwhile needs no processor.
            _ = scheduling_place(thread, processors[placed.count % processors.count])
        }
    }
}
