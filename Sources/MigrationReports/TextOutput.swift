package import MigrationSystem

/// A buffered text stream to a file descriptor, for answers and for messages.
package final class TextOutput: Sendable {
    private struct State: Sendable {
        var buffer: [UInt8] = []
        var failure: OutputError?
        var lastLine = ""
        var isGivenUp = false
    }

    private let descriptor: Int32
    private let capacity: Int
    private let state = Monitor(State())

    /// Makes a stream that writes whenever it holds `capacity` bytes; 0 writes at once.
    package init(descriptor: Int32, capacity: Int) {
        self.descriptor = descriptor
        self.capacity = capacity
    }

    /// The failure that ended the stream, if any.
    package var failure: OutputError? { state.withLock { $0.failure } }

    /// Appends `text`.
    package func write(_ text: String) throws(OutputError) {
        try state.withLock { state throws(OutputError) in
            if state.lastLine.isEmpty {
                state.buffer.append(contentsOf: text.utf8)
            } else {
                let line = Self.drawing(state.lastLine)
                state.buffer.append(contentsOf: (Self.erasure + text + line).utf8)
            }
            if state.buffer.count >= capacity { try drain(&state) }
        }
    }

    /// Appends the text that `body` appends to the buffer; it must be whole lines.
    package func write(_ body: (inout [UInt8]) -> Void) throws(OutputError) {
        try state.withLock { state throws(OutputError) in
            if state.lastLine.isEmpty {
                body(&state.buffer)
            } else {
                state.buffer.append(contentsOf: Self.erasure.utf8)
                body(&state.buffer)
                state.buffer.append(contentsOf: Self.drawing(state.lastLine).utf8)
            }
            if state.buffer.count >= capacity { try drain(&state) }
        }
    }

    /// Appends bytes of a file; no line may be kept below them.
    package func write(_ bytes: Span<UInt8>) throws(OutputError) {
        try state.withLock { state throws(OutputError) in
            state.buffer.append(copying: bytes)
            if state.buffer.count >= capacity { try drain(&state) }
        }
    }

    /// Keeps `line` below everything that is written to the terminal, replacing the line before.
    ///
    /// While such a line is shown, callers write whole lines only. An empty line removes it.
    package func showLastLine(_ line: String) throws(OutputError) {
        try state.withLock { state throws(OutputError) in
            state.lastLine = line
            let text = line.isEmpty ? Self.erasure : Self.drawing(line)
            state.buffer.append(contentsOf: text.utf8)
            try drain(&state)
        }
    }

    private static let erasure = "\r\u{1B}[K"

    /// The cursor stays at the start, so an answer on the same terminal overwrites the line.
    private static func drawing(_ line: String) -> String {
        "\r\(line)\u{1B}[K\r"
    }

    /// Forgets a failure, and discards everything that is written from now on.
    package func giveUp() {
        state.withLock { state in
            (state.failure, state.isGivenUp) = (nil, true)
        }
    }

    /// Writes the buffer's content.
    package func flush() throws(OutputError) {
        try state.withLock { state throws(OutputError) in try drain(&state) }
    }

    private func drain(_ state: inout State) throws(OutputError) {
        if let failure = state.failure { throw failure }
        if state.isGivenUp { return state.buffer.removeAll() }
        do throws(OutputError) {
            var position = 0
            while position < state.buffer.count {
                position += try writePart(of: state.buffer, from: position)
            }
            state.buffer.removeAll(keepingCapacity: true)
        } catch {
            state.failure = error
            state.buffer = []
            throw error
        }
    }

    private static let interruption = Result { () throws(SystemError) in
        try CancellationEvent(of: SignalWatch.interruption)
    }

    /// Writes at most as much as a pipe accepts without blocking, so that a signal can end the
    /// wait.
    private func writePart(of bytes: [UInt8], from start: Int) throws(OutputError) -> Int {
        try waitUntilWritable()
        let count = min(bytes.count - start, 4096)
        do throws(SystemError) {
            return try StandardStream.write(bytes, from: start, count: count, toNumber: descriptor)
        } catch {
            throw error.isBrokenPipe ? .brokenPipe : .failed(error)
        }
    }

    private func waitUntilWritable() throws(OutputError) {
        do throws(SystemError) {
            let isReady = try Self.interruption.get().waits(for: descriptor, until: .writable)
            if isReady { return }
        } catch {
            throw .failed(error)
        }
        throw .interrupted
    }
}

// MARK: - Errors

/// The reason why text could not be written.
package enum OutputError: Error, Hashable, Sendable {
    /// The stream was closed when the process started.
    case closed

    /// The reader closed the pipe.
    case brokenPipe

    /// A signal arrived while the reader was not reading.
    case interrupted

    /// The system call failed.
    case failed(SystemError)
}

extension OutputError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .closed: "standard output is closed"
        case .brokenPipe: "nobody reads standard output"
        case .interrupted: "interrupted while writing to standard output"
        case .failed(let error): "writing to standard output: \(error)"
        }
    }
}
