internal import Glibc

/// A program that talks with this process over its standard input and output.
///
/// It stays in the process group and on the terminal of this process, so it can ask a person for a
/// password. What it writes to standard error is collected.
package final class PipedProcess: Sendable {
    /// How a program ended.
    package enum Ending: Sendable, Hashable {
        /// It returned or exited with a code.
        case exited(Int32)
        /// A signal ended it.
        case signaled(Int32)
    }

    private struct State {
        var printed = PrintedTail()
        var hasPrintedAll = false
        var ending: Ending?
    }

    /// The time that a program gets to end after it was asked to, in seconds.
    private static let endingLimit = 5.0

    /// The time that the last lines get to arrive after the program has ended, in seconds.
    private static let printingLimit = 1.0

    private let process: pid_t
    private let input: Monitor<OpenFile?>
    private let errors: OpenFile
    private let state = Monitor(State())

    /// What the program writes to its standard output.
    package let output: OpenFile

    /// Starts `command`, whose first word is found by `PATH`.
    ///
    /// - Throws: ``SystemError`` if the program can't be run.
    package static func start(_ command: [[UInt8]]) throws(SystemError) -> PipedProcess {
        let input = try DescriptorPair.pipe()
        let output = try DescriptorPair.pipe()
        let errors = try DescriptorPair.pipe()
        let process = try ForegroundProcess.spawn(
            command,
            signals: .unblocked,
            streams: [input.ours.rawValue, output.theirs.rawValue, errors.theirs.rawValue]
        )
        // While this process has the program's ends open, it can't see that the program closed them.
        try input.ours.close()
        try output.theirs.close()
        try errors.theirs.close()
        let started = PipedProcess(process, input.theirs, output.ours, errors.ours)
        do throws(SystemError) {
            try SystemThread.start(named: "migrate errors") { started.takeErrors() }
            try SystemThread.start(named: "migrate peer") { started.awaitEnd() }
        } catch {
            kill(process, SIGKILL)
            waitpid(process, nil, 0)
            throw error
        }
        return started
    }

    private init(
        _ process: pid_t,
        _ input: consuming FileDescriptor,
        _ output: consuming FileDescriptor,
        _ errors: consuming FileDescriptor
    ) {
        self.process = process
        self.input = Monitor(OpenFile(input))
        self.output = OpenFile(output)
        self.errors = OpenFile(errors)
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
    package func wait(unless cancellation: CancellationFlag) -> Ending? {
        state.wait(unless: cancellation) { $0.ending } ?? end()
    }

    /// Ends the program, unless it has ended; returns how it ended, `nil` if it still runs.
    @discardableResult
    package func end() -> Ending? {
        if let ending = ending(within: 0) { return ending }
        kill(process, SIGTERM)
        if let ending = ending(within: Self.endingLimit) { return ending }
        kill(process, SIGKILL)
        return ending(within: Self.endingLimit)
    }

    /// How the program ended, if it does within some seconds.
    package func ending(within seconds: Double) -> Ending? {
        _ = state.wait(atMost: seconds) { $0.ending != nil }
        return state.withLock { $0.ending }
    }

    /// Collects what the program writes to standard error.
    private func takeErrors() {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let size = buffer.count
        while true {
            let count = (try? errors.descriptor.read(into: &buffer, from: 0, count: size)) ?? 0
            if count == 0 { break }
            state.withLock { $0.printed.append(buffer[..<count]) }
        }
        state.withLock { $0.hasPrintedAll = true }
    }

    private func awaitEnd() {
        var status: CInt = 0
        _ = try? retryingOnInterrupt("waitpid") { unsafe Int(waitpid(process, &status, 0)) }
        let signal = status & 0x7F
        let ending: Ending = signal == 0 ? .exited(status >> 8 & 0xFF) : .signaled(signal)
        // A process that it left behind, such as ssh's shared connection, may hold standard error open.
        _ = state.wait(atMost: Self.printingLimit) { $0.hasPrintedAll }
        state.withLock { $0.ending = ending }
    }
}
