/// Measures `migrate` on larger and larger trees, to show that its cost grows in proportion.
struct Growth {
    /// Trees of one kind, the smallest first.
    struct Series {
        let workload: Workload
        let unit: Unit
        var sections: [Section] = []
    }

    /// The unit of the cost: a file or a byte.
    enum Unit: String {
        case file
        case megabyte

        func count(in size: TreeSize) -> Double {
            switch self {
            case .file: Double(size.leaves)
            case .megabyte: size.bytes / 1e6
            }
        }

        /// How large a tree is, in a few characters.
        func text(for size: TreeSize) -> String {
            switch self {
            case .file: "\(size.leaves) files"
            case .megabyte: size.bytes.megabytes
            }
        }
    }

    private static let plan: [(workload: Workload, unit: Unit, scales: [Double])] = [
        (.tiny, .file, [0.01, 0.03, 0.1, 0.3, 1]),
        (.photos, .megabyte, [0.1, 0.3, 1, 3, 5]),
        (.one, .megabyte, [0.0125, 0.05, 0.2, 0.8]),
    ]

    private let arguments: Arguments
    private let commandLine: [String]

    init(_ arguments: Arguments, commandLine: [String]) {
        self.arguments = arguments
        self.commandLine = commandLine
    }

    func run() throws(BenchmarkError) -> GrowthReport {
        var report = GrowthReport(machine: .current, commandLine: commandLine)
        for (workload, unit, scales) in Self.plan {
            var series = Series(workload: workload, unit: unit)
            for scale in scales {
                var step = arguments
                step.workloads = [workload]
                step.scale = scale * arguments.scale
                step.levels = [arguments.levels[0]]
                step.scratch = [arguments.scratch[0]]
                let result = try Benchmark(step, commandLine: commandLine).run()
                report.notes += result.notes
                series.sections += result.sections
            }
            report.series.append(series)
        }
        return report
    }
}
