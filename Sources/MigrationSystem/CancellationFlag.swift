internal import CMigrationShims
internal import Glibc
internal import Synchronization

/// A request to stop that any thread can make and every thread of an operation sees.
package final class CancellationFlag: Sendable {
    private let isRaised = Atomic(false)
    private let parent: CancellationFlag?
    private let handlers = Monitor<[ObjectIdentifier: @Sendable () -> Void]>([:])

    /// Makes a flag that is raised by itself, or when `parent` is.
    package init(following parent: CancellationFlag? = nil) {
        self.parent = parent
    }

    /// Whether the operation should stop.
    package var isCancelled: Bool {
        isRaised.load(ordering: .relaxed) || parent?.isCancelled ?? false
    }

    /// Asks every operation that uses this flag to stop.
    package func cancel() {
        isRaised.store(true, ordering: .sequentiallyConsistent)
        for handler in handlers.withLock({ Array($0.values) }) { handler() }
    }

    /// Whether the operation should stop, or is asked to within `seconds`.
    package func isCancelled(within seconds: Double) -> Bool {
        let wait = Monitor(())
        let observation = observe { wait.wake() }
        return withExtendedLifetime(observation) {
            wait.wait(atMost: seconds) { _ in isCancelled }
        }
    }

    /// Throws `CancellationError` if the operation should stop.
    package func check() throws {
        if isCancelled { throw CancellationError() }
    }

    /// Calls `handler` when the flag is raised, or immediately if it already is.
    ///
    /// It may be called twice, and again just after the observation is released.
    package func observe(_ handler: @escaping @Sendable () -> Void) -> Observation {
        let observation = Observation(of: self)
        let identifier = ObjectIdentifier(observation)
        var flag: CancellationFlag? = self
        while let current = flag {
            current.handlers.withLock { $0[identifier] = handler }
            flag = current.parent
        }
        if isCancelled { handler() }
        return observation
    }

    /// Keeps a handler with a flag for as long as it lives.
    package final class Observation: Sendable {
        private let flag: CancellationFlag

        fileprivate init(of flag: CancellationFlag) {
            self.flag = flag
        }

        deinit {
            var flag: CancellationFlag? = flag
            while let current = flag {
                _ = current.handlers.withLock { $0.removeValue(forKey: ObjectIdentifier(self)) }
                flag = current.parent
            }
        }
    }
}

// MARK: - Waiting for state

extension Monitor {
    /// Waits until `body` returns a value, and returns `nil` if `cancellation` is raised first.
    package func wait<Result>(
        unless cancellation: CancellationFlag,
        until body: (inout State) -> Result?
    ) -> Result? {
        let observation = cancellation.observe { self.wake() }
        return withExtendedLifetime(observation) {
            wait { (state) -> Result?? in
                if let result = body(&state) { return result }
                return cancellation.isCancelled ? .some(nil) : nil
            }
        }
    }
}

// MARK: - Waiting for files

/// A cancellation that threads can wait for together with files.
package final class CancellationEvent: Sendable {
    private let descriptor: OpenFile
    private let observation: CancellationFlag.Observation

    /// Makes an event that is signaled permanently when `flag` is raised.
    package init(of flag: CancellationFlag) throws(SystemError) {
        let number = migration_make_event()
        guard number >= 0 else { throw SystemError("eventfd") }
        let descriptor = OpenFile(FileDescriptor(adopting: number))
        self.descriptor = descriptor
        observation = flag.observe { migration_raise_event(descriptor.descriptor.rawValue) }
    }

    /// Waits without a time limit until the file `number` is ready.
    ///
    /// - Returns: `false` if the event was signaled before the file was ready.
    package func waits(
        for number: CInt,
        until readiness: FileDescriptor.Readiness
    ) throws(SystemError) -> Bool {
        try FileDescriptor.waits(for: number, until: readiness, or: descriptor.descriptor.rawValue)
    }

    /// A file that becomes readable when the event is signaled.
    var rawValue: CInt { descriptor.descriptor.rawValue }
}

extension FileDescriptor {
    /// The condition that a thread waits for before it uses a file.
    package enum Readiness: Sendable {
        case readable, writable
    }

    /// Waits without a time limit until the file is ready.
    ///
    /// - Returns: `false` if `cancellation` was signaled before the file was ready.
    package borrowing func waits(
        until readiness: Readiness,
        or cancellation: CancellationEvent?
    ) throws(SystemError) -> Bool {
        // poll(2) ignores negative numbers.
        try Self.waits(for: rawValue, until: readiness, or: cancellation?.rawValue ?? -1)
    }

    /// Waits until the file can be read, and reads at most `count` bytes into `buffer` from `start`.
    ///
    /// - Returns: How many bytes were read, 0 at the end.
    /// - Throws: ``SystemError``; `CancellationError` if `cancellation` was signaled first.
    package borrowing func read(
        into buffer: inout [UInt8],
        from start: Int = 0,
        count: Int,
        unless cancellation: CancellationEvent?
    ) throws -> Int {
        guard try waits(until: .readable, or: cancellation) else { throw CancellationError() }
        return try read(into: &buffer, from: start, count: count)
    }

    /// The bytes that a pipe takes without waiting once it is ready (POSIX.1-2017, PIPE_BUF).
    private static let pipeUnit = 4096

    /// Writes every byte of `bytes` to a pipe, whose reader may be slow.
    ///
    /// - Throws: ``SystemError``; `CancellationError` if `cancellation` was signaled before.
    package borrowing func writeAll(
        _ bytes: Span<UInt8>,
        unless cancellation: CancellationEvent?
    ) throws {
        var rest = bytes
        while !rest.isEmpty {
            guard try waits(until: .writable, or: cancellation) else { throw CancellationError() }
            let count = min(Self.pipeUnit, rest.count)
            try writeAll(rest.extracting(first: count))
            rest = rest.extracting(droppingFirst: count)
        }
    }

    fileprivate static func waits(
        for number: CInt,
        until readiness: Readiness,
        or event: CInt
    ) throws(SystemError) -> Bool {
        let events = readiness == .readable ? Int16(POLLIN) : Int16(POLLOUT)
        var requests = [
            pollfd(fd: number, events: events, revents: 0),
            pollfd(fd: event, events: Int16(POLLIN), revents: 0),
        ]
        while unsafe poll(&requests, nfds_t(requests.count), -1) < 0 {
            guard errno == EINTR else { throw SystemError("poll") }
        }
        return requests[0].revents != 0
    }
}
