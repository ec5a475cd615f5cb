internal import Foundation
internal import MigrationCore
package import MigrationSystem

/// The sums over the lines of a file of results.
///
/// A job is an operation with a container and an archive. The last line of a job has its result, so
/// a repeated job counts once.
package struct FleetSummary: Sendable {
    /// A reason for which jobs failed.
    struct Cause: Hashable, Sendable {
        let operation: String
        let exitCode: Int32
        /// The name of the error, or `unknown`.
        let error: String
    }

    /// The jobs that failed for one reason.
    struct Failures: Sendable {
        let cause: Cause
        fileprivate(set) var count: Int
        /// The container of one of them, and the message of its error.
        let example: String
    }

    /// A run that took long.
    struct SlowRun: Sendable, Encodable {
        let operation: String
        let container: String
        let seconds: Double
    }

    private struct Job: Hashable {
        let operation: String
        let container: String
        let archive: String
    }

    private enum State {
        case moved, skipped
        case failed(Cause, example: String)
    }

    private static let slowLimit = 10

    /// How many lines hold a result.
    private(set) var runs = 0
    /// How many lines can't be understood, for example because a full disk truncated them.
    private(set) var unreadable = 0
    /// The content that all runs moved.
    private(set) var bytes: UInt64 = 0
    /// The archives that all runs wrote.
    private(set) var archiveBytes: UInt64 = 0
    /// The time that all runs took.
    private(set) var seconds = 0.0
    /// The slowest runs, slowest first.
    private(set) var slowest: [SlowRun] = []
    private var first: Date?
    private var last: Date?
    private var states: [Int: State] = [:]

    /// The limit is more than a century, so that sums stay finite.
    private static let possibleSeconds = 0...4e9

    /// The maximum length of a line; a program that is killed while it writes one leaves less.
    private static let lineLimit = 1 << 20

    /// Reads the file or pipe at `path`, whatever its size.
    ///
    /// - Throws: ``SystemError``; `CancellationError` if `cancellation` ends a wait.
    package init(readingFileAt path: BytePath, _ cancellation: CancellationFlag) throws {
        let event = try CancellationEvent(of: cancellation)
        let file = try FileDescriptor.openFollowingLinks(path, .reading)
        var buffer = [UInt8](repeating: 0, count: 256 * 1024)
        var line: [UInt8] = []
        while true {
            try cancellation.check()
            let count = try file.read(into: &buffer, count: buffer.count, unless: event)
            if count == 0 { break }
            var rest = buffer[..<count]
            while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                add(line + rest[..<end])
                line.removeAll()
                rest = rest[(end + 1)...]
            }
            // For a line that can't be understood, its start is enough.
            line += rest.prefix(Self.lineLimit + 1 - line.count)
        }
        add(line)
    }

    private mutating func add(_ line: [UInt8]) {
        guard !line.isEmpty else { return }
        // A line that can't be decoded is counted and reported as not understood.
        guard line.count <= Self.lineLimit,
            let result = try? JSONDecoder().decode(RunResult.self, from: Data(line)),
            Self.possibleSeconds.contains(result.seconds)
        else {
            unreadable += 1
            return
        }
        runs += 1
        bytes.addSaturating(result.bytes ?? 0)
        archiveBytes.addSaturating(result.archiveBytes ?? 0)
        seconds += result.seconds
        // A run without a readable time doesn't count for the first and last one.
        if let started = try? Date(result.started, strategy: .iso8601) {
            first = min(first ?? started, started)
            let end = started.addingTimeInterval(result.seconds)
            last = max(last ?? end, end)
        }
        noteSpeed(of: result)
        let job = Job(
            operation: result.operation,
            container: result.container,
            archive: result.archive
        )
        // A hash is kept instead of the names, because there may be millions.
        states[job.hashValue] = Self.state(of: result)
    }

    private mutating func noteSpeed(of result: RunResult) {
        let run = SlowRun(
            operation: result.operation,
            container: result.container,
            seconds: result.seconds
        )
        let index = slowest.firstIndex { $0.seconds < run.seconds } ?? slowest.count
        guard index < Self.slowLimit else { return }
        slowest.insert(run, at: index)
        if slowest.count > Self.slowLimit { slowest.removeLast() }
    }

    private static func state(of result: RunResult) -> State {
        guard result.exitCode != 0 else { return result.isSkipped ? .skipped : .moved }
        let cause = Cause(
            operation: result.operation,
            exitCode: result.exitCode,
            error: result.error ?? "unknown"
        )
        let message = result.message.map { ": \($0.prefix { $0 != "\n" })" } ?? ""
        return .failed(cause, example: BoundedText.detail(result.container + message))
    }
}

// MARK: - Sums

extension FleetSummary {
    /// How many jobs there are.
    var jobs: Int { states.count }

    /// How many jobs moved data.
    var moved: Int {
        states.values.count { if case .moved = $0 { true } else { false } }
    }

    /// How many jobs had nothing to do.
    var skipped: Int {
        states.values.count { if case .skipped = $0 { true } else { false } }
    }

    /// How many jobs failed, each counted once.
    var failed: Int { jobs - moved - skipped }

    /// The failed jobs by their cause, the most frequent first.
    var failures: [Failures] {
        var found: [Cause: Failures] = [:]
        for case .failed(let cause, let example) in states.values {
            found[cause, default: Failures(cause: cause, count: 0, example: example)].count += 1
        }
        return found.values.sorted {
            ($1.count, $0.cause.operation, $0.cause.exitCode, $0.cause.error)
                < ($0.count, $1.cause.operation, $1.cause.exitCode, $1.cause.error)
        }
    }

    /// The seconds from the start of the first run to the end of the last one.
    var elapsed: Double {
        guard let first, let last else { return 0 }
        return last.timeIntervalSince(first)
    }
}
