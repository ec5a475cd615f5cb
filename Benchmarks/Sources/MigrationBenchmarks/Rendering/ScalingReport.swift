/// The cost of an operation with more and more threads.
struct ScalingReport {
    let machine: Machine
    let commandLine: [String]
    var series: [Scaling.Series] = []

    /// What is promised: this much, and as much again for each thread.
    private static let base = 32.0
    private static let each = 10.0

    var text: String {
        let preface = """
            \(machine.date), \(machine.system), \(machine.processors) x \(machine.processor).
            `migration-benchmarks \(commandLine.joined(separator: " "))`

            Each row is the run with the median time. The busiest thread is the one with the most
            processor time. However many processors there are, an operation takes at least that long: the
            speed-up over one processor is bounded by the processor time of all threads divided by it.
            """
        return ([preface] + series.map(table)).joined(separator: "\n\n")
    }

    private func table(_ series: Scaling.Series) -> String {
        let rows = series.rows.map { row in
            let allowed = Self.base + Self.each * Double(row.threads)
            let busiest = row.usage.busiestThread
            let cells = [
                "\(row.threads)",
                row.usage.wall.seconds,
                row.usage.processor.seconds,
                "\((row.usage.memory / 1_048_576).fixed(places: 1)) MiB",
                "\(allowed.fixed(places: 0)) MiB",
                "\(busiest.time.seconds), `\(busiest.name)`",
                busiest.time > 0
                    ? (row.usage.processor / busiest.time).fixed(places: 1) : "",
            ]
            return "| \(cells.joined(separator: " | ")) |"
        }
        return """
            ### \(series.operation.rawValue) of \(series.workload.rawValue): \(series.workload.summary)

            `tar cf - | cat` takes \(series.tar.seconds) of processor time.

            | threads | time | processor time | peak memory | promised | busiest thread | bound |
            |--:|--:|--:|--:|--:|--:|--:|
            \(rows.joined(separator: "\n"))
            """
    }
}
