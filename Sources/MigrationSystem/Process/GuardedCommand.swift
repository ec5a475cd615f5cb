internal import CMigrationShims
internal import Glibc

/// A shell command that consumes or produces a stream, and never mistakes a truncated stream for a whole one.
///
/// A *guard*, a forked copy of this process in its own session, starts the command and also holds
/// the writing end of the stream. If this process dies before ``complete(closing:)``, by any
/// signal, the guard stops and kills the command and everything that it started, waits, and only
/// then closes the stream. If the guard dies, this process does the same. The command sees an end
/// only if both are killed at the same instant.
package final class GuardedCommand: Sendable {
    /// The direction of the stream, as the command sees it.
    package enum Direction: Sendable {
        /// It reads the stream from its standard input.
        case taking
        /// It writes the stream to its standard output.
        case giving
    }

    /// How the command ended.
    package enum Ending: Sendable, Hashable {
        /// The shell ended, with everything that it started.
        case ended(ProcessEnding)
        /// It was killed because it was cancelled.
        case cancelled
        /// The guard was killed, so the command was too.
        case guardKilled
        /// Some of its processes can't be killed; they still don't see the end of the stream.
        case outlasting
    }

    private enum Phase {
        case running
        /// The guard has closed its end of the stream.
        case closed
        case over(Ending)
    }

    private struct State {
        var phase = Phase.running
        var isCancelled = false
        var printed = PrintedTail()
    }

    /// How long the command's processes may take to end once they are killed, in seconds.
    private static let endingLimit = 10.0

    /// This process's end of the stream.
    private let stream: Monitor<OpenFile?>
    private let direction: Direction
    private let control: OpenFile
    private let output: OpenFile
    private let process: pid_t
    private let state = Monitor(State())

    /// Starts `command` by `/bin/sh -c`.
    ///
    /// - Throws: ``SystemError`` that names the call that failed, here or in the new process.
    package static func start(
        _ command: [UInt8],
        direction: Direction
    ) throws(SystemError) -> GuardedCommand {
        guard !command.contains(0) else { throw .invalid("execve") }
        guard migration_adopt_orphans() == 0 else { throw SystemError("prctl") }
        let control = try DescriptorPair.sockets()
        let stream = try DescriptorPair.pipe()
        let output = try DescriptorPair.pipe()
        let failures = try DescriptorPair.pipe()
        try output.ours.stopWaiting()
        let isTaking = direction == .taking
        let process = try startGuard(
            of: command,
            control: control.theirs.rawValue,
            failures: failures.theirs.rawValue,
            stream: isTaking ? stream.ours.rawValue : stream.theirs.rawValue,
            held: isTaking ? stream.theirs.rawValue : -1,
            output: output.theirs.rawValue
        )
        let ours = try (isTaking ? stream.theirs.duplicate() : stream.ours.duplicate())
        // While this process has the command's ends open, it can't see that the command closed them.
        try stream.ours.close()
        try stream.theirs.close()
        try control.theirs.close()
        try output.theirs.close()
        try failures.theirs.close()
        try throwFailure(of: process, told: failures.ours)
        let started = GuardedCommand(
            process,
            direction: direction,
            stream: ours,
            control: control.ours,
            output: output.ours
        )
        // The thread keeps it until the command is over.
        try SystemThread.start(named: "migrate command") { started.follow() }
        return started
    }

    /// Forks the guard, which starts `command`; returns its process number.
    private static func startGuard(
        of command: [UInt8],
        control: CInt,
        failures: CInt,
        stream: CInt,
        held: CInt,
        output: CInt
    ) throws(SystemError) -> pid_t {
        let process = CStringList([command]).withPointer { words in
            var guarded = unsafe migration_guarded(
                command: words[0].unsafelyUnwrapped,
                environment: environ,
                control: control,
                failures: failures,
                stream: stream,
                held: held,
                output: output
            )
            return unsafe migration_guard(&guarded)
        }
        guard process >= 0 else { throw SystemError("fork") }
        return process
    }

    private static func throwFailure(
        of process: pid_t,
        told failures: borrowing FileDescriptor
    ) throws(SystemError) {
        do throws(SystemError) {
            try ChildProcess.throwFailure(told: failures)
        } catch {
            waitpid(process, nil, 0)
            throw error
        }
    }

    private init(
        _ process: pid_t,
        direction: Direction,
        stream: consuming FileDescriptor,
        control: consuming FileDescriptor,
        output: consuming FileDescriptor
    ) {
        self.process = process
        self.direction = direction
        self.stream = Monitor(OpenFile(stream))
        self.control = OpenFile(control)
        self.output = OpenFile(output)
    }

    /// Another descriptor of this process's end of the stream.
    package func openStream() throws(SystemError) -> FileDescriptor {
        guard let stream = stream.withLock({ $0 }) else { throw .invalid("fcntl") }
        return try stream.descriptor.duplicate()
    }

    /// The last lines that the command printed.
    package var printedLines: [String] { state.withLock { $0.printed.lines } }

    /// How the command ended; `nil` while it runs.
    package var ending: Ending? { state.withLock { Self.ending(of: $0.phase) } }

    private static func ending(of phase: Phase) -> Ending? {
        if case .over(let ending) = phase { ending } else { nil }
    }
}

// MARK: - The end of the stream

extension GuardedCommand {
    /// Lets the command see the end of a complete stream, and waits until it has ended.
    ///
    /// - Parameters:
    ///   - close: Closes every other descriptor of this process's end of the stream.
    ///   - cancellation: Ends the command when it is raised.
    /// - Returns: How the command ended.
    package func complete(
        closing close: () -> Void,
        unless cancellation: CancellationFlag
    ) -> Ending {
        send(migration_stream_complete)
        let isClosed = state.wait { (state) -> Bool? in
            switch state.phase {
            case .running: nil
            case .closed: true
            case .over: false
            }
        }
        // If the guard has died, the command must be killed before it sees an end.
        if isClosed {
            close()
            stream.withLock { $0 = nil }
        }
        return wait(unless: cancellation)
    }

    /// Waits until the command has ended; `cancellation` ends it.
    package func wait(unless cancellation: CancellationFlag) -> Ending {
        state.wait(unless: cancellation) { Self.ending(of: $0.phase) } ?? cancel()
    }

    /// Ends the command without showing it the end of the stream, and returns when all its
    /// processes are gone.
    ///
    /// - Returns: How it ended, possibly earlier.
    @discardableResult
    package func cancel() -> Ending {
        // A command that has closed its end of the stream is about to exit by itself.
        if isPeerGone, let ending = ending(within: 1) { return ending }
        state.withLock { $0.isCancelled = true }
        send(migration_stream_cancelled)
        return ending(within: Self.endingLimit) ?? .outlasting
    }

    private func ending(within seconds: Double) -> Ending? {
        _ = state.wait(atMost: seconds) { Self.ending(of: $0.phase) != nil }
        return ending
    }

    /// Whether no process has the other end of the stream.
    private var isPeerGone: Bool {
        guard let stream = stream.withLock({ $0 }) else { return true }
        let events = Int16(direction == .taking ? POLLOUT : POLLIN)
        var request = pollfd(fd: stream.descriptor.rawValue, events: events, revents: 0)
        guard unsafe poll(&request, 1, 0) > 0 else { return false }
        return request.revents & Int16(POLLERR | POLLHUP) != 0
    }

    private func send(_ word: migration_guard_word) {
        var byte = UInt8(truncatingIfNeeded: word.rawValue)
        // A guard that has ended is seen by the thread that follows it.
        _ = unsafe Glibc.send(control.descriptor.rawValue, &byte, 1, CInt(MSG_NOSIGNAL))
    }
}

// MARK: - Following the guard

extension GuardedCommand {
    /// Handles the messages of the guard and the output of the command until the command is over.
    private func follow() {
        var message = migration_guard_message()
        while take(&message) {
            guard message.word == CInt(migration_stream_closed.rawValue) else {
                return end(.ended(ProcessEnding(status: message.status)))
            }
            state.withLock { $0.phase = .closed }
        }
        // Until then this process holds the stream.
        let spared = ChildProcess.supervisors
        let limit = CInt(Self.endingLimit * 1000)
        let isOver = unsafe migration_end_descendants(spared, spared.count, limit)
        end(isOver ? .guardKilled : .outlasting)
    }

    private func end(_ ending: Ending) {
        takeOutput()
        waitpid(process, nil, 0)
        state.withLock { state in
            let isOwnAnswer = state.isCancelled && ending == .ended(.signaled(SIGKILL))
            state.phase = .over(isOwnAnswer ? .cancelled : ending)
        }
    }

    /// Waits for a message, and reads what the command prints meanwhile; returns `false` if the guard
    /// has died.
    private func take(_ message: inout migration_guard_message) -> Bool {
        let (control, output) = (control.descriptor.rawValue, output.descriptor.rawValue)
        let size = MemoryLayout<migration_guard_message>.size
        var hasOutput = true
        while true {
            var requests = [
                pollfd(fd: control, events: Int16(POLLIN), revents: 0),
                pollfd(fd: hasOutput ? output : -1, events: Int16(POLLIN), revents: 0),
            ]
            guard unsafe poll(&requests, nfds_t(requests.count), -1) > 0 else { continue }
            if requests[1].revents != 0 { hasOutput = takeOutput() }
            guard requests[0].revents != 0 else { continue }
            // If the message can't be received, the guard counts as dead.
            let count = try? retryingOnInterrupt("recv") {
                unsafe recv(control, &message, size, CInt(MSG_WAITALL))
            }
            return count == size
        }
    }

    /// Reads what the command has printed; returns `false` at its end.
    @discardableResult
    private func takeOutput() -> Bool {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let size = buffer.count
        while true {
            let count: Int
            do throws(SystemError) {
                count = try output.descriptor.read(into: &buffer, from: 0, count: size)
            } catch {
                return error.isBusy
            }
            if count == 0 { return false }
            state.withLock { $0.printed.append(buffer[..<count]) }
        }
    }
}
