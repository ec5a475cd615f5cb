/// Measures `migrate` with more and more threads: its cost, and what limits it on more processors
/// than this machine has.
struct Scaling {
    /// One operation with one number of threads.
    struct Row {
        let threads: Int
        let usage: Usage
    }

    /// One operation on one workload.
    struct Series {
        let workload: Workload
        let operation: Operation
        /// The seconds of processor time that `tar` takes only to read and pack, and `cat` to pass
        /// it on.
        let tar: Double
        var rows: [Row] = []
    }

    private static let counts = [1, 2, 4, 8, 16, 32]

    private let arguments: Arguments
    private let commandLine: [String]

    init(_ arguments: Arguments, commandLine: [String]) {
        self.arguments = arguments
        self.commandLine = commandLine
    }

    func run() throws(BenchmarkError) -> ScalingReport {
        var report = ScalingReport(machine: .current, commandLine: commandLine)
        let scratch = try ScratchDirectory(in: arguments.scratch[0])
        defer { scratch.remove() }
        for workload in arguments.workloads {
            TextFile.complain("making \(workload.rawValue)")
            let tree = "\(try scratch.freshDirectory("tree"))/\(workload.rawValue)"
            try ChildProcess.run(
                ["/proc/self/exe", "--make", scratch.file("tree")]
                    + ["--workloads", workload.rawValue, "--scale", "\(arguments.scale)"],
                complaints: scratch.complaints
            )
            report.series += try measure(workload, tree, scratch)
        }
        return report
    }

    private func measure(
        _ workload: Workload,
        _ tree: String,
        _ scratch: ScratchDirectory
    ) throws(BenchmarkError) -> [Series] {
        let ground = PeerGround(
            tree: tree,
            archive: scratch.file("archive.tar.zst"),
            destination: scratch.file("copy"),
            level: arguments.levels[0]
        )
        let tar = try median { () throws(BenchmarkError) in
            try ChildProcess.run(
                ground.shell(#"tar cf - -C "$1" . | cat >/dev/null"#),
                complaints: scratch.complaints
            )
        }
        var export = Series(workload: workload, operation: .export, tar: tar.processor)
        var restore = Series(workload: workload, operation: .restore, tar: tar.processor)
        let migrate = Peer.migrate(arguments.migrate)
        for count in Self.counts {
            TextFile.complain("\(workload.rawValue), threads: \(count)")
            let threads = ["--threads", "\(count)"]
            export.rows.append(
                Row(
                    threads: count,
                    usage: try median { () throws(BenchmarkError) in
                        try clear(ground.archive)
                        return try measure(migrate.export(ground) + threads, scratch)
                    }
                )
            )
            restore.rows.append(
                Row(
                    threads: count,
                    usage: try median { () throws(BenchmarkError) in
                        try clear(ground.destination)
                        return try measure(migrate.restore(ground) + threads, scratch)
                    }
                )
            )
        }
        try clear(ground.destination)
        return [export, restore]
    }

    private func measure(
        _ words: [String],
        _ scratch: ScratchDirectory
    ) throws(BenchmarkError) -> Usage {
        try Interruption.check()
        return try ChildProcess.run(
            words,
            complaints: scratch.complaints,
            placement: arguments.spreads ? ThreadPlacement() : nil,
            watchesThreads: true
        )
    }

    private func clear(_ path: String) throws(BenchmarkError) {
        try ChildProcess.run(["rm", "-rf", "--", path], complaints: "/dev/null")
    }

    /// The run whose wall time is the median.
    private func median(
        of run: () throws(BenchmarkError) -> Usage
    ) throws(BenchmarkError) -> Usage {
        var usages: [Usage] = []
        for _ in 0..<arguments.rounds { usages.append(try run()) }
        usages.sort { $0.wall < $1.wall }
        return usages[usages.count / 2]
    }
}
