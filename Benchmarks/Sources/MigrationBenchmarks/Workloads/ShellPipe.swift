internal import Glibc

/// A shell script that works for a workload, in this process's own group.
struct ShellPipe: ~Copyable {
    private let name: String
    private let stream: UnsafeMutablePointer<FILE>

    /// Starts the script with `subject` as the variable `SUBJECT`.
    init(_ script: String, named name: String, subject: String) throws(BenchmarkError) {
        self.name = name
        setenv("SUBJECT", subject, 1)
        guard let stream = popen(script, "w") else {
            throw .system(call: "start", subject: name, code: errno)
        }
        self.stream = stream
    }

    func write(_ bytes: [UInt8]) {
        fwrite(bytes, 1, bytes.count, stream)
    }

    /// Ends the script's input and waits for its end.
    consuming func finish() throws(BenchmarkError) {
        let status = pclose(stream)
        guard status == 0 else {
            throw .failedCommand(
                name: name,
                outcome: ChildProcess.outcome(of: status),
                complaint: ""
            )
        }
    }
}
