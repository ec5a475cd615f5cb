internal import Glibc
internal import Synchronization

/// Runs commands, each in a process group of its own, and measures them.
enum ChildProcess {
    /// The process group that is running, or 0.
    private static let runningGroup = Atomic<pid_t>(0)
    private static let isInterrupted = Atomic<Bool>(false)

    /// Makes an interruption end the running command too, which is in no terminal's group.
    ///
    /// The benchmarks then end in the ordinary way, with their scratch directory removed.
    static func endWithInterruption() {
        for number in [SIGINT, SIGTERM, SIGHUP] {
            signal(number) { _ in
                ChildProcess.isInterrupted.store(true, ordering: .relaxed)
                let group = ChildProcess.runningGroup.load(ordering: .relaxed)
                if group > 0 {
                    kill(-group, SIGKILL)
                }
            }
        }
    }

    static func checkInterruption() throws(BenchmarkError) {
        if isInterrupted.load(ordering: .relaxed) {
            throw .interrupted
        }
    }

    /// Runs a command to its end; its output and its complaints go to the two files.
    ///
    /// - Throws: `BenchmarkError` if it cannot be started or does not exit with 0.
    static func run(
        _ words: [String],
        output: String = "/dev/null",
        complaints: String
    ) throws(BenchmarkError) -> Usage {
        let clock = ContinuousClock()
        let start = clock.now
        let child = try spawn(words, output: output, complaints: complaints)
        runningGroup.store(child, ordering: .relaxed)
        var status: Int32 = 0
        var resources = rusage()
        while wait4(child, &status, 0, &resources) < 0 {
            guard errno == EINTR else {
                throw .system(call: "wait4", subject: words[0], code: errno)
            }
        }
        let wall = clock.now - start
        runningGroup.store(0, ordering: .relaxed)
        if status & 0x7f == SIGKILL {
            try checkInterruption()
        }
        guard status == 0 else {
            throw .failedCommand(
                name: words.joined(separator: " "),
                outcome: outcome(of: status),
                complaint: TextFile.read(complaints)
            )
        }
        return Usage(wall: wall, resources: resources)
    }

    private static func outcome(of status: Int32) -> String {
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
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETPGROUP))
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
