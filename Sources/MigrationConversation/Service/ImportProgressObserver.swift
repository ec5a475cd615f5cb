internal import Foundation
internal import MigrationContract
internal import MigrationSystem

/// Reads an extension's progress regularly, on a thread of its own, during an import.
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

    /// Starts to read the object that `reading` returns.
    init(
        reading: @escaping @Sendable () -> Progress,
        onChange: @escaping @Sendable (_ completed: Int64, _ total: Int64) -> Void
    ) {
        let first = reading()
        let isNewPerRead = reading() !== first
        monitor.withLock { $0.summary = Self.summary(of: first, isNewPerRead: isNewPerRead) }
        onChange(first.completedUnitCount, first.totalUnitCount)
        let begin = (first.completedUnitCount, first.totalUnitCount)
        let thread = Thread { [self] in
            var last = begin
            var isFinished = false
            while !isFinished {
                isFinished = monitor.wait(atMost: Self.interval) { $0.isFinished }
                let progress = reading()
                let now = (progress.completedUnitCount, progress.totalUnitCount)
                if now != last { onChange(now.0, now.1) }
                last = now
                monitor.withLock { state in
                    state.summary.isNewPerRead = state.summary.isNewPerRead || progress !== first
                    state.summary.hasMoved = state.summary.hasMoved || now.0 != begin.0
                    (state.summary.completed, state.summary.total) = now
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

    private static func summary(
        of progress: Progress,
        isNewPerRead: Bool
    ) -> ImportProgressSummary {
        ImportProgressSummary(
            isNewPerRead: isNewPerRead,
            hasMoved: false,
            completed: progress.completedUnitCount,
            total: progress.totalUnitCount
        )
    }
}
