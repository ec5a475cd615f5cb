import Glibc
import MigrationSystem

/// A buffered stream of text to a file descriptor, for answers and for messages.
final class TextOutput: Sendable {
    private struct State: Sendable {
        var buffer: [UInt8] = []
        var failure: OutputError?
        var lastLine = ""
    }

    private let descriptor: Int32
    private let capacity: Int
    private let state = Monitor(State())

    /// Makes a stream that writes whenever it holds `capacity` bytes; 0 writes at once.
    init(descriptor: Int32, capacity: Int) {
        self.descriptor = descriptor
        self.capacity = capacity
    }

    /// The failure that ended the stream, if one did.
    var failure: OutputError? { state.withLock { $0.failure } }

    /// Appends `text`.
    func write(_ text: String) throws(OutputError) {
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

    /// Keeps `line` below all that is written to the terminal, in the place of the line before.
    ///
    /// While there is one, what is written is whole lines; an empty one is none.
    func showLastLine(_ line: String) throws(OutputError) {
        try state.withLock { state throws(OutputError) in
            state.lastLine = line
            let text = line.isEmpty ? Self.erasure : Self.drawing(line)
            state.buffer.append(contentsOf: text.utf8)
            try drain(&state)
        }
    }

    private static let erasure = "\r\u{1B}[K"

    /// The cursor waits at the start, where an answer on the same terminal overwrites the line.
    private static func drawing(_ line: String) -> String {
        "\r\(line)\u{1B}[K\r"
    }

    /// Writes what the buffer holds.
    func flush() throws(OutputError) {
        try state.withLock { state throws(OutputError) in try drain(&state) }
    }

    private func drain(_ state: inout State) throws(OutputError) {
        if let failure = state.failure { throw failure }
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

    /// Writes at most as much as a pipe takes without blocking, so that a signal can end the wait.
    private func writePart(of bytes: [UInt8], from start: Int) throws(OutputError) -> Int {
        try waitUntilWritable()
        let count = min(bytes.count - start, 4096)
        let written = bytes.withUnsafeBytes {
            Glibc.write(descriptor, $0.baseAddress?.advanced(by: start), count)
        }
        if written >= 0 { return written }
        switch errno {
        case EINTR, EAGAIN: return 0
        case EPIPE: throw .brokenPipe
        default: throw .failed(SystemError("write"))
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
