internal import Foundation
internal import MigrationCore

/// The answer of `migrate report --results`.
struct FleetReport: Answer {
    let summary: FleetSummary

    var schema: String { "migrate/results/1" }

    private var facts: [(name: String, value: String)] {
        let elapsed = summary.elapsed
        let rate =
            elapsed > 0 ? Self.text(Double(summary.runs) / elapsed) + " a second" : "one at a time"
        return [
            ("jobs", "\(GroupedCount(summary.jobs))"),
            ("moved", "\(GroupedCount(summary.moved))"),
            ("nothing to do", "\(GroupedCount(summary.skipped))"),
            ("failed", "\(GroupedCount(summary.failed))"),
            ("runs", "\(GroupedCount(summary.runs)), \(rate)"),
            ("content", "\(ByteCount(summary.bytes))"),
            ("archives", "\(ByteCount(summary.archiveBytes))"),
            ("elapsed", "\(Self.text(elapsed)) s, \(Self.text(summary.seconds)) s in all runs"),
        ] + (summary.unreadable > 0 ? [("not understood", "\(summary.unreadable) lines")] : [])
    }

    private static func text(_ number: Double) -> String {
        number.formatted(
            .number.precision(.fractionLength(1)).grouping(.never).locale(.init(identifier: "en"))
        )
    }

    private func words(of cause: FleetSummary.Cause) -> String {
        "\(cause.operation) ended with \(cause.exitCode) (\(cause.error))"
    }

    var text: String {
        let width = facts.map(\.name.count).max() ?? 0
        let rows = facts.map { fact in
            fact.name + String(repeating: " ", count: width - fact.name.count) + "  \(fact.value)\n"
        }
        let failures = summary.failures.map { failure in
            "failed: \(GroupedCount(failure.count).of("job", "jobs")): \(words(of: failure.cause)), such as "
                + PrintableText.escaping(failure.example) + "\n"
        }
        let slowest = summary.slowest.map { run in
            "slowest: \(Self.text(run.seconds)) s: \(run.operation) "
                + PrintableText.escaping(run.container) + "\n"
        }
        return (rows + failures + slowest).joined()
    }

    /// A page that needs nothing else.
    func html(title: String) -> String {
        let failures = summary.failures.map {
            [words(of: $0.cause), "\(GroupedCount($0.count))", $0.example]
        }
        let slowest = summary.slowest.map { [$0.operation, $0.container, Self.text($0.seconds)] }
        let rows = facts.map { [$0.name, $0.value] }
        let body = """
            \(ReportPage.table(id: "facts", titles: ["what", "how much"], rows: rows))
            <h2>Failures by cause</h2>
            \(ReportPage.table(id: "failures", titles: ["cause", "jobs", "for example"], rows: failures))
            <h2>Slowest runs</h2>
            \(ReportPage.table(id: "slowest", titles: ["operation", "container", "seconds"], rows: slowest))
            """
        return ReportPage.document(title: title, body: body)
    }
}

extension FleetReport {
    private enum CodingKeys: String, CodingKey {
        case archiveBytes, bytes, elapsed, failed, failures, jobs, moved, runs, seconds, skipped
        case slowest, unreadable
    }

    private struct EncodedFailures: Encodable {
        let count: Int
        let error: String
        let example: String
        let exitCode: Int32
        let operation: String

        init(_ failures: FleetSummary.Failures) {
            (count, example) = (failures.count, failures.example)
            let cause = failures.cause
            (error, exitCode, operation) = (cause.error, cause.exitCode, cause.operation)
        }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(summary.archiveBytes, forKey: .archiveBytes)
        try container.encode(summary.bytes, forKey: .bytes)
        try container.encode(summary.elapsed, forKey: .elapsed)
        try container.encode(summary.failed, forKey: .failed)
        try container.encode(summary.failures.map(EncodedFailures.init), forKey: .failures)
        try container.encode(summary.jobs, forKey: .jobs)
        try container.encode(summary.moved, forKey: .moved)
        try container.encode(summary.runs, forKey: .runs)
        try container.encode(summary.seconds, forKey: .seconds)
        try container.encode(summary.skipped, forKey: .skipped)
        try container.encode(summary.slowest, forKey: .slowest)
        try container.encode(summary.unreadable, forKey: .unreadable)
    }
}
