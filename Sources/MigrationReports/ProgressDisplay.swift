package import Foundation
internal import MigrationSystem

/// The ways to show progress; `auto` depends on the terminal.
package enum ProgressMode: String, CaseIterable, Sendable {
    case auto, bar, plain, none

    /// The form of the display, which decides how often it is drawn.
    enum Style: Sendable {
        case bar
        case lines

        /// The time between two drawings, in seconds.
        var interval: Double {
            switch self {
            case .bar: 0.1
            case .lines: 1
            }
        }
    }

    /// The style for a standard error that is a terminal or not; `nil` shows nothing.
    func style(onTerminal isTerminal: Bool) -> Style? {
        switch self {
        case .auto: isTerminal ? .bar : nil
        case .bar: .bar
        case .plain: .lines
        case .none: nil
        }
    }
}

// MARK: - Display

/// Shows the progress of an operation on standard error while it runs.
///
/// A separate thread reads the operation's `Progress`, so neither can delay the other.
package final class ProgressDisplay: Sendable {
    private enum Phase {
        case drawing, ending, ended
    }

    /// The progress that the operation updates.
    let progress = Progress(totalUnitCount: -1)

    private let style: ProgressMode.Style
    private let output: TextOutput
    private let phase = Monitor(Phase.ended)
    private let meter = Monitor(ProgressMeter(at: .now))

    private init(_ style: ProgressMode.Style, on output: TextOutput) {
        self.style = style
        self.output = output
    }

    /// Performs `operation` and displays its progress on `output` in the given mode.
    package static func showing<Result>(
        _ mode: ProgressMode,
        on output: TextOutput,
        _ operation: (Progress?) async throws -> Result
    ) async throws -> Result {
        guard let style = mode.style(onTerminal: StandardStream.error.isTerminal) else {
            return try await operation(nil)
        }
        let display = ProgressDisplay(style, on: output)
        display.start()
        defer { display.stop() }
        return try await operation(display.progress)
    }

    private func start() {
        phase.withLock { $0 = .drawing }
        do throws(SystemError) {
            try SystemThread.start(named: "migrate progress") { [self] in drawRepeatedly() }
        } catch {
            // A failure to show progress must not end the operation.
            phase.withLock { $0 = .ended }
        }
    }

    private func drawRepeatedly() {
        while !phase.wait(atMost: style.interval, until: { $0 == .ending }) { draw() }
        phase.withLock { $0 = .ended }
    }

    /// Removes the display before anything else is printed.
    private func stop() {
        phase.withLock { if $0 == .drawing { $0 = .ending } }
        phase.wait { $0 == .ended ? () : nil }
        // Progress is best effort: standard error may be closed.
        if style == .bar { try? output.showLastLine("") }
    }

    private func draw() {
        let line = meter.withLock { meter in
            meter.advance(
                to: progress.completedUnitCount,
                of: progress.totalUnitCount,
                at: .now
            )
        }
        // Progress is best effort: standard error may be closed.
        switch style {
        case .bar:
            try? output.showLastLine(line.bar(columns: StandardStream.error.columns ?? 80))
        case .lines: try? output.write("migrate: \(line.plain)\n")
        }
    }
}

// MARK: - Rate

/// Measures the rate of an operation over the last seconds.
struct ProgressMeter: Sendable {
    private struct Sample: Sendable {
        let time: ContinuousClock.Instant
        let bytes: Int64
    }

    private static let window = Duration.seconds(5)

    private var samples: [Sample]

    /// Starts at `time`, with no bytes done.
    init(at time: ContinuousClock.Instant) {
        samples = [Sample(time: time, bytes: 0)]
    }

    /// Records that `completed` of `total` bytes are done at `time`, and returns the line for it.
    mutating func advance(
        to completed: Int64,
        of total: Int64,
        at time: ContinuousClock.Instant
    ) -> ProgressLine {
        samples.append(Sample(time: time, bytes: completed))
        let recent = samples.firstIndex { $0.time >= time - Self.window } ?? 0
        samples.removeFirst(min(recent, samples.count - 2))
        let elapsed = (time - samples[0].time) / .seconds(1)
        let bytes = Double(completed) - Double(samples[0].bytes)
        return ProgressLine(
            completed: UInt64(max(completed, 0)),
            total: total > 0 ? UInt64(total) : nil,
            bytesPerSecond: elapsed > 0 ? max(bytes / elapsed, 0) : 0
        )
    }
}

// MARK: - Lines

/// The progress of an operation as a line of text.
struct ProgressLine: Hashable, Sendable {
    /// The number of bytes done.
    let completed: UInt64

    /// The total number of bytes, if it is known.
    let total: UInt64?

    let bytesPerSecond: Double

    /// The line for a log.
    var plain: String {
        let share = percent.map { " (\($0))" } ?? ""
        return ([amounts + share, rate] + [timeLeft].compactMap(\.self)).joined(separator: ", ")
    }

    /// The line for a terminal: the most important details that fit into `columns`.
    func bar(columns: Int) -> String {
        let details: [String?] = [percent, amounts, rate, timeLeft]
        for count in stride(from: details.count, to: 0, by: -1) {
            let text = details.prefix(count).compactMap(\.self).joined(separator: "  ")
            guard text.utf8.count < columns else { continue }
            // Some terminals wrap when the last column is filled.
            let room = min(columns - 1 - text.utf8.count - 4, 40)
            return count == details.count && room >= 10 ? drawing(room) + "  " + text : text
        }
        return ""
    }

    private func drawing(_ width: Int) -> String {
        guard let fraction else { return "[" + String(repeating: "-", count: width) + "]" }
        let done = Int(fraction * Double(width))
        return "[" + String(repeating: "#", count: done)
            + String(repeating: "-", count: width - done) + "]"
    }

    private var fraction: Double? {
        // The total is an estimate; more may be done.
        total.map { min(Double(completed) / Double($0), 1) }
    }

    private var percent: String? {
        fraction.map { "\(Int($0 * 100)) %" }
    }

    private var amounts: String {
        "\(ByteCount(completed))" + (total.map { " of \(ByteCount($0))" } ?? "")
    }

    private var rate: String {
        "\(ByteCount(UInt64(exactly: bytesPerSecond.rounded(.down)) ?? .max))/s"
    }

    private var timeLeft: String? {
        guard let total, bytesPerSecond >= 1 else { return nil }
        let left = total > completed ? Double(total - completed) / bytesPerSecond : 0
        guard left < 100 * 3600 else { return nil }
        let seconds = Int(left.rounded(.up))
        let (hours, minutes) = (seconds / 3600, seconds / 60 % 60)
        let head = hours > 0 ? "\(hours):\(padded(minutes, to: 2))" : "\(minutes)"
        return "\(head):\(padded(seconds % 60, to: 2)) left"
    }
}
