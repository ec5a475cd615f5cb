internal import Glibc

/// One of the three streams that a process is started with.
package enum StandardStream: Int32, CaseIterable, Sendable {
    case input
    case output
    case error

    /// Whether the stream is a terminal.
    package var isTerminal: Bool { isatty(rawValue) == 1 }

    /// Opens `/dev/null` in place of each closed stream, and returns the closed streams.
    ///
    /// Otherwise the next opened file would get the stream's number and receive its output.
    package static func replaceClosed() throws(SystemError) -> Set<StandardStream> {
        var closed: Set<StandardStream> = []
        for stream in allCases where fcntl(stream.rawValue, F_GETFD) == -1 && errno == EBADF {
            closed.insert(stream)
            guard unsafe open("/dev/null", O_RDWR) == stream.rawValue else {
                throw SystemError("open")
            }
        }
        return closed
    }

    /// The width of the terminal in columns; `nil` if the stream is not a terminal.
    package var columns: Int? {
        var size = winsize()
        guard unsafe ioctl(rawValue, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else {
            return nil
        }
        return Int(size.ws_col)
    }

    /// Writes at most `count` of `bytes` from `start` on, as many as the descriptor `number` accepts.
    ///
    /// - Returns: How many bytes were written; 0 if a signal arrived first.
    package static func write(
        _ bytes: [UInt8],
        from start: Int,
        count: Int,
        toNumber number: Int32
    ) throws(SystemError) -> Int {
        let written = unsafe bytes.withUnsafeBytes { bytes in
            unsafe Glibc.write(number, bytes.baseAddress?.advanced(by: start), count)
        }
        if written >= 0 { return written }
        let error = SystemError("write")
        guard [EINTR, EAGAIN].contains(error.code) else { throw error }
        return 0
    }
}
