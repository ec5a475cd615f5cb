internal import Glibc
internal import MigrationArchive
internal import MigrationSystem

/// The streams that a command writes to.
struct Console: Sendable {
    /// The stream for the answer.
    let output: TextOutput

    /// The stream for messages and progress.
    let errors: TextOutput

    /// The standard streams that were closed when the process started.
    let closedStreams: Set<StandardStream>

    /// Whether only errors, warnings and what was asked for are printed.
    private var isQuiet = false

    /// Makes a console of the process's own streams.
    init(closedStreams: Set<StandardStream> = []) {
        output = TextOutput(descriptor: StandardStream.output.rawValue, capacity: 64 * 1024)
        errors = TextOutput(descriptor: StandardStream.error.rawValue, capacity: 0)
        self.closedStreams = closedStreams
    }

    /// Prints a line on standard error.
    func log(_ line: String) {
        // If standard error fails, there is no other place for the message.
        try? errors.write(line + "\n")
    }

    /// Prints a line on standard error that is neither an error nor a warning, unless the console is quiet.
    func tell(_ line: String) {
        if !isQuiet { log(line) }
    }

    /// The same console, quiet if `isQuiet`.
    func quieted(_ isQuiet: Bool) -> Console {
        var console = self
        console.isQuiet = isQuiet
        return console
    }

    /// Writes the answer about work that is done.
    ///
    /// If the answer can't be written, the command warns of that, and its exit code is that of the work.
    func conclude(
        with answer: some Answer,
        inJSON: Bool,
        on stream: TextOutput? = nil
    ) throws {
        try conclude(on: stream ?? output) { try $0.write(answer, inJSON: inJSON) }
    }

    /// Does the same for an answer that `body` writes.
    func conclude(on stream: TextOutput, _ body: (TextOutput) throws -> Void) throws {
        do {
            try body(stream)
            try stream.flush()
        } catch let error as OutputError {
            stream.giveUp()
            log("migrate: warning: the answer is lost: \(error)")
        }
    }

    /// A handler that names each entry on standard error; `nil` unless the command `isVerbose`.
    func entryLog(isVerbose: Bool) -> (@Sendable (ArchiveEntry) -> Void)? {
        guard isVerbose else { return nil }
        return { entry in log(entry.path.bytes.isEmpty ? "." : entry.path.description) }
    }
}

/// One of the three streams that a process is started with.
enum StandardStream: Int32, CaseIterable, Sendable {
    case input
    case output
    case error

    /// Whether the stream is a terminal.
    var isTerminal: Bool { isatty(rawValue) == 1 }

    /// Opens `/dev/null` in place of each closed stream, and returns the closed streams.
    ///
    /// Otherwise the next opened file would get the stream's number and receive its output.
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

    /// The width of the terminal in columns; `nil` if the stream is not a terminal.
    var columns: Int? {
        var size = winsize()
        guard ioctl(rawValue, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
        return Int(size.ws_col)
    }
}
