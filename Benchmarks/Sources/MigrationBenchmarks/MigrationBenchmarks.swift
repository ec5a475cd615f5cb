internal import Glibc

/// Measures `migrate` against `tar` and `zstd`, in turn, on the same tree.
///
/// It links no Foundation: a process starts out with the peak memory of the one that starts it.
@main
struct MigrationBenchmarks {
    static func main() {
        do {
            let arguments = try Arguments(Array(CommandLine.arguments.dropFirst()))
            if arguments.wantsHelp {
                print(Arguments.usage)
                return
            }
            ChildProcess.endWithInterruption()
            let report = try measure(arguments)
            print(report.markdown)
            if let file = arguments.json {
                try TextFile.write(report.json + "\n", to: file)
            }
        } catch let error as BenchmarkError {
            TextFile.complain("migration-benchmarks: error: \(error)")
            exit(error.exitCode)
        } catch {
            TextFile.complain("migration-benchmarks: error: \(error)")
            exit(1)
        }
    }

    private static func measure(_ arguments: Arguments) throws -> Report {
        let scratch = try ScratchDirectory(in: arguments.scratch)
        defer { scratch.remove() }
        let contest = Contest(
            migrate: arguments.migrate,
            tree: arguments.tree,
            scratch: scratch
        )
        let size = try contest.treeSize()
        TextFile.complain("warm-up")
        _ = try contest.runRound(oursFirst: true)
        var rounds: [Round] = []
        for number in 1...arguments.rounds {
            TextFile.complain("round \(number) of \(arguments.rounds)")
            rounds.append(try contest.runRound(oursFirst: number % 2 == 1))
        }
        return Report(
            tree: arguments.tree,
            treeSize: size,
            processors: sysconf(Int32(_SC_NPROCESSORS_ONLN)),
            baselineMemory: try contest.baselineMemory(),
            rounds: rounds
        )
    }
}
