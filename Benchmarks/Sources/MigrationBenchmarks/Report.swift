/// The outcome of all rounds, as a table for people and as JSON for programs.
struct Report {
    let tree: String
    let treeSize: String
    let processors: Int
    let baselineMemory: Int
    let rounds: [Round]

    var markdown: String {
        let rows = comparisons.map { row in
            let ours = row.render(row.medianOfOurs)
            let theirs = row.render(row.medianOfTheirs)
            return "| \(row.name) | \(ours) | \(theirs) | \(row.ratio.fixed(places: 2)) |"
        }
        return """
            \(tree): \(treeSize); \(processors) processors.
            Medians of \(rounds.count) paired rounds, after a warm-up.
            Export: `migrate export` against `tar cf - | zstd -T0 -3`.
            Import: `migrate import` against `tar -I zstd -xf`, of the same archive.
            CPU is user and system time of all processes. Peak memory is that of the largest single
            process; starting any process takes \(Self.megabytes(Double(baselineMemory))) of it.
            The ratio is ours to theirs, taken pair by pair: below 1.00, migrate needs less.

            | | migrate | tar and zstd | ratio |
            |---|--:|--:|--:|
            \(rows.joined(separator: "\n"))
            """
    }

    var json: String {
        let values = comparisons.map { row in
            """
                "\(row.name)": {
                  "migrate": [\(row.ours.map { "\($0)" }.joined(separator: ", "))],
                  "tar": [\(row.theirs.map { "\($0)" }.joined(separator: ", "))],
                  "ratio": \(row.ratio)
                }
            """
        }
        return """
            {
              "version": 1,
              "tree": "\(tree.escapedForJSON)",
              "treeSize": "\(treeSize)",
              "processors": \(processors),
              "units": "seconds, bytes",
              "measurements": {
            \(values.joined(separator: ",\n"))
              }
            }
            """
    }
}

// MARK: - Rows

extension Report {
    private var comparisons: [Comparison] {
        [
            comparison("export, wall time", Self.seconds) { $0.export.map(\.wall) },
            comparison("export, CPU time", Self.seconds) { $0.export.map(\.processor) },
            comparison("export, peak memory", Self.megabytes) {
                $0.export.map { Double($0.memory) }
            },
            comparison("archive size", Self.megabytes) { $0.archiveSize.map { Double($0) } },
            comparison("import, wall time", Self.seconds) { $0.restore.map(\.wall) },
            comparison("import, CPU time", Self.seconds) { $0.restore.map(\.processor) },
            comparison("import, peak memory", Self.megabytes) {
                $0.restore.map { Double($0.memory) }
            },
        ]
    }

    private func comparison(
        _ name: String,
        _ render: @escaping (Double) -> String,
        _ value: (Round) -> Pair<Double>
    ) -> Comparison {
        let pairs = rounds.map(value)
        return Comparison(
            name: name,
            ours: pairs.map(\.ours),
            theirs: pairs.map(\.theirs),
            render: render
        )
    }

    private static func seconds(_ value: Double) -> String {
        "\(value.fixed(places: 2)) s"
    }

    private static func megabytes(_ bytes: Double) -> String {
        "\((bytes / 1e6).fixed(places: 1)) MB"
    }
}
