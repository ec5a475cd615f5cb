import Glibc
import MigrationSystem

/// One of the three streams that a process is started with.
enum StandardStream: Int32, CaseIterable, Sendable {
    case input
    case output
    case error

    /// Whether a person sits at the other end.
    var isTerminal: Bool { isatty(rawValue) == 1 }

    /// Opens `/dev/null` in place of the streams that are closed, and returns which they were.
    ///
    /// Else the next file that is opened gets the number, and what is printed lands in it.
    static func replaceClosed() -> Set<StandardStream> {
        var closed: Set<StandardStream> = []
        for stream in allCases where fcntl(stream.rawValue, F_GETFD) == -1 && errno == EBADF {
            closed.insert(stream)
            guard open("/dev/null", O_RDWR) == stream.rawValue else {
                Surroundings.end("/dev/null can't be opened: \(SystemError("open"))")
            }
        }
        return closed
    }

    /// The width of the terminal in columns; `nil` where the stream is none.
    var columns: Int? {
        var size = winsize()
        guard ioctl(rawValue, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
        return Int(size.ws_col)
    }
}
