import Dispatch
import Foundation
import MigrationSystem

/// Shows on standard error how far an operation is, while it runs.
///
/// A timer on a queue of its own reads the operation's `Progress`, so that a busy operation can't
/// hold the display up, nor the display the operation.
final class ProgressDisplay: Sendable {
    /// What the operation updates.
    let progress = Progress(totalUnitCount: -1)

    private let style: ProgressMode.Style
    private let console: Console
    private let queue = DispatchQueue(label: "migrate.progress")
    private let meter = Monitor(ProgressMeter(at: .now))

    private init(_ style: ProgressMode.Style, on console: Console) {
        self.style = style
        self.console = console
    }

    /// Performs `operation` with its progress on display as `mode` says.
    static func showing<Result>(
        _ mode: ProgressMode,
        on console: Console,
        _ operation: (Progress?) async throws -> Result
    ) async throws -> Result {
        guard let style = mode.style(onTerminal: StandardStream.error.isTerminal) else {
            return try await operation(nil)
        }
        let display = ProgressDisplay(style, on: console)
        let timer = display.start()
        defer { display.stop(timer) }
        return try await operation(display.progress)
    }

    private func start() -> any DispatchSourceTimer {
        let timer = DispatchSource.makeTimerSource(queue: queue)
        let interval = DispatchTimeInterval.milliseconds(style.interval)
        timer.schedule(deadline: .now() + interval, repeating: interval, leeway: .milliseconds(10))
        timer.setEventHandler { @Sendable [self] in draw() }
        timer.resume()
        return timer
    }

    /// Ends the display before anything else is printed.
    private func stop(_ timer: any DispatchSourceTimer) {
        timer.cancel()
        queue.sync {
            // Progress that can't be shown must not end the operation.
            if style == .bar { try? console.errors.showLastLine("") }
        }
    }

    private func draw() {
        let line = meter.withLock { meter in
            meter.advance(
                to: progress.completedUnitCount,
                of: progress.totalUnitCount,
                at: .now
            )
        }
        switch style {
        case .bar:
            let columns = StandardStream.error.columns ?? 80
            try? console.errors.showLastLine(line.bar(columns: columns))
        case .lines:
            console.log("migrate: \(line.plain)")
        }
    }
}
