/// A report as Markdown, for a person and for the README.
struct MarkdownReport {
    private let report: Report

    init(_ report: Report) {
        self.report = report
    }

    var text: String {
        ([preface] + notes + [summary] + report.sections.map(detail)).joined(separator: "\n\n")
    }

    private var preface: String {
        let machine = report.machine
        return """
            \(machine.date), \(machine.system), \(machine.processors) x \(machine.processor), \
            \((machine.memory / 1e9).fixed(places: 0)) GB of memory.
            `migration-benchmarks \(report.commandLine.joined(separator: " "))`

            Each figure is a median of rounds in which all take their turn, after a warm-up. Each ratio
            is a median of the ratios to `tar | zstd` of the same round: below 1.00, less is needed.
            Each program imports its own archive; caches are warm, and the disk is idle at each start.
            CPU is user and system time of all processes. Peak memory is the sum of the peaks of the
            processes that run beside each other. `migrate` hashes and syncs what it writes, which
            counts on a disk; most others leave the syncing to the system, after the clock.
            """
    }

    private var notes: [String] {
        report.notes.isEmpty ? [] : [report.notes.map { "- \($0)" }.joined(separator: "\n")]
    }

    /// One row for each section: ours, and the best of the others.
    private var summary: String {
        let rows = report.sections.map { section in
            let quantities: [Quantity] = [.wall(.export), .wall(.restore), .archiveSize]
            let cells = quantities.flatMap { quantity in
                let ours = section.ours.flatMap { section.ratio(quantity, of: $0) }
                let best = section.best(quantity)
                return [
                    ours.map { "**\($0.fixed(places: 2))**" } ?? "",
                    best.map { "\($0.ratio.fixed(places: 2)) \($0.name.escapedForMarkdown)" } ?? "",
                ]
            }
            return "| \(section.title) | \(cells.joined(separator: " | ")) |"
        }
        return """
            | to `tar \\| zstd` | export | best other | import | best other | size | best other |
            |---|--:|--:|--:|--:|--:|--:|
            \(rows.joined(separator: "\n"))
            """
    }

    private func detail(of section: Section) -> String {
        let title = """
            ### \(section.title)

            \(section.subject.summary.capitalizedFirst): \(section.size.entries) entries, \
            \(section.size.bytes.megabytes), in \(section.place); rounds: \(section.rounds).
            """
        let tables = Operation.allCases.compactMap { OperationTable(section, $0)?.markdown }
        let patience = report.patience.fixed(places: 0)
        let remark = "\\* took over \(patience) s in the warm-up and ran no more."
        let remarks = section.standings.contains(where: \.ranOnce) ? [remark] : []
        let encryption = section.costOfEncryption.map { [$0] } ?? []
        return ([title] + tables + encryption + remarks).joined(separator: "\n\n")
    }
}

extension Section {
    /// How much more the measured program needs if it encrypts too.
    fileprivate var costOfEncryption: String? {
        guard let ours,
            let encrypting = standings.first(where: { $0.peer.key == "migrate-age" })
        else { return nil }
        let costs = Operation.allCases.compactMap { operation -> String? in
            guard let wall = encrypting.ratio(.wall(operation), to: ours),
                let processor = encrypting.ratio(.processor(operation), to: ours)
            else { return nil }
            return "\(operation.rawValue) \(wall.fixed(places: 2)) wall, "
                + "\(processor.fixed(places: 2)) CPU"
        }
        return "Ratio of `migrate` with encryption to without: \(costs.joined(separator: "; "))."
    }

    /// The properties that differ from the other sections.
    var title: String { "\(subject.name), level \(level), \(place)" }
}
