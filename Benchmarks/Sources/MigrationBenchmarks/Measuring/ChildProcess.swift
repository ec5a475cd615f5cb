internal import Glibc

/// Runs commands, each in a process group of its own, and measures them.
enum ChildProcess {
    /// How often a running command's memory is looked at.
    private static let samplingInterval = timespec(tv_sec: 0, tv_nsec: 20_000_000)

    /// The same if the time of each thread counts, because nothing is left of a thread that has
    /// ended.
    private static let threadSamplingInterval = timespec(tv_sec: 0, tv_nsec: 3_000_000)

    /// Runs a command to its end; standard output and standard error go to the two files, and
    /// `placement` assigns its threads to processors.
    ///
    /// - Throws: `BenchmarkError` if it cannot be started or does not exit with 0.
    @discardableResult
    static func run(
        _ words: [String],
        output: String = "/dev/null",
        complaints: String,
        placement: ThreadPlacement? = nil,
        watchesThreads: Bool = false
    ) throws(BenchmarkError) -> Usage {
        let waiting = blockChildSignal()
        let floor = ProcessTree.peakMemory(of: getpid())
        let clock = ContinuousClock()
        let start = clock.now
        let child = try spawn(words, output: output, complaints: complaints)
        Interruption.watch(child)
        var threads = watchesThreads ? ThreadTimes() : nil
        let (status, resources, memory) = try wait(
            for: child,
            named: words[0],
            placement,
            &threads,
            waiting
        )
        let wall = clock.now - start
        Interruption.watch(0)
        if status & 0x7f == SIGKILL {
            try Interruption.check()
        }
        guard status == 0 else {
            throw .failedCommand(
                name: words.joined(separator: " "),
                outcome: outcome(of: status),
                complaint: TextFile.read(complaints)
            )
        }
        return Usage(
            wall: wall,
            resources: resources,
            sampledMemory: memory,
            floor: floor,
            threads: threads ?? ThreadTimes()
        )
    }

    /// Makes the end of a child an event that can be waited for with a time limit.
    private static func blockChildSignal() -> sigset_t {
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGCHLD)
        sigprocmask(SIG_BLOCK, &signals, nil)
        return signals
    }

    private static func wait(
        for child: pid_t,
        named name: String,
        _ placement: ThreadPlacement?,
        _ threads: inout ThreadTimes?,
        _ signals: sigset_t
    ) throws(BenchmarkError) -> (Int32, rusage, Int) {
        var (placement, signals) = (placement, signals)
        var interval = threads == nil ? samplingInterval : threadSamplingInterval
        var (status, resources, memory) = (Int32(0), rusage(), 0)
        while true {
            let ended = wait4(child, &status, WNOHANG, &resources)
            if ended == child {
                return (status, resources, memory)
            }
            guard ended == 0 || errno == EINTR else {
                throw .system(call: "wait4", subject: name, code: errno)
            }
            let tree = ProcessTree(root: child)
            placement?.place(tree)
            memory = max(memory, tree.peakMemory)
            threads?.sample(tree)
            sigtimedwait(&signals, nil, &interval)
        }
    }

    /// How a process ended, from its wait status.
    static func outcome(of status: Int32) -> String {
        let signal = status & 0x7f
        return signal == 0 ? "exited with \(status >> 8)" : "was ended by signal \(signal)"
    }

    private static func spawn(
        _ words: [String],
        output: String,
        complaints: String
    ) throws(BenchmarkError) -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        let create = O_WRONLY | O_CREAT | O_TRUNC
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 1, output, create, 0o600)
        posix_spawn_file_actions_addopen(&actions, 2, complaints, create, 0o600)

        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var noSignals = sigset_t()
        sigemptyset(&noSignals)
        posix_spawnattr_setsigmask(&attributes, &noSignals)
        posix_spawnattr_setflags(
            &attributes,
            Int16(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK)
        )
        posix_spawnattr_setpgroup(&attributes, 0)

        var arguments = words.map { strdup($0) } + [nil]
        defer { arguments.forEach { free($0) } }
        var child: pid_t = 0
        let code = posix_spawnp(&child, words[0], &actions, &attributes, &arguments, environ)
        guard code == 0 else {
            throw .system(call: "posix_spawn", subject: words[0], code: code)
        }
        return child
    }
}
