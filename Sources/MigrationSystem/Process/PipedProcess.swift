internal import CMigrationShims
internal import Glibc

/// A program that communicates with this process over its standard input and output.
///
/// It stays in the process group and on the terminal of this process, so it can ask a person for a
/// password. Its standard error is collected. It ends when this process does.
package final class PipedProcess: Sendable {
    private struct State {
        /// The number of the process, or why there is none; `nil` before the attempt.
        var start: Result<pid_t, SystemError>?
        var printed = PrintedTail()
        var hasPrintedAll = false
        var ending: ProcessEnding?
    }

    /// The time limit for a program to end when asked to, in seconds.
    private static let endingLimit = 5.0

    /// The time limit for the last lines to arrive after the program has ended, in seconds.
    private static let printingLimit = 1.0

    private let input: Monitor<OpenFile?>
    private let errors: OpenFile
    private let state = Monitor(State())

    /// The program's standard output.
    package let output: OpenFile

    /// Starts `command`, whose first word is found by `PATH`.
    ///
    /// - Parameters:
    ///   - command: The program and its arguments.
    ///   - source: The program's standard input, if it is a file.
    ///   - files: The program's descriptors from 3 on.
    ///   - showsErrors: Whether standard error is this process's own.
    /// - Returns: The running program.
    /// - Throws: ``SystemError`` if the program can't be run.
    package static func start(
        _ command: [[UInt8]],
        reading source: OpenFile? = nil,
        files: [OpenFile] = [],
        showsErrors: Bool = false
    ) throws(SystemError) -> PipedProcess {
        guard !command.isEmpty, !command.joined().contains(0) else { throw .invalid("execvp") }
        let input = try DescriptorPair.pipe()
        let output = try DescriptorPair.pipe()
        let errors = try DescriptorPair.pipe()
        let failures = try DescriptorPair.pipe()
        let streams =
            [
                source?.descriptor.rawValue ?? input.ours.rawValue, output.theirs.rawValue,
                showsErrors ? STDERR_FILENO : errors.theirs.rawValue,
            ] + files.map { $0.descriptor.rawValue }
        let told = failures.theirs.rawValue
        let started = PipedProcess(input.theirs, output.ours, errors.ours)
        try SystemThread.start(named: "migrate errors") { started.takeErrors() }
        // The thread lives as long as the program, which the system ends with the thread.
        try SystemThread.start(named: "migrate peer") {
            started.run(command, streams: streams, failures: told)
        }
        let start = started.state.wait { $0.start }
        // While this process has the program's ends open, it can't see that the program closed them.
        try input.ours.close()
        try output.theirs.close()
        try errors.theirs.close()
        try failures.theirs.close()
        if source != nil { started.closeInput() }
        _ = try start.get()
        try ChildProcess.throwFailure(told: failures.ours)
        return started
    }

    private init(
        _ input: consuming FileDescriptor,
        _ output: consuming FileDescriptor,
        _ errors: consuming FileDescriptor
    ) {
        self.input = Monitor(OpenFile(input))
        self.output = OpenFile(output)
        self.errors = OpenFile(errors)
    }

    /// Starts the program in the calling thread, and waits until it has ended.
    private func run(_ command: [[UInt8]], streams: [CInt], failures: CInt) {
        let process = CStringList(command).withPointer { words in
            unsafe migration_start_piped(words, streams, CUnsignedInt(streams.count), failures)
        }
        guard process >= 0 else {
            let error = SystemError("fork")
            return state.withLock { $0.start = .failure(error) }
        }
        state.withLock { $0.start = .success(process) }
        awaitEnd(of: process)
    }

    /// Another descriptor of the program's standard input, for writing.
    package func openInput() throws(SystemError) -> FileDescriptor {
        guard let input = input.withLock({ $0 }) else { throw .invalid("fcntl") }
        return try input.descriptor.duplicate()
    }

    /// Lets the program see the end of its input, once every other descriptor of it is closed.
    package func closeInput() { input.withLock { $0 = nil } }

    /// The last lines that the program wrote to standard error.
    package var printedLines: [String] { state.withLock { $0.printed.lines } }

    /// Waits until the program has ended.
    ///
    /// - Parameter cancellation: Ends the program when it is raised.
    /// - Returns: How the program ended; `nil` if it still runs.
    package func wait(unless cancellation: CancellationFlag) -> ProcessEnding? {
        state.wait(unless: cancellation) { $0.ending } ?? end()
    }

    /// Ends the program, unless it has ended; returns how it ended, `nil` if it still runs.
    @discardableResult
    package func end() -> ProcessEnding? {
        if let ending = ending(within: 0) { return ending }
        send(SIGTERM)
        if let ending = ending(within: Self.endingLimit) { return ending }
        send(SIGKILL)
        return ending(within: Self.endingLimit)
    }

    /// How the program ended, if it does within some seconds.
    package func ending(within seconds: Double) -> ProcessEnding? {
        _ = state.wait(atMost: seconds) { $0.ending != nil }
        return state.withLock { $0.ending }
    }

    private func send(_ signal: CInt) {
        guard case .success(let process) = state.withLock({ $0.start }) else { return }
        kill(process, signal)
    }

    /// Collects what the program writes to standard error.
    private func takeErrors() {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let size = buffer.count
        while true {
            // If standard error can't be read, a message only lacks the program's last output.
            let count = (try? errors.descriptor.read(into: &buffer, from: 0, count: size)) ?? 0
            if count == 0 { break }
            state.withLock { $0.printed.append(buffer[..<count]) }
        }
        state.withLock { $0.hasPrintedAll = true }
    }

    private func awaitEnd(of process: pid_t) {
        var status: CInt = 0
        // Waiting fails only if there is no such child, and nobody else waits for this one.
        _ = try? retryingOnInterrupt("waitpid") { unsafe Int(waitpid(process, &status, 0)) }
        let ending = ProcessEnding(status: status)
        // A process that it left behind, such as ssh's shared connection, may hold standard error open.
        _ = state.wait(atMost: Self.printingLimit) { $0.hasPrintedAll }
        state.withLock { $0.ending = ending }
    }
}

// MARK: - An answer

extension PipedProcess {
    /// The error for output beyond the limit.
    package struct OutputTooLong: Error {}

    /// Reads what the program writes to its standard output, until it has ended.
    ///
    /// - Parameters:
    ///   - limit: The maximum number of bytes that it may write.
    ///   - seconds: The time limit; `nil` for a program that waits for a person.
    ///   - cancellation: Ends the program when it is raised.
    /// - Returns: The output, and how the program ended; `nil` if it was ended because of the time.
    /// - Throws: ``SystemError``, ``OutputTooLong``, and `CancellationError`; the program has ended then.
    package func answer(
        limit: Int,
        within seconds: Double?,
        cancellation: CancellationFlag
    ) throws -> (output: [UInt8], ending: ProcessEnding?) {
        defer { end() }
        let event = try CancellationEvent(of: cancellation)
        let deadline = seconds.map { SuspendingClock.now.advanced(by: .seconds($0)) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while bytes.count <= limit {
            try cancellation.check()
            guard try output.waits(until: deadline, or: event) else { return (bytes, nil) }
            if cancellation.isCancelled { continue }
            let count = try output.descriptor.read(into: &buffer, from: 0, count: 4096)
            if count == 0 {
                let ending = wait(unless: cancellation)
                try cancellation.check()
                return (bytes, ending)
            }
            bytes += buffer[..<count]
        }
        throw OutputTooLong()
    }
}

extension OpenFile {
    /// Waits until the file can be read or `event` is signaled; returns `false` if the time has passed.
    fileprivate func waits(
        until deadline: SuspendingClock.Instant?,
        or event: CancellationEvent
    ) throws(SystemError) -> Bool {
        var requests = [descriptor.rawValue, event.rawValue].map {
            pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
        }
        while true {
            let rest = deadline.map { SuspendingClock.now.duration(to: $0).pollTimeout }
            let count = unsafe poll(&requests, 2, rest ?? -1)
            if count < 0 && errno != EINTR { throw SystemError("poll") }
            if count > 0 { return true }
            if count == 0 { return false }
        }
    }
}
