/// The figures of every peer for one operation.
struct OperationTable {
    private let section: Section
    private let operation: Operation
    private let standings: [Standing]

    /// Makes no table for an operation that only one peer can do.
    init?(_ section: Section, _ operation: Operation) {
        self.section = section
        self.operation = operation
        standings = section.standings.filter { $0.median(.wall(operation)) != nil }
        guard standings.count > 1 else { return nil }
    }

    var markdown: String {
        let isExport = operation == .export
        let columns = ["wall", "CPU", "peak memory"] + (isExport ? ["archive"] : [])
        let header = columns.map { "\($0) | ratio" }.joined(separator: " | ")
        return """
            | \(operation.rawValue) | \(header) |
            |---|\(String(repeating: "--:|", count: columns.count * 2))
            \(standings.map(row).joined(separator: "\n"))
            """
    }

    private func row(_ standing: Standing) -> String {
        let name = standing.peer.name.escapedForMarkdown + (standing.ranOnce ? " \\*" : "")
        var cells = [
            cell(.wall(operation), standing, \.seconds),
            cell(.processor(operation), standing, \.seconds),
            cell(.memory(operation), standing, \.megabytes),
        ]
        if operation == .export {
            cells.append(cell(.archiveSize, standing, \.megabytes))
        }
        return "| \(name) | \(cells.joined(separator: " | ")) |"
    }

    private func cell(
        _ quantity: Quantity,
        _ standing: Standing,
        _ render: (Double) -> String
    ) -> String {
        let value = standing.median(quantity).map(render) ?? ""
        let ratio = section.ratio(quantity, of: standing)?.fixed(places: 2) ?? ""
        return "\(value) | \(ratio)"
    }
}
