internal import Dispatch
internal import Synchronization

/// Calls asynchronous code from libFuzzer, which is synchronous.
public enum Blocking {
    private final class Outcome<Value: Sendable>: Sendable {
        let result = Mutex<Result<Value, any Error>?>(nil)
    }

    /// Returns what `body` returns, once it does.
    public static func run<Value: Sendable>(
        _ body: @escaping @Sendable () async throws -> Value
    ) throws -> Value {
        let outcome = Outcome<Value>()
        let isDone = DispatchSemaphore(value: 0)
        Task.detached {
            let result: Result<Value, any Error>
            do {
                result = .success(try await body())
            } catch {
                result = .failure(error)
            }
            outcome.result.withLock { $0 = result }
            isDone.signal()
        }
        isDone.wait()
        guard let result = outcome.result.withLock({ $0 }) else { fatalError("no result") }
        return try result.get()
    }
}
