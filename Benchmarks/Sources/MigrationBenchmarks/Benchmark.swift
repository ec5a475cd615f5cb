/// The whole run: every workload, in every place, at every level.
struct Benchmark {
    private let arguments: Arguments
    private let catalog: PeerCatalog
    private var report: Report

    init(_ arguments: Arguments, commandLine: [String]) throws(BenchmarkError) {
        self.arguments = arguments
        let known = try PeerCatalog(
            migrate: arguments.migrate,
            beside: arguments.builds,
            keys: arguments.peers
        )
        catalog = arguments.measuresGrowth ? known.withoutOthers : known
        report = Report(
            machine: Machine.current,
            commandLine: commandLine,
            patience: arguments.patience
        )
        if !catalog.missing.isEmpty {
            report.notes.append("Not installed, so left out: \(catalog.missing.sentence).")
        }
    }

    consuming func run() throws(BenchmarkError) -> Report {
        for place in arguments.scratch {
            let scratch = try ScratchDirectory(in: place)
            defer { scratch.remove() }
            if let tree = arguments.tree {
                let subject = Subject(
                    name: tree,
                    summary: "a tree of this machine",
                    tree: try TextFile.absolute(tree)
                )
                try measure(subject, place, scratch)
            } else {
                for workload in arguments.workloads {
                    try measure(workload, place, scratch)
                }
            }
        }
        return report
    }

    private mutating func measure(
        _ workload: Workload,
        _ place: String,
        _ scratch: ScratchDirectory
    ) throws(BenchmarkError) {
        let missing = workload.programs.filter { !PeerCatalog.isInstalled($0) }
        guard missing.isEmpty else {
            report.notes.append(
                "The workload \(workload.rawValue) is left out: not installed: \(missing.sentence)."
            )
            return
        }
        let scale = try Room(in: scratch.path).scale(arguments.scale, for: workload)
        guard scale > 0 else {
            report.notes.append("The workload \(workload.rawValue) finds no room in \(place).")
            return
        }
        if scale < arguments.scale {
            report.notes.append(
                "In \(place), \(workload.rawValue) is made at scale \(scale) instead of "
                    + "\(arguments.scale): no more fits."
            )
        }
        let subject = try make(workload, scale: scale, in: scratch)
        try measure(subject, place, scratch)
        try scratch.clear("tree")
    }

    /// Makes the tree in another process, so that the measured programs don't inherit its memory.
    private func make(
        _ workload: Workload,
        scale: Double,
        in scratch: ScratchDirectory
    ) throws(BenchmarkError) -> Subject {
        TextFile.complain("making \(workload.rawValue)")
        _ = try scratch.freshDirectory("tree")
        try ChildProcess.run(
            ["/proc/self/exe", "--make", scratch.file("tree")]
                + ["--workloads", workload.rawValue, "--scale", "\(scale)"],
            complaints: scratch.complaints
        )
        return Subject(
            name: workload.rawValue,
            summary: workload.summary,
            tree: scratch.file("tree/\(workload.rawValue)")
        )
    }

    private mutating func measure(
        _ subject: Subject,
        _ place: String,
        _ scratch: ScratchDirectory
    ) throws(BenchmarkError) {
        let size = try TreeSize.measure(subject.tree, in: scratch)
        for level in arguments.levels {
            TextFile.complain("\(subject.name) in \(place), level \(level)")
            let contest = contest(on: subject, size, level: level, scratch)
            let (standings, failures) = try contest.run()
            report.sections.append(
                Section(
                    subject: subject,
                    size: size,
                    place: place,
                    level: level,
                    rounds: arguments.rounds,
                    standings: standings
                )
            )
            report.notes += failures.map { "On \(subject.name), left out: \($0)." }
        }
    }

    private func contest(
        on subject: Subject,
        _ size: TreeSize,
        level: Int,
        _ scratch: ScratchDirectory
    ) -> Contest {
        // A peer without compression levels would only be measured again.
        let isFirst = level == arguments.levels.first
        return Contest(
            peers: catalog.installed.filter { isFirst || $0.usesLevel },
            tree: subject.tree,
            size: size,
            level: level,
            scratch: scratch,
            rounds: arguments.rounds,
            patience: arguments.patience,
            compares: arguments.compares,
            placement: arguments.spreads ? ThreadPlacement() : nil
        )
    }
}
