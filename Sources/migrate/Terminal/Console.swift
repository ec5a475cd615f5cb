internal import MigrationArchive
internal import MigrationReports
internal import MigrationSystem

/// The streams that a command writes to.
struct Console: Sendable {
    /// The stream for the answer.
    let output: TextOutput

    /// The stream for messages and progress.
    let errors: TextOutput

    /// The standard streams that were closed when the process started.
    let closedStreams: Set<StandardStream>

    /// Whether only errors, warnings and requested output are printed.
    private var isQuiet = false

    /// Makes a console of the process's own streams.
    init(closedStreams: Set<StandardStream> = []) {
        output = TextOutput(descriptor: StandardStream.output.rawValue, capacity: 64 * 1024)
        errors = TextOutput(descriptor: StandardStream.error.rawValue, capacity: 0)
        self.closedStreams = closedStreams
    }

    /// Prints a line on standard error.
    func log(_ line: String) {
        // If standard error fails, the message can't be shown elsewhere.
        try? errors.write(line + "\n")
    }

    /// Prints a warning about `error`.
    func warn(of error: any Error) { log("migrate: warning: \(ErrorMessage(error))") }

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

    /// Calls `body` to write an answer about finished work.
    ///
    /// If that fails, the command warns, and its exit code is that of the work.
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
