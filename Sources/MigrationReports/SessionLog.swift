internal import AndroidMigration
internal import Foundation
internal import MigrationCore
package import MigrationHosting
internal import MigrationSystem

/// The actions of an app's extension with their times, as in the log of its session.
package struct SessionLog: Answer, Decodable {
    package let timeline: SessionTimeline

    /// The message of the error that ended the operation, if one did.
    package let error: String?

    package static let schema = "migrate/session/1"

    package var schema: String { Self.schema }

    package var text: String { SessionText(self).summary + "\n" }

    package init(timeline: SessionTimeline, error: String?) {
        (self.timeline, self.error) = (timeline, error)
    }
}

/// The words for a session on a page.
struct SessionText {
    private let log: SessionLog
    private var timeline: SessionTimeline { log.timeline }

    init(_ log: SessionLog) {
        self.log = log
    }

    var summary: String {
        let appends = GroupedCount(UInt64(clamping: timeline.appendCount)).of("append", "appends")
        let longest = timeline.waits.map { $0.end - $0.start }.max() ?? 0
        return
            "\(Self.seconds(timeline.seconds)), \(appends), \(ByteCount(timeline.appendedBytes)); "
            + "the longest silence was \(Self.seconds(longest)) of "
            + "\(Self.seconds(timeline.limits.hangTimeout)) allowed"
    }

    /// The limits, each with its name.
    var limits: [[String]] {
        let limits = timeline.limits
        return [
            ["silence", Self.seconds(limits.hangTimeout)],
            ["end after a cancellation", Self.seconds(limits.gracePeriod)],
            ["temporary files", "\(ByteCount(limits.temporarySpace))"],
            ["memory", limits.memoryLimit.map { "\(ByteCount($0))" } ?? "the system's default"],
        ]
    }

    /// The longest silences, and the appends that took longest, in order of time.
    var events: [[ReportCell]] {
        let waits = timeline.waits.map { wait in
            Event(start: wait.start, end: wait.end, text: "waited for the extension")
        }
        let longest = timeline.appends.sorted { $0.end - $0.start > $1.end - $1.start }.prefix(20)
        let appends = longest.map { append in
            Event(start: append.start, end: append.end, text: Self.text(of: append))
        }
        return (waits + appends).sorted { $0.start < $1.start }.map { event in
            let length = event.end - event.start
            return [
                ReportCell(Self.seconds(event.start), number: event.start), ReportCell(event.text),
                ReportCell(Self.seconds(length), number: length),
            ]
        }
    }

    private struct Event {
        let start: Double
        let end: Double
        let text: String
    }

    private static func text(of append: SessionTimeline.Append) -> String {
        let name = PrintableText.escapingRest(of: append.name)
        let more =
            append.count > 1 ? " and \(GroupedCount(UInt64(clamping: append.count - 1))) more" : ""
        return "appended \(name)\(more), \(ByteCount(append.bytes))"
    }

    /// A time with one decimal; a file may hold any number.
    static func seconds(_ seconds: Double) -> String {
        let tenths = (seconds * 10).rounded()
        guard let tenths = Int(exactly: tenths) else { return "\(seconds) s" }
        return "\(tenths / 10).\(abs(tenths % 10)) s"
    }
}
