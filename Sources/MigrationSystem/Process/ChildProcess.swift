internal import CMigrationShims
internal import Foundation
internal import Glibc

/// A program in its own process, which ends with this value and with its host.
///
/// The *supervisor*, a forked copy of the host that only runs a loop, is the parent of the program. The
/// program and all processes that it starts are the supervisor's descendants, even if they leave their
/// session or parent. The supervisor kills all of them when the program ends, when the host dies, or
/// when ``terminate(within:)`` is called.
///
/// A program whose system calls are filtered can't leave its process group, which is killed as a
/// whole. Other processes are killed one by one, so processes that keep starting others may escape
/// the supervisor. Without a sandbox, or with a Landlock version below 6, a hostile program can
/// kill the supervisor, as it can kill the host; ``terminate(within:)`` then throws an error.
package final class ChildProcess: Sendable {
    /// The number of the descriptor that is the child's end of ``connection``.
    package static let connectionNumber: Int32 = 3

    /// The descriptor with which a program asks for its grants.
    package static let grantsNumber: Int32 = 4

    /// The host's end of the socket between host and child; reading from it waits.
    package let connection: OpenFile

    /// The child's standard output and error; reading from it doesn't wait.
    package let output: OpenFile

    /// The supervisor sends the child's status here, and again when no descendant is left.
    private let control: OpenFile

    let supervisor: pid_t
    private let state = Monitor(State.running)

    /// The supervisors of this process, which must not be mistaken for processes that others left.
    private static let running = Monitor<Set<pid_t>>([])

    /// The processes of all running supervisors.
    static var supervisors: [pid_t] { running.withLock { Array($0) } }

    /// Records the supervisor that `start` makes before it can be asked for.
    static func noting<Failure: Error>(
        _ start: () throws(Failure) -> pid_t
    ) throws(Failure) -> pid_t {
        try running.withLock { running throws(Failure) in
            let process = try start()
            running.insert(process)
            return process
        }
    }

    private enum State {
        case running
        /// Processes that the child started did not end in time.
        case outlasting
        case collected
    }

    init(
        supervisor: pid_t,
        control: consuming FileDescriptor,
        connection: consuming FileDescriptor,
        output: consuming FileDescriptor
    ) {
        self.supervisor = supervisor
        self.control = OpenFile(control)
        self.connection = OpenFile(connection)
        self.output = OpenFile(output)
    }

    /// How the child ended; `nil` while it runs.
    ///
    /// If the supervisor was killed, so was the child.
    package var ending: ProcessEnding? {
        guard let statuses = sentStatuses else { return nil }
        return statuses.first.map { ProcessEnding(status: $0) } ?? .signaled(SIGKILL)
    }

    /// The statuses that the supervisor has sent; `nil` before the first.
    private var sentStatuses: ArraySlice<CInt>? {
        var statuses: [CInt] = [0, 0]
        let size = MemoryLayout<CInt>.size
        // They stay in the socket, so that every later wait sees them too.
        let flags = CInt(MSG_PEEK | MSG_DONTWAIT)
        let file = control.descriptor.rawValue
        do throws(SystemError) {
            let count = try retryingOnInterrupt("recv") {
                unsafe recv(file, &statuses, statuses.count * size, flags)
            }
            return statuses[..<(count / size)]
        } catch {
            return error.isBusy ? nil : []
        }
    }

    /// Kills the child and all processes that it started; returns when none of them is left.
    ///
    /// - Throws: ``UnfinishedEnd`` if some of them may be left.
    @discardableResult
    package func terminate(
        within limit: Duration = .seconds(10)
    ) throws(UnfinishedEnd) -> ProcessEnding {
        try state.withLock { state throws(UnfinishedEnd) in
            if state == .collected { return }
            _ = shutdown(control.descriptor.rawValue, CInt(SHUT_WR))
            guard hasSupervisorEnded(within: state == .running ? limit : .zero) else {
                state = .outlasting
                throw .outlasted(limit)
            }
            // It waits even if the host lets the system collect its children, but then it fails.
            _ = try? retryingOnInterrupt("waitpid") { waitpid(supervisor, nil, 0) }
            _ = Self.running.withLock { $0.remove(supervisor) }
            state = .collected
        }
        guard let statuses = sentStatuses, statuses.count == 2 else { throw .supervisorKilled }
        return ProcessEnding(status: statuses[0])
    }

    private func hasSupervisorEnded(within limit: Duration) -> Bool {
        do throws(SystemError) {
            return try waitForSupervisor(timeout: limit)
        } catch {
            return false
        }
    }

    deinit {
        do throws(UnfinishedEnd) {
            try terminate()
        } catch {
            guard case .outlasted = error else { return }
            // The supervisor continues; it is collected when it ends.
            Thread.detachNewThread { [supervisor] in _ = waitpid(supervisor, nil, 0) }
        }
    }
}

// MARK: - Waiting

extension ChildProcess {
    /// The events that a host can wait for.
    package struct Events: OptionSet, Sendable {
        package let rawValue: Int

        package init(rawValue: Int) {
            self.rawValue = rawValue
        }

        /// ``ChildProcess/connection`` has something to read, or its other end is closed.
        package static let message = Events(rawValue: 1)
        /// ``ChildProcess/output`` has something to read, or its other end is closed.
        package static let output = Events(rawValue: 2)
        /// The child has ended; the processes that it started are being ended.
        package static let exit = Events(rawValue: 4)
        /// ``ChildProcess/connection`` takes more bytes, or its other end is closed.
        package static let room = Events(rawValue: 8)
    }

    /// Waits for at least one of `events`; returns none if `timeout` passes or `cancellation` is
    /// signaled.
    ///
    /// The end of a stream is a lasting event: after the end of the output, don't wait for output.
    package func wait(
        for events: Events,
        timeout: Duration,
        or cancellation: CancellationEvent? = nil
    ) throws(SystemError) -> Events {
        var requests = [
            request(connection, for: .message, in: events),
            request(output, for: .output, in: events),
            request(control, for: .exit, in: events),
            request(connection, for: .room, in: events),
            pollfd(fd: cancellation?.rawValue ?? -1, events: Int16(POLLIN), revents: 0),
        ]
        try wait(for: &requests, timeout: timeout)
        let all: [Events] = [.message, .output, .exit, .room]
        return Events(zip(all, requests).filter { $0.1.revents != 0 }.map(\.0))
    }

    /// Waits until the supervisor has ended; returns `false` if `timeout` passes first.
    func waitForSupervisor(timeout: Duration) throws(SystemError) -> Bool {
        // Even without an event, poll reports that the other end was closed.
        var requests = [pollfd(fd: control.descriptor.rawValue, events: 0, revents: 0)]
        try wait(for: &requests, timeout: timeout)
        return requests[0].revents != 0
    }

    private func wait(
        for requests: inout [pollfd],
        timeout: Duration
    ) throws(SystemError) {
        let deadline = SuspendingClock.now.advanced(by: timeout)
        while true {
            let rest = SuspendingClock.now.duration(to: deadline)
            let count = unsafe poll(&requests, nfds_t(requests.count), rest.pollTimeout)
            if count < 0 && errno != EINTR { throw SystemError("poll") }
            if count > 0 || count == 0 && SuspendingClock.now >= deadline { return }
        }
    }

    /// poll ignores a negative descriptor.
    private func request(_ file: OpenFile, for event: Events, in events: Events) -> pollfd {
        let number = events.contains(event) ? file.descriptor.rawValue : -1
        return pollfd(fd: number, events: Int16(event == .room ? POLLOUT : POLLIN), revents: 0)
    }
}

extension Duration {
    /// The time in whole milliseconds, rounded up, for `poll(2)`.
    var pollTimeout: Int32 {
        let (seconds, attoseconds) = components
        if seconds < 0 || attoseconds < 0 { return 0 }
        if seconds >= 1_000_000 { return 1_000_000_000 }
        return Int32(seconds * 1000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
    }
}

// MARK: - An end that is not complete

extension ChildProcess {
    /// Why processes that the child started may be left.
    package enum UnfinishedEnd: Error, Hashable {
        /// Some did not end within this time; the supervisor continues to kill them.
        case outlasted(Duration)
        /// The supervisor was killed, and the child with it; other processes are unknown.
        case supervisorKilled
    }
}

extension ChildProcess.UnfinishedEnd: CustomStringConvertible {
    package var description: String {
        switch self {
        case .outlasted(let limit):
            "they were being killed for \(limit), and some still run or can't be killed"
        case .supervisorKilled:
            "the process that ends them was killed itself"
        }
    }
}
