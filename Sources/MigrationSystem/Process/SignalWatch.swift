internal import Glibc
internal import Synchronization

/// Turns the signals that ask a process to end into one call, so that a command can clean up.
///
/// Signal handlers pass each signal through a pipe to a thread, which may do more than a handler.
/// Blocking the signals and waiting for them would not work: a thread of a library could receive
/// them. A second signal changes nothing; the cleanup continues.
package final class SignalWatch: Sendable {
    private struct State: Sendable {
        var received: Int32?
        var handler: (@Sendable () -> Void)?
        var forwarding: (@Sendable (Int32) -> Void)?
    }

    /// The signal actions at the start of the process, for a program that replaces it.
    private struct InheritedSignals: Sendable {
        var mask = sigset_t()
        var actions: [Int32: sigaction] = [:]
    }

    /// Cancelled by the first signal, for waits that end with it.
    package static let interruption = CancellationFlag()

    private let state = Monitor(State())
    private let inherited: InheritedSignals

    private init(_ inherited: InheritedSignals) {
        self.inherited = inherited
    }

    /// The signal that an interrupt from the terminal sends.
    package static let interrupt = SIGINT

    /// The signal that a write to a pipe without a reader sends.
    package static let brokenPipe = SIGPIPE

    /// The signals of a broken pipe and of a file at its size limit, which become failed writes
    /// here.
    private static let ofWrites = [SIGPIPE, SIGXFSZ]

    /// Starts to watch, and lets impossible writes fail instead of raising a signal.
    package static func start() throws(Surroundings.Shortage) -> SignalWatch {
        var ends: [Int32] = [-1, -1]
        guard unsafe pipe(&ends) == 0 else {
            throw Surroundings.Shortage(description: "can't make a pipe: \(SystemError("pipe"))")
        }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        _ = fcntl(ends[1], F_SETFL, O_NONBLOCK)
        signalPipe.store(ends[1], ordering: .sequentiallyConsistent)
        var inherited = InheritedSignals()
        unsafe pthread_sigmask(SIG_BLOCK, nil, &inherited.mask)
        for number in ofWrites { inherited.actions[number] = replaceAction(of: number, SIG_IGN) }
        for number in [SIGINT, SIGTERM, SIGHUP] where !isIgnored(number) {
            inherited.actions[number] = replaceAction(of: number, passOn)
        }
        let watch = SignalWatch(inherited)
        let source = ends[0]
        do throws(SystemError) {
            try SystemThread.start(named: "migrate signals") {
                watch.takeSignals(from: source)
            }
        } catch {
            throw Surroundings.Shortage(description: "can't start a thread: \(error)")
        }
        return watch
    }

    /// The first signal that came, if any.
    package var received: Int32? { state.withLock { $0.received } }

    /// Calls `handler` when the first signal comes, or at once if one has come.
    package func onSignal(_ handler: @escaping @Sendable () -> Void) {
        let hasCome = state.withLock { state in
            state.handler = handler
            return state.received != nil
        }
        if hasCome { handler() }
    }

    /// From now on, passes every signal to `forwarding`, which sends it to another process.
    package func forward(_ forwarding: @escaping @Sendable (Int32) -> Void) {
        let pending = state.withLock { state in
            state.forwarding = forwarding
            return state.received
        }
        if let pending { forwarding(pending) }
    }

    /// The signal actions at the start of the process, for a program that this process starts.
    package var inheritedSignals: ForegroundProcess.Signals {
        let defaults = Self.ofWrites.filter { number in
            let handler = unsafe inherited.actions[number]?.__sigaction_handler.sa_handler
            return unsafe unsafeBitCast(handler, to: Int.self)
                == unsafeBitCast(SIG_DFL, to: Int.self)
        }
        return ForegroundProcess.Signals(mask: inherited.mask, defaults: defaults)
    }

    /// Restores the signal actions of the start, for a program that replaces this one.
    package func restoreInherited() {
        for (number, action) in inherited.actions {
            var action = action
            unsafe sigaction(number, &action, nil)
        }
        var mask = inherited.mask
        unsafe pthread_sigmask(SIG_SETMASK, &mask, nil)
        // A signal that came before now takes its original effect.
        let missed = firstSignal.load(ordering: .sequentiallyConsistent)
        if missed != 0 { kill(getpid(), missed) }
    }

    private func takeSignals(from source: Int32) {
        var byte: UInt8 = 0
        while true {
            guard unsafe read(source, &byte, 1) == 1 else { continue }
            let number = Int32(byte)
            let handler = state.withLock { state -> (@Sendable () -> Void)? in
                if let forwarding = state.forwarding { return { forwarding(number) } }
                guard state.received == nil else { return nil }
                state.received = number
                Self.interruption.cancel()
                return state.handler
            }
            handler?()
        }
    }
}

// MARK: - Actions

/// The end of the pipe that signal handlers write to.
private let signalPipe = Atomic<Int32>(-1)

/// The first signal that came, stored before the reading thread sees it.
private let firstSignal = Atomic<Int32>(0)

/// Stores the signal and writes it to the pipe; both are safe in a signal handler.
private func passOn(_ number: Int32) {
    let error = errno
    _ = firstSignal.compareExchange(
        expected: 0,
        desired: number,
        ordering: .sequentiallyConsistent
    )
    var byte = UInt8(truncatingIfNeeded: number)
    _ = unsafe write(signalPipe.load(ordering: .relaxed), &byte, 1)
    errno = error
}

extension SignalWatch {
    private static func replaceAction(of number: Int32, _ handler: __sighandler_t) -> sigaction {
        var (action, previous) = (sigaction(), sigaction())
        unsafe action.__sigaction_handler.sa_handler = handler
        action.sa_flags = SA_RESTART
        unsafe sigaction(number, &action, &previous)
        return previous
    }

    /// Whether the parent process made this one ignore the signal, as `nohup` does.
    private static func isIgnored(_ number: Int32) -> Bool {
        var action = sigaction()
        unsafe sigaction(number, nil, &action)
        let handler = unsafe unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
        return unsafe handler == unsafeBitCast(SIG_IGN, to: Int.self)
    }
}
