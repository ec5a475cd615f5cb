internal import Foundation
internal import MigrationContract
internal import MigrationSystem

/// Reads an extension's progress regularly during an import, on its own thread.
///
/// The extension owns the object and may block every other thread, so only another thread can
/// observe it.
final class ImportProgressObserver: Sendable {
    private static let interval = 0.1

    private struct State {
        var isFinished = false
        var hasEnded = false
        var summary = ImportProgressSummary()
    }

    private let monitor = Monitor(State())

    /// Starts to read the object that `reading` returns, and passes each new value to `onChange`.
    init(
        reading: @escaping @Sendable () -> Progress,
        onChange: @escaping @Sendable (ImportProgress) -> Void
    ) {
        let first = reading()
        let begin = ImportProgress(of: first)
        let isNewPerRead = reading() !== first
        monitor.withLock { state in
            state.summary.isNewPerRead = isNewPerRead
            state.summary.last = begin
        }
        onChange(begin)
        let thread = Thread { [self] in
            var last = begin
            var isFinished = false
            while !isFinished {
                isFinished = monitor.wait(atMost: Self.interval) { $0.isFinished }
                let progress = reading()
                // By value, because some extensions make a new object for each reading.
                let now = ImportProgress(of: progress)
                if now != last { onChange(now) }
                last = now
                monitor.withLock { state in
                    state.summary.isNewPerRead = state.summary.isNewPerRead || progress !== first
                    state.summary.hasMoved = state.summary.hasMoved || now.hasMoved(since: begin)
                    state.summary.last = now
                }
            }
            monitor.withLock { $0.hasEnded = true }
        }
        thread.name = "import progress"
        thread.start()
    }

    /// Stops after one last reading.
    func finish() -> ImportProgressSummary {
        monitor.withLock { $0.isFinished = true }
        return monitor.wait { $0.hasEnded ? $0.summary : nil }
    }
}
