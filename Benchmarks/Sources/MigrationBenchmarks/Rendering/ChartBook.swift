/// The charts of a report: one for each of the quantities that people ask for.
struct ChartBook {
    private static let quantities: [(quantity: Quantity, file: String, title: String)] = [
        (.wall(.export), "export-time", "Export: wall time"),
        (.wall(.restore), "import-time", "Import: wall time"),
        (.processor(.export), "export-cpu", "Export: CPU time"),
        (.processor(.restore), "import-cpu", "Import: CPU time"),
        (.memory(.export), "export-memory", "Export: peak memory"),
        (.archiveSize, "archive-size", "Archive size"),
    ]

    private let report: Report

    init(_ report: Report) {
        self.report = report
    }

    func write(into directory: String) throws(BenchmarkError) {
        try OutputFile.makeDirectory(directory)
        for place in places {
            for level in levels {
                let sections = report.sections.filter { $0.place == place && $0.level == level }
                for (quantity, file, title) in Self.quantities where !sections.isEmpty {
                    let chart = BarChart(
                        title: title,
                        subtitle: "relative to tar | zstd -T0 -\(level), less is better; "
                            + "\(place), \(report.machine.processors) processors, "
                            + report.machine.date,
                        groups: sections.map { group($0, quantity) }
                    )
                    let name = file + suffix(place: place, level: level)
                    try TextFile.write(chart.svg, to: "\(directory)/\(name).svg")
                }
            }
        }
    }

    private var places: [String] { report.sections.map(\.place).uniqued }
    private var levels: [Int] { report.sections.map(\.level).uniqued }

    /// Empty for the first place and level, so that the names of their charts don't depend on the
    /// others.
    private func suffix(place: String, level: Int) -> String {
        let placeName = place.split(separator: "/").joined(separator: "-")
        return (level == levels.first ? "" : "-level-\(level)")
            + (place == places.first ? "" : "-\(placeName)")
    }

    private func group(_ section: Section, _ quantity: Quantity) -> BarChart.Group {
        let bars = section.standings.compactMap { standing -> BarChart.Bar? in
            guard let value = standing.median(quantity),
                let ratio = section.ratio(quantity, of: standing)
            else { return nil }
            return BarChart.Bar(
                label: standing.peer.name,
                kind: BarChart.Kind(standing.peer.role),
                length: ratio,
                value: quantity.isBytes ? value.megabytes : value.seconds
            )
        }
        let size = "\(section.size.entries) entries, \(section.size.bytes.megabytes)"
        return BarChart.Group(title: section.subject.name, subtitle: size, bars: bars)
    }
}

extension Array where Element: Equatable {
    /// The elements in their order, each once.
    fileprivate var uniqued: [Element] {
        reduce(into: []) { found, element in
            if !found.contains(element) {
                found.append(element)
            }
        }
    }
}
