internal import Glibc

/// Asks for passphrases without leaving copies in memory.
package enum SecretInput {
    /// Reads a line from the terminal without echo; `nil` if it is longer than `limit`.
    ///
    /// - Throws: ``SystemError``; `CancellationError` if `cancellation` ends the wait.
    package static func line(
        prompt: String,
        limit: Int,
        cancellation: CancellationFlag
    ) throws -> [UInt8]? {
        let event = try CancellationEvent(of: cancellation)
        let number = try retryingOnInterrupt("open") {
            unsafe Glibc.open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)
        }
        let terminal = FileDescriptor(adopting: number)
        var shown = termios()
        guard unsafe tcgetattr(number, &shown) == 0 else { throw SystemError("tcgetattr") }
        var hidden = shown
        hidden.c_lflag &= ~tcflag_t(ECHO)
        hidden.c_lflag |= tcflag_t(ICANON | ECHONL)
        guard unsafe tcsetattr(number, TCSAFLUSH, &hidden) == 0 else {
            throw SystemError("tcsetattr")
        }
        defer { _ = unsafe tcsetattr(number, TCSAFLUSH, &shown) }
        try terminal.writeAll([UInt8](prompt.utf8).span)
        var bytes = [UInt8](repeating: 0, count: limit + 1)
        var filled = 0
        while filled < bytes.count {
            let count = try terminal.read(
                into: &bytes,
                from: filled,
                count: bytes.count - filled,
                unless: event
            )
            filled += count
            if count == 0 || bytes[filled - 1] == UInt8(ascii: "\n") { break }
        }
        bytes.removeLast(bytes.count - filled)
        return filled > limit ? nil : bytes
    }
}
