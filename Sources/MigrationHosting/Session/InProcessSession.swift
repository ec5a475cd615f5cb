internal import Foundation
internal import MigrationCore
internal import MigrationSystem

/// A session with an extension that is a value in this process.
///
/// The extension runs in its own task, on its own thread, because its appends block. If it does not
/// stop in time, the task keeps running without a session.
final class InProcessSession: ExtensionSession {
    let confinement = ConfinementReport.ownProcess
    let paths: SessionPaths

    private let adapter: ExtensionAdapter
    private let directories: SessionDirectories
    private let observer: SessionObserver
    private let limits: SessionLimits

    init(
        _ hosted: any AppMigrationExtension,
        in directories: SessionDirectories,
        observer: SessionObserver,
        limits: SessionLimits
    ) throws(MigrationError) {
        paths = try SessionPaths(linking: directories.all, because: .ownProcess)
        adapter = ExtensionAdapter(hosted)
        self.directories = directories
        self.observer = observer
        self.limits = limits
    }

    func description() throws -> ExtensionDescription {
        try wait { [adapter] in await adapter.description() }
    }

    func export(_ call: ExportCall, to items: AppendedItemArchiver) throws {
        let appends = LocalAppends(to: items, observer: observer, on: limits.operation)
        do {
            try wait { [adapter] in try await adapter.export(call, to: appends) }
        } catch {
            appends.close(because: error)
            throw error
        }
        observer.noteEndOfWait()
        if appends.wasCancelled { throw SessionFailure.swallowedCancellation(adapter.name) }
    }

    func importResources(
        _ call: ImportCall,
        onProgress: @escaping @Sendable (ImportProgress) -> Void
    ) throws -> ImportProgressSummary {
        let request = ResourcesImportRequest(
            sourceAppIdentifier: call.source,
            sourceVersion: call.sourceVersion
        )
        let directory = URL(directoryAtPath: paths.shown(BytePath([UInt8](call.directory))))
        return try wait { [adapter, observer] in
            try await adapter.importResources(at: directory, request: request) { progress in
                observer.noteActivity()
                onProgress(progress)
            }
        }
    }

    func end() {}

    /// Runs `body` in a task and waits for its result, within the limits.
    private func wait<Value: Sendable>(
        for body: @escaping @Sendable () async throws -> Value
    ) throws -> Value {
        observer.noteActivity()
        let outcome = Monitor<Result<Value, any Error>?>(nil)
        let context = directories.context(as: paths)
        let thread = try OperationThread.start()
        defer { thread.close() }
        let threadPlace = Monitor<BytePath?>(nil)
        let task = Task.detached(executorPreference: thread) {
            threadPlace.withLock { $0 = ProcessActivity.placeOfThread }
            do {
                let current = ExtensionContext.$current
                let value = try await current.withValue(context) { try await body() }
                outcome.withLock { $0 = .success(value) }
            } catch {
                outcome.withLock { $0 = .failure(error) }
            }
        }
        let observation = limits.operation.cancellation.observe { outcome.wake() }
        defer { withExtendedLifetime(observation) {} }
        let room = ExtensionRoom(in: directories)
        var watch = SessionWatch(limits, observer: observer, name: adapter.name) { [limits] in
            SignsOfLife.Look(atThread: threadPlace.withLock { $0 }, room, on: limits.operation)
        }
        while outcome.withLock({ $0 == nil }) {
            if try watch.check() { task.cancel() }
            let seconds = min(watch.timeLeft / .seconds(1), 1e9)
            _ = outcome.wait(atMost: seconds) { [limits] outcome in
                outcome != nil || watch.awaitsCancellation && limits.operation.isCancelled
            }
        }
        guard let result = outcome.withLock({ $0 }) else { throw CancellationError() }
        do {
            return try result.get()
        } catch {
            throw watch.failure(of: error)
        }
    }
}

/// Appends the items of an extension in this process, one after another.
private final class LocalAppends: AppendDestination {
    private struct State {
        let items: AppendedItemArchiver
        var wasCancelled = false
    }

    private let state: Monitor<State>
    private let observer: SessionObserver
    private let operation: MigrationOperation

    init(
        to items: AppendedItemArchiver,
        observer: SessionObserver,
        on operation: MigrationOperation
    ) {
        state = Monitor(State(items: items))
        self.observer = observer
        self.operation = operation
    }

    /// Whether an append threw because the session was cancelled.
    var wasCancelled: Bool { state.withLock { $0.wasCancelled } }

    func append(itemAt source: BytePath, as name: [UInt8]) async throws {
        observer.noteEndOfWait()
        try state.withLock { state in
            do {
                try operation.check()
                try state.items.append(source, as: name)
            } catch is CancellationError {
                state.wasCancelled = true
                throw CancellationError()
            }
        }
    }

    func close(because error: any Error) {
        state.withLock { $0.items.close(because: error) }
    }
}
