internal import Foundation
internal import MigrationSystem

/// The right to use a container: shared by an app that runs, exclusive for a migration.
///
/// The lock is on the container directory itself. An import exchanges that directory, so after a
/// lock is taken the path must still lead to what was locked. A lock ends with the process that holds it.
struct ContainerLock {
    private static let attempts = 16

    /// The locked root directory.
    let root: OpenFile

    private let claim: LockClaim

    /// Locks the container at `path` without waiting.
    ///
    /// - Throws: ``MigrationError`` of code `containerBusy` where somebody else holds it.
    init(
        _ path: PathName,
        _ mode: FileDescriptor.LockMode
    ) throws(MigrationError) {
        for _ in 0..<Self.attempts {
            do throws(SystemError) {
                let file = OpenFile(try FileDescriptor.open(path.path, .directory))
                let taken = try LockClaim.take(file, mode)
                if try FileDescriptor.status(atPath: path.path).identity == taken.identity {
                    root = file
                    claim = taken
                    return
                }
            } catch {
                throw Self.failure(error, at: path)
            }
        }
        throw MigrationError(.containerBusy, "the container keeps being replaced", path: path.path)
    }

    /// Gives the lock back; without this it ends when the last copy of its descriptor is closed.
    func release() {
        claim.end(unlocking: root)
    }

    private static func failure(_ error: SystemError, at path: PathName) -> MigrationError {
        if error.isBusy {
            let message = "the container is in use by \(holders(of: path))"
            return MigrationError(.containerBusy, message, path: path.path)
        }
        if error.isMissing {
            return MigrationError(.containerInvalid, "there is no container", path: path.path)
        }
        if error.isNotDirectory {
            let message = "the container is no directory but a file or a link"
            return MigrationError(.containerInvalid, message, path: path.path)
        }
        let message = "the container can't be opened"
        return MigrationError(.containerInvalid, message, path: path.path, cause: error)
    }

    /// Who holds the container at `path`, as a message says it.
    private static func holders(of path: PathName) -> String {
        let identity = try? FileDescriptor.status(atPath: path.path).identity
        let processes = identity.map(FileDescriptor.lockHolders) ?? []
        guard let first = processes.first else { return "an app or another migration" }
        if processes == [ProcessInfo.processInfo.processIdentifier] {
            return "this process, \(first), itself"
        }
        let numbers = processes.map { "\($0)" }.joined(separator: ", ")
        return (processes.count == 1 ? "process " : "processes ") + numbers
    }
}

// MARK: - Waiting

/// How long an operation waits for a container that somebody else holds.
struct LockWait: Sendable {
    private static let interval = 0.02

    /// How long it waits for other processes.
    let limit: Duration

    /// Whether it waits for operations in this process, which come to their end by themselves.
    var queues = false

    /// Ends the wait when it is raised.
    var cancellation = CancellationFlag()

    /// Is told once what is waited for.
    var handler: (@Sendable (MigrationError) -> Void)?

    /// Locks the container at `path`, alone, as soon as nobody else holds it.
    ///
    /// - Throws: ``MigrationError``; `CancellationError`.
    func lock(_ path: PathName) throws -> ContainerLock {
        try untilFree(path) { () throws(MigrationError) in try ContainerLock(path, .exclusive) }
    }

    /// Does `body` as soon as nobody else holds what it needs of the container at `path`.
    ///
    /// - Throws: What `body` throws, of code `containerBusy` once it was waited for long enough;
    ///   `CancellationError`.
    func untilFree<Value>(
        _ path: PathName,
        _ body: () throws(MigrationError) -> Value
    ) throws -> Value {
        let deadline = SuspendingClock.now + limit
        var hasTold = false
        while true {
            let isLast = SuspendingClock.now >= deadline
            let endCount = LockClaim.endCount
            do throws(MigrationError) {
                return try body()
            } catch {
                guard error.code == .containerBusy else { throw error }
                // Who held it may have let go of it since.
                let isQueued = queues && (LockClaim.isHeld(path) || LockClaim.endCount != endCount)
                guard isQueued || !isLast else { throw waited(error) }
                if !hasTold { handler?(error) }
                hasTold = true
                try cancellation.check()
                Thread.sleep(forTimeInterval: Self.interval)
            }
        }
    }

    private func waited(_ error: MigrationError) -> MigrationError {
        guard limit > .zero else { return error }
        let message = "\(error.message), after \(limit.text) of waiting"
        return MigrationError(error.code, message, path: error.pathBytes, cause: error.cause)
    }
}

/// The note that an operation of this process holds a container.
private final class LockClaim: Sendable {
    private struct State {
        var held: [FileStatus.Identity: Int] = [:]
        var endCount = 0
    }

    /// Locks are taken and given back under it, so that no lock of this process is unknown to it.
    private static let state = Monitor(State())

    let identity: FileStatus.Identity
    private let isOpen = Monitor(true)

    private init(on identity: FileStatus.Identity) {
        self.identity = identity
    }

    deinit { end(unlocking: nil) }

    /// Locks the open directory without waiting.
    static func take(
        _ file: OpenFile,
        _ mode: FileDescriptor.LockMode
    ) throws(SystemError) -> LockClaim {
        let identity = try file.descriptor.status().identity
        return try state.withLock { state throws(SystemError) in
            try file.descriptor.lock(mode)
            state.held[identity, default: 0] += 1
            return LockClaim(on: identity)
        }
    }

    func end(unlocking file: OpenFile?) {
        Self.state.withLock { state in
            file?.descriptor.unlock()
            let wasOpen = isOpen.withLock { isOpen in
                defer { isOpen = false }
                return isOpen
            }
            guard wasOpen else { return }
            let count = state.held[identity, default: 1] - 1
            state.held[identity] = count > 0 ? count : nil
            state.endCount += 1
        }
    }

    /// How many locks of this process have been given back.
    static var endCount: Int { state.withLock { $0.endCount } }

    static func isHeld(_ path: PathName) -> Bool {
        guard let identity = try? FileDescriptor.status(atPath: path.path).identity else {
            return false
        }
        return state.withLock { $0.held[identity] != nil }
    }
}
