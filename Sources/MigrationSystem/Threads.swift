internal import CMigrationShims
internal import Glibc

/// A thread of this process.
///
/// Foundation's class doesn't report a failure to start a thread, so a caller would wait for its
/// work forever.
package enum SystemThread {
    private final class Work {
        let name: String
        let body: @Sendable () -> Void

        init(_ name: String, _ body: @escaping @Sendable () -> Void) {
            self.name = name
            self.body = body
        }

        func run() {
            unsafe name.withCString { unsafe migration_name_thread($0) }
            body()
        }
    }

    /// Starts a thread that runs `body`.
    ///
    /// - Throws: ``SystemError`` if the system can't start a thread.
    package static func start(
        named name: String,
        _ body: @escaping @Sendable () -> Void
    ) throws(SystemError) {
        let work = unsafe Unmanaged.passRetained(Work(name, body))
        var thread = pthread_t()
        let result = unsafe pthread_create(
            &thread,
            nil,
            { argument in
                guard let argument = unsafe argument else { return nil }
                unsafe Unmanaged<Work>.fromOpaque(argument).takeRetainedValue().run()
                return nil
            },
            work.toOpaque()
        )
        guard result == 0 else {
            unsafe work.release()
            throw SystemError("pthread_create", code: result)
        }
        pthread_detach(thread)
    }

    /// Checks that `count` more threads can live at the same time.
    ///
    /// - Throws: ``SystemError`` if the system can't.
    package static func check(_ count: Int) throws(SystemError) {
        let result = migration_try_threads(CInt(clamping: count))
        guard result == 0 else { throw SystemError("pthread_create", code: result) }
    }
}

/// A group of threads that run the same blocking work and that one caller waits for.
package final class WorkerThreads: Sendable {
    private let running: Monitor<Int>

    /// Starts `count` threads, or as many as the system allows, that each run `body` once.
    ///
    /// - Throws: ``SystemError`` if the system can't start any.
    package init(
        count: Int,
        named name: String,
        _ body: @escaping @Sendable () -> Void
    ) throws(SystemError) {
        let running = Monitor(0)
        self.running = running
        for number in 0..<count {
            running.withLock { $0 += 1 }
            do {
                try SystemThread.start(named: name) {
                    body()
                    running.withLock { $0 -= 1 }
                }
            } catch {
                running.withLock { $0 -= 1 }
                guard number > 0 else { throw error }
                return
            }
        }
    }

    /// Waits until every thread has ended.
    package func join() {
        running.wait { $0 == 0 ? () : nil }
    }
}
