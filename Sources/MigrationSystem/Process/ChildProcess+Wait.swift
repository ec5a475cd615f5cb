internal import Glibc

extension ChildProcess {
    /// What a child can be waited for.
    package struct Events: OptionSet, Sendable {
        package let rawValue: Int

        package init(rawValue: Int) {
            self.rawValue = rawValue
        }

        /// There is something to read from ``ChildProcess/connection``, or nobody at its other end.
        package static let message = Events(rawValue: 1)
        /// There is something to read from ``ChildProcess/output``, or nobody writes there any more.
        package static let output = Events(rawValue: 2)
        /// The child has ended; what it started is being ended.
        package static let exit = Events(rawValue: 4)
        /// The child takes more through ``ChildProcess/connection``, or is not at its other end.
        package static let room = Events(rawValue: 8)
    }

    /// Waits until one of `events` is there; returns those that are, none where `timeout` passes or
    /// `cancellation` comes.
    ///
    /// An end is an event that stays: who has read to the end of the output no longer waits for it.
    package func wait(
        for events: Events,
        timeout: Duration,
        or cancellation: CancellationEvent? = nil
    ) throws(SystemError) -> Events {
        var requests = [
            request(connection, .message, in: events),
            request(output, .output, in: events),
            request(control, .exit, in: events),
            request(connection, .room, in: events),
            pollfd(fd: cancellation?.rawValue ?? -1, events: Int16(POLLIN), revents: 0),
        ]
        try wait(for: &requests, timeout: timeout)
        let all: [Events] = [.message, .output, .exit, .room]
        return Events(zip(all, requests).filter { $0.1.revents != 0 }.map(\.0))
    }

    /// Waits until the supervisor has ended; returns whether it has before `timeout` passed.
    func waitForSupervisor(timeout: Duration) throws(SystemError) -> Bool {
        // Without an event there is still the other end's hanging up.
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

    /// A descriptor below zero is passed over.
    private func request(_ file: OpenFile, _ event: Events, in events: Events) -> pollfd {
        let number = events.contains(event) ? file.descriptor.rawValue : -1
        return pollfd(fd: number, events: Int16(event == .room ? POLLOUT : POLLIN), revents: 0)
    }
}

extension Duration {
    /// The time in whole milliseconds, never less than it is, as `poll(2)` takes it.
    fileprivate var pollTimeout: Int32 {
        let (seconds, attoseconds) = components
        if seconds < 0 || attoseconds < 0 { return 0 }
        if seconds >= 1_000_000 { return 1_000_000_000 }
        return Int32(seconds * 1000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
    }
}
