internal import Foundation

/// Threads that run the same blocking work and are waited for together.
package final class WorkerThreads: Sendable {
    private let running: Monitor<Int>

    /// Starts `count` threads that each run `body` once.
    package init(count: Int, named name: String, _ body: @escaping @Sendable () -> Void) {
        let running = Monitor(count)
        self.running = running
        for _ in 0..<count {
            let thread = Thread {
                body()
                running.withLock { $0 -= 1 }
            }
            thread.name = name
            thread.start()
        }
    }

    /// Waits until every thread has ended.
    package func join() {
        running.wait { $0 == 0 ? () : nil }
    }
}
