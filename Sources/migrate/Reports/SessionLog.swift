internal import AndroidMigration
internal import Foundation
internal import MigrationCore
internal import MigrationHosting
internal import MigrationSystem

/// The form in which `--session-log` writes a session and `migrate report --session` reads it.
struct SessionLog: Answer, Decodable {
    let timeline: SessionTimeline

    /// The message of the error that ended the operation, if one did.
    let error: String?

    var schema: String { Self.schema }

    var text: String { SessionText(self).summary + "\n" }

    private static let schema = "migrate/session/1"
    private static let sizeLimit = 8 << 20

    /// The members of the document that identify it.
    private struct Head: Decodable {
        let schema: String
    }

    /// Reads the log in the file at `path`.
    ///
    /// - Throws: ``MigrationError`` of code `invalidOption` if the file holds something else.
    static func read(_ path: BytePath) throws -> SessionLog {
        let bytes = Data(try InputFile.read(path, limit: sizeLimit))
        do {
            let head = try JSONDecoder().decode(Head.self, from: bytes)
            guard head.schema == schema else {
                let name = PrintableText.escaping(head.schema)
                let message = "not the log of a session but '\(name)'"
                throw MigrationError(.invalidOption, message, path: path)
            }
            return try JSONDecoder().decode(SessionLog.self, from: bytes)
        } catch is DecodingError {
            let message = "not the log of a session, as '--session-log' writes it"
            throw MigrationError(.invalidOption, message, path: path)
        }
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
