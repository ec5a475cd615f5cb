internal import Glibc

/// Measures `migrate` against other archivers, in turn, on the same trees.
///
/// It links no Foundation: a process starts out with the peak memory of the one that starts it.
@main
struct MigrationBenchmarks {
    static func main() {
        do throws(BenchmarkError) {
            try run(Array(CommandLine.arguments.dropFirst()))
        } catch {
            TextFile.complain("migration-benchmarks: error: \(error)")
            exit(error.exitCode)
        }
    }

    private static func run(_ words: [String]) throws(BenchmarkError) {
        let arguments = try Arguments(words)
        if arguments.wantsHelp {
            print(Arguments.usage)
            return
        }
        if let directory = arguments.make {
            try make(arguments.workloads, scale: arguments.scale, in: directory)
            return
        }
        Interruption.handle()
        if arguments.measuresGrowth {
            let report = try Growth(arguments, commandLine: words).run()
            print(report.text)
            if let directory = arguments.charts {
                try report.writeCharts(into: directory)
            }
            return
        }
        if arguments.measuresThreads {
            print(try Scaling(arguments, commandLine: words).run().text)
            return
        }
        let report = try Benchmark(arguments, commandLine: words).run()
        print(MarkdownReport(report).text)
        if let file = arguments.json {
            try TextFile.write(JSONReport(report).text, to: file)
        }
        if let directory = arguments.charts {
            try ChartBook(report).write(into: directory)
        }
    }

    private static func make(
        _ workloads: [Workload],
        scale: Double,
        in directory: String
    ) throws(BenchmarkError) {
        for workload in workloads {
            let path = "\(directory)/\(workload.rawValue)"
            try OutputFile.makeDirectory(path)
            try workload.maker(scale: scale).make(at: path)
        }
    }
}
