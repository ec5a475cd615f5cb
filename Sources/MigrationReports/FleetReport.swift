internal import Foundation
internal import MigrationCore
internal import MigrationSystem

/// The sums over many runs, as text, as JSON and as a page.
package struct FleetReport: Answer, JSONObject {
    private let summary: FleetSummary

    package init(summary: FleetSummary) { self.summary = summary }

    package var schema: String { "migrate/results/1" }

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
        ] + (summary.unreadable > 0 ? [("not understood", unreadable)] : [])
    }

    private var unreadable: String { GroupedCount(summary.unreadable).of("line", "lines") }

    private static func text(_ number: Double) -> String {
        number.formatted(
            .number.precision(.fractionLength(1)).grouping(.never).locale(.init(identifier: "en"))
        )
    }

    /// The rate of runs in a unit that gives it a digit before the point.
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

    package var text: String {
        let failures = summary.failures.map { failure in
            "failed: \(GroupedCount(failure.count).of("job", "jobs")): \(words(of: failure.cause)), such as "
                + PrintableText.escaping(failure.example) + "\n"
        }
        let slowest = summary.slowest.map { run in
            "slowest: \(Self.duration(run.seconds)): \(run.operation) "
                + PrintableText.escaping(run.container) + "\n"
        }
        return Table(rows: facts).text + (failures + slowest).joined()
    }

    /// A self-contained page.
    package func html(title: String) -> String {
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
    package var members: JSONMembers {
        [
            "archiveBytes": summary.archiveBytes, "bytes": summary.bytes,
            "elapsed": summary.elapsed, "failed": summary.failed,
            "failures": summary.failures.map {
                [
                    "count": $0.count, "error": $0.cause.error, "example": $0.example,
                    "exitCode": $0.cause.exitCode, "operation": $0.cause.operation,
                ] as JSONMembers
            },
            "jobs": summary.jobs, "moved": summary.moved, "runs": summary.runs,
            "seconds": summary.seconds, "skipped": summary.skipped, "slowest": summary.slowest,
            "unreadable": summary.unreadable,
        ]
    }
}
