internal import Foundation
package import MigrationContract
package import MigrationSystem

/// The right to use a container: of apps together, of readers together, or of a single writer.
///
/// The lock is on the container's directory itself or, in a bundle, on the bundle. Apps and readers
/// share it, and each kind sets a mark that the other checks. An import exchanges that directory,
/// so after locking it, the path must still lead to the same directory. A lock ends with the
/// process that holds it.
package struct ContainerLock {
    /// What a container is used for.
    package enum Use: Sendable {
        /// A running app, which other apps may run beside.
        case app

        /// An export or a comparison, which others may run beside.
        case reading

        /// An import or a recovery, which nothing may run beside.
        case writing
    }

    private static let attempts = 16

    package let place: ContainerPlace

    /// The locked directory, which holds the bookkeeping.
    package let directory: OpenFile

    /// The root of the container: the same directory, or that in the bundle.
    package let root: OpenFile

    private let claim: LockClaim

    /// The path of the locked directory.
    package var path: BytePath { place.path }

    /// The number by which its file system knows the locked directory.
    var inode: UInt64 { claim.identity.inode }

    /// Locks the container in `place` without waiting.
    ///
    /// - Throws: ``MigrationError`` of code `containerBusy` if someone else holds it, and of code
    ///   `containerInvalid` if it can't be used.
    package init(_ place: ContainerPlace, for use: Use) throws(MigrationError) {
        let path = place.path
        for _ in 0..<Self.attempts {
            do throws(SystemError) {
                let file = OpenFile(try FileDescriptor.open(path, .directory))
                let claimed = try LockClaim.make(locking: file, for: use)
                guard try FileDescriptor.status(atPath: path).identity == claimed.identity else {
                    continue
                }
                self.place = place
                directory = file
                root = try place.openContainer(in: file)
                claim = claimed
            } catch {
                throw Self.failure(error, at: path)
            }
            try checkIsOfOneMount(for: use)
            return
        }
        throw MigrationError(.containerBusy, "the container keeps being replaced", path: path)
    }

    /// Releases the lock; otherwise it ends when the last copy of its descriptor is closed.
    package func release() {
        claim.end(unlocking: directory)
    }

    /// Refuses to write to a container that is a mount point in its bundle, because files can't be
    /// moved between it and the bookkeeping.
    private func checkIsOfOneMount(for use: Use) throws(MigrationError) {
        guard use == .writing, place.isBundle else { return }
        // If the system can't tell, the rename itself fails and reports why.
        let isOfOne = (try? directory.descriptor.isOfOneMount(with: root.descriptor)) ?? true
        guard !isOfOne else { return }
        let message =
            "'AppData' is a mount point, which can't be replaced; mount the bundle instead"
        throw MigrationError(.containerInvalid, message, path: place.containerPath)
    }

    private static func failure(_ error: SystemError, at path: BytePath) -> MigrationError {
        if error.isBusy {
            let message = "the container is in use by \(holders(of: path))"
            return MigrationError(.containerBusy, message, path: path)
        }
        if error.isMissing {
            return MigrationError(.containerInvalid, "there is no container", path: path)
        }
        if error.isNotDirectory {
            let message = "the container is a file or a link, not a directory"
            return MigrationError(.containerInvalid, message, path: path)
        }
        let message = "the container can't be opened"
        return MigrationError(.containerInvalid, message, path: path, cause: error)
    }

    /// The processes that hold the container at `path`, in words for a message.
    private static func holders(of path: BytePath) -> String {
        // The names in the message are optional.
        let identity = try? FileDescriptor.status(atPath: path).identity
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

/// How long an operation waits for a container that someone else holds.
package struct LockWait: Sendable {
    private static let interval = 0.02

    /// The longest wait for other processes.
    let limit: Duration

    /// Whether it also waits, without limit, for other operations of this process.
    let queues: Bool

    /// Ends the wait when raised.
    let cancellation: CancellationFlag

    /// Called once with the reason for the wait.
    let handler: (@Sendable (MigrationError) -> Void)?

    package init(
        limit: Duration,
        queues: Bool = false,
        cancellation: CancellationFlag = CancellationFlag(),
        handler: (@Sendable (MigrationError) -> Void)? = nil
    ) {
        (self.limit, self.queues, self.cancellation) = (limit, queues, cancellation)
        self.handler = handler
    }

    /// Locks the container for writing, as soon as it is free.
    ///
    /// - Throws: ``MigrationError``; `CancellationError`.
    package func lockForWriting(_ container: MigrationDataContainer) throws -> ContainerLock {
        let place = container.place
        return try untilFree(place.path) { () throws(MigrationError) in
            try ContainerLock(place, for: .writing)
        }
    }

    /// Recovers the container and locks it for reading, as soon as only readers hold it.
    ///
    /// - Throws: ``MigrationError``; `CancellationError`.
    package func lockForReading(_ container: MigrationDataContainer) throws -> ContainerLock {
        let place = container.place
        return try untilFree(place.path) { () throws(MigrationError) in
            try ContainerRecovery.lockWhole(place, for: .reading)
        }
    }

    /// Repeats `body` until it no longer throws `containerBusy` for the container locked at `path`.
    ///
    /// - Throws: The error of `body`, including `containerBusy` when the time is up;
    ///   `CancellationError`.
    package func untilFree<Value>(
        _ path: BytePath,
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
                // The holder may have released it since.
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
        let message = "\(error.message), even after waiting \(limit.text)"
        return MigrationError(error.code, message, path: error.bytePath, cause: error.cause)
    }
}

/// A note that an operation of this process holds a container.
private final class LockClaim: Sendable {
    private struct State {
        var held: [FileStatus.Identity: Int] = [:]
        var endCount = 0
    }

    /// Guards locking and unlocking, so that it knows every lock of this process.
    private static let state = Monitor(State())

    let identity: FileStatus.Identity
    private let isOpen = Monitor(true)

    private init(on identity: FileStatus.Identity) {
        self.identity = identity
    }

    deinit { end(unlocking: nil) }

    /// Locks the open directory without waiting.
    static func make(
        locking file: OpenFile,
        for use: ContainerLock.Use
    ) throws(SystemError) -> LockClaim {
        let identity = try file.descriptor.status().identity
        return try state.withLock { state throws(SystemError) in
            try lock(file, for: use)
            state.held[identity, default: 0] += 1
            return LockClaim(on: identity)
        }
    }

    private static func lock(
        _ file: OpenFile,
        for use: ContainerLock.Use
    ) throws(SystemError) {
        let (app, reading) = (0, 1)
        switch use {
        case .writing: try file.descriptor.lock(.exclusive)
        case .app: try share(file, marking: app, unlessMarked: reading)
        case .reading: try share(file, marking: reading, unlessMarked: app)
        }
    }

    /// Sets its mark before it looks for others, so that of two that begin at the same time, at
    /// most one continues.
    private static func share(
        _ file: OpenFile,
        marking mark: Int,
        unlessMarked rival: Int
    ) throws(SystemError) {
        try file.descriptor.lock(.shared)
        do throws(SystemError) {
            try file.descriptor.mark(mark)
            if try file.descriptor.isMarkedElsewhere(rival) { throw .busy }
        } catch {
            file.descriptor.unlock()
            throw error
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

    /// How many locks of this process have been released.
    static var endCount: Int { state.withLock { $0.endCount } }

    static func isHeld(_ path: BytePath) -> Bool {
        // A directory whose status can't be read can't be held by this process.
        guard let identity = try? FileDescriptor.status(atPath: path).identity else {
            return false
        }
        return state.withLock { $0.held[identity] != nil }
    }
}
