import Foundation
import MigrationSystem
import Testing

struct MonitorTests {
    /// The flag of `futex(2)` that makes a wait end by the wall clock.
    private static let waitsByWallClock = 0x100

    #if arch(x86_64)
    private static let futexNumber = "202"
    #else
    private static let futexNumber = "98"
    #endif

    private static let threads = "/proc/self/task"

    /// The operation of `futex(2)` in which the thread with this name waits, and whether the wait
    /// has a time limit.
    private func futexOperation(
        ofThread name: String
    ) async throws -> (operation: Int, hasEnd: Bool) {
        while true {
            for thread in try FileManager.default.contentsOfDirectory(atPath: Self.threads) {
                let directory = Self.threads + "/" + thread
                let text = try? String(contentsOfFile: directory + "/comm", encoding: .utf8)
                guard text == name + "\n" else { continue }
                let call = try String(contentsOfFile: directory + "/syscall", encoding: .utf8)
                let words = call.split(separator: " ")
                // Its number, the address, the operation, the value and the time.
                guard words.count > 4, words[0] == Self.futexNumber else { continue }
                let operation = try #require(Int(words[2].dropFirst(2), radix: 16))
                return (operation, words[4] != "0x0")
            }
            try await Task.sleep(for: .milliseconds(1))
        }
    }

    @Test(
        .enabled(
            if: FileManager.default.isReadableFile(atPath: "/proc/self/syscall"),
            "the kernel does not say what a thread waits for"
        ),
        .timeLimit(.minutes(30)),
        arguments: [false, true]
    )
    func `waits by a clock that nobody sets`(_ isBounded: Bool) async throws {
        let monitor = Monitor(false)
        let name = isBounded ? "waits bounded" : "waits"
        let waiters = try WorkerThreads(count: 1, named: name) {
            try? name.write(toFile: "/proc/thread-self/comm", atomically: false, encoding: .utf8)
            if isBounded {
                _ = monitor.wait(atMost: 86_400) { $0 }
            } else {
                monitor.wait { $0 ? () : nil }
            }
        }
        let (operation, hasEnd) = try await futexOperation(ofThread: name)
        #expect(!hasEnd || operation & Self.waitsByWallClock == 0)
        #expect(hasEnd == isBounded)
        monitor.withLock { $0 = true }
        waiters.join()
    }

    @Test(
        .enabled(
            if: FileManager.default.isReadableFile(atPath: "/proc/self/syscall"),
            "the kernel does not say what a thread waits for"
        ),
        .timeLimit(.minutes(30)),
        arguments: [false, true]
    )
    func `waits for a value or a cancellation, and wakes for nothing else`(
        _ isCancelled: Bool
    ) async throws {
        let parent = CancellationFlag()
        let (monitor, flag) = (Monitor<Int?>(nil), CancellationFlag(following: parent))
        let results = Monitor<[Int?]>([])
        let name = "waits unless \(isCancelled)"
        let waiters = try WorkerThreads(count: 1, named: name) {
            let label = String(name.prefix(15))
            try? label.write(toFile: "/proc/thread-self/comm", atomically: false, encoding: .utf8)
            let result = monitor.wait(unless: flag) { $0 }
            results.withLock { $0.append(result) }
        }
        let (_, hasEnd) = try await futexOperation(ofThread: String(name.prefix(15)))
        #expect(!hasEnd)
        if isCancelled { parent.cancel() } else { monitor.withLock { $0 = 7 } }
        waiters.join()
        #expect(results.withLock { $0 } == [isCancelled ? nil : 7])
        #expect(monitor.wait(unless: flag) { $0 ?? 8 } == (isCancelled ? 8 : 7))
    }

    @Test func `ends a bounded wait in time, and at once where there is nothing to wait for`() {
        let monitor = Monitor(false)
        let start = ContinuousClock.now
        var hasChanged = monitor.wait(atMost: 0.2) { $0 }
        #expect(!hasChanged)
        #expect(ContinuousClock.now - start >= .milliseconds(199))
        monitor.withLock { $0 = true }
        hasChanged = monitor.wait(atMost: 86_400) { $0 }
        #expect(hasChanged)
        monitor.withLock { $0 = false }
        hasChanged = monitor.wait(atMost: -1) { $0 }
        #expect(!hasChanged)
    }
}
