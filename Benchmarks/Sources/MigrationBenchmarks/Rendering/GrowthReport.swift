/// The cost of a file or a byte in trees of different sizes.
struct GrowthReport {
    let machine: Machine
    let commandLine: [String]
    var series: [Growth.Series] = []
    var notes: [String] = []

    private static let quantities: [(quantity: Quantity, title: String)] = [
        (.processor(.export), "export, CPU"),
        (.processor(.restore), "import, CPU"),
    ]

    var text: String {
        let preface = """
            \(machine.date), \(machine.system), \(machine.processors) x \(machine.processor).
            `migration-benchmarks \(commandLine.joined(separator: " "))`

            Each figure is a median. Each ratio is to the smallest tree of the same kind: at 1.00, cost
            grows as the tree does. Peak memory is that of the whole command.
            """
        let remarks = notes.isEmpty ? [] : [notes.map { "- \($0)" }.joined(separator: "\n")]
        return ([preface] + remarks + series.map(table)).joined(separator: "\n\n")
    }

    private func table(_ series: Growth.Series) -> String {
        let columns = Self.quantities.map { "\($0.title) a \(series.unit) | ratio" }
        let rows = series.sections.map { section in
            let costs = Self.quantities.map { quantity, _ in
                "\(cost(quantity, section, series)) | \(ratio(quantity, section, in: series))"
            }
            let memory = [Operation.export, .restore].map { self.memory($0, section) }
            return "| \((costs + memory).joined(separator: " | ")) |"
        }
        let sizes = series.sections.map { series.unit.text(for: $0.size) }
        return """
            ### \(series.workload.rawValue): \(series.workload.summary)

            | | \(columns.joined(separator: " | ")) | export, peak | import, peak |
            |---|\(String(repeating: "--:|", count: 6))
            \(zip(sizes, rows).map { "| \($0) \($1)" }.joined(separator: "\n"))
            """
    }

    /// Draws a chart for each kind of tree.
    func writeCharts(into directory: String) throws(BenchmarkError) {
        try OutputFile.makeDirectory(directory)
        for series in series {
            let costs = Self.quantities.map { quantity, title in
                group("\(title) a \(series.unit)", series) { section in
                    (unitCost(quantity, section, series), cost(quantity, section, series))
                }
            }
            let memory = group("export, peak memory", series) { section in
                (section.ours?.median(.memory(.export)), self.memory(.export, section))
            }
            let chart = BarChart(
                title: "Growth: \(series.workload.summary)",
                subtitle: "relative to the smallest, 1 is as fast as the tree; \(machine.date)",
                groups: costs + [memory]
            )
            let file = "\(directory)/growth-\(series.workload.rawValue).svg"
            try TextFile.write(chart.svg, to: file)
        }
    }
}

// MARK: - Figures

extension GrowthReport {
    private func unitCost(
        _ quantity: Quantity,
        _ section: Section,
        _ series: Growth.Series
    ) -> Double? {
        section.ours?.median(quantity).map { $0 / series.unit.count(in: section.size) }
    }

    private func cost(
        _ quantity: Quantity,
        _ section: Section,
        _ series: Growth.Series
    ) -> String {
        unitCost(quantity, section, series).map { "\(($0 * 1e6).fixed(places: 1)) µs" } ?? ""
    }

    private func ratio(
        _ quantity: Quantity,
        _ section: Section,
        in series: Growth.Series
    ) -> String {
        guard let first = series.sections.first.flatMap({ unitCost(quantity, $0, series) }),
            let own = unitCost(quantity, section, series)
        else { return "" }
        return (own / first).fixed(places: 2)
    }

    private func memory(_ operation: Operation, _ section: Section) -> String {
        section.ours?.median(.memory(operation)).map(\.megabytes) ?? ""
    }

    private func group(
        _ title: String,
        _ series: Growth.Series,
        _ figure: (Section) -> (value: Double?, text: String)
    ) -> BarChart.Group {
        let figures = series.sections.map(figure)
        let first = figures.first?.value ?? 1
        let bars = zip(series.sections, figures).map { section, figure in
            BarChart.Bar(
                label: series.unit.text(for: section.size),
                kind: .ours,
                length: (figure.value ?? 0) / first,
                value: figure.text
            )
        }
        return BarChart.Group(title: title, subtitle: "", bars: bars)
    }
}
