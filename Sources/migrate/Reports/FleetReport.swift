internal import Foundation
internal import MigrationCore
internal import MigrationSystem

/// The answer of `migrate report --results`.
struct FleetReport: Answer {
    let summary: FleetSummary

    var schema: String { "migrate/results/1" }

    private var facts: [(name: String, value: String)] {
        let elapsed = summary.elapsed
        let rate = elapsed > 0 ? Self.rate(Double(summary.runs) / elapsed) : "one at a time"
        return [
            ("jobs", "\(GroupedCount(summary.jobs))"),
            ("moved", "\(GroupedCount(summary.moved))"),
            ("nothing to do", "\(GroupedCount(summary.skipped))"),
            ("failed", "\(GroupedCount(summary.failed))"),
            ("runs", "\(GroupedCount(summary.runs)), \(rate)"),
            ("content", "\(ByteCount(summary.bytes))"),
            ("archives", "\(ByteCount(summary.archiveBytes))"),
            ("elapsed", "\(Self.duration(elapsed)), \(Self.duration(summary.seconds)) in all runs"),
        ] + (summary.unreadable > 0 ? [("not understood", "\(summary.unreadable) lines")] : [])
    }

    private static func text(_ number: Double) -> String {
        number.formatted(
            .number.precision(.fractionLength(1)).grouping(.never).locale(.init(identifier: "en"))
        )
    }

    /// A number of runs a second in the unit that gives it a digit before the point.
    private static func rate(_ perSecond: Double) -> String {
        if perSecond >= 1 { return text(perSecond) + " a second" }
        if perSecond * 60 >= 1 { return text(perSecond * 60) + " a minute" }
        return text(perSecond * 3600) + " an hour"
    }

    /// Seconds as seconds, minutes or hours.
    private static func duration(_ seconds: Double) -> String {
        let whole = Int(clamping: Int64(exactly: seconds.rounded()) ?? .max)
        if whole < 60 { return text(seconds) + " s" }
        if whole < 3600 { return "\(whole / 60) min \(whole % 60) s" }
        return "\(GroupedCount(whole / 3600)) h \(whole / 60 % 60) min"
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
            "slowest: \(Self.duration(run.seconds)): \(run.operation) "
                + PrintableText.escaping(run.container) + "\n"
        }
        return (rows + failures + slowest).joined()
    }

    /// A page that needs nothing else.
    func html(title: String) -> String {
        let rows = facts.map { [ReportCell($0.name), ReportCell($0.value)] }
        let failures = summary.failures.map { failure in
            [
                ReportCell(words(of: failure.cause)), ReportCell(count: failure.count),
                ReportCell(failure.example),
            ]
        }
        let slowest = summary.slowest.map { run in
            [
                ReportCell(run.operation), ReportCell(run.container),
                ReportCell(Self.duration(run.seconds), number: run.seconds),
            ]
        }
        let chapters = [
            ("failures", "Failures by cause", ["cause", "jobs", "for example"], failures),
            ("slowest", "Slowest runs", ["operation", "container", "time"], slowest),
        ]
        let body = chapters.filter { !$0.3.isEmpty }.map { id, heading, titles, rows in
            "<h2>\(heading)</h2>\n" + ReportPage.table(id: id, titles: titles, rows: rows)
        }
        return ReportPage.document(
            title: title,
            body: ReportPage.table(id: "facts", titles: ["what", "how much"], rows: rows) + "\n"
                + (body.isEmpty ? "" : ReportPage.search + "\n") + body.joined(separator: "\n"),
            data: "{}"
        )
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
