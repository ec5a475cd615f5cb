/// The streams that a command speaks through.
struct Console: Sendable {
    /// Where the answer goes.
    let output: TextOutput

    /// Where messages and progress go.
    let errors: TextOutput

    /// The standard streams that were closed when the process started.
    let closedStreams: Set<StandardStream>

    /// Makes a console of the process's own streams.
    init(closedStreams: Set<StandardStream> = []) {
        output = TextOutput(descriptor: StandardStream.output.rawValue, capacity: 64 * 1024)
        errors = TextOutput(descriptor: StandardStream.error.rawValue, capacity: 0)
        self.closedStreams = closedStreams
    }

    /// Prints a line on standard error.
    func log(_ line: String) {
        // A message that can't be shown has nowhere else to go.
        try? errors.write(line + "\n")
    }
}
