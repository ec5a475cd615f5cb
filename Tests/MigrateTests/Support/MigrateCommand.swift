import Foundation
import Glibc
import TestSupport
import Testing

/// A run of the built `migrate`, with bytes for words and files for streams.
struct MigrateCommand {
    /// The other end of standard output.
    enum Output {
        /// A file, whose bytes are in the result.
        case captured
        /// Nothing: the stream is closed.
        case closed
        /// A peer that has gone.
        case withoutReader
        /// A peer that never reads.
        case unread
        /// The file at a path.
        case path(String)
    }

    /// How a run ended, and its output.
    struct Result {
        /// The exit code; `nil` if a signal ended the process.
        let exitCode: Int32?
        /// The signal that ended the process.
        let signal: Int32?
        let standardOutput: [UInt8]
        let standardError: [UInt8]

        /// Standard output as text.
        var output: String { String(decoding: standardOutput, as: UTF8.self) }

        /// Standard error as text.
        var errors: String { String(decoding: standardError, as: UTF8.self) }
    }

    /// A call to the system that failed.
    struct Failure: Error {
        let call: String
        let code: Int32
    }

    /// The program that the tests run.
    static let path = TestedProgram.path

    /// The running process.
    let process: pid_t

    private let output: StreamFile
    private let errors: StreamFile
    private let reader: StreamFile?
    private let writer: StreamFile?
    private let answerForm: AnswerForm?

    /// Runs `migrate` with `arguments` and waits for its end.
    static func run(
        _ arguments: [String],
        input: [UInt8] = [],
        environment: [String: String] = [:],
        output: Output = .captured
    ) throws -> Result {
        let words = arguments.map { [UInt8]($0.utf8) }
        return try start(words, input: input, environment: environment, output: output).wait()
    }

    /// Starts `migrate`, or another program, with words that need not be UTF-8.
    ///
    /// If `stalls` is set, standard input does not end after `input` while the process runs.
    static func start(
        _ arguments: [[UInt8]],
        program: String = path,
        input: [UInt8] = [],
        stalls: Bool = false,
        environment: [String: String] = [:],
        output: Output = .captured
    ) throws -> MigrateCommand {
        let (inputFile, writer) =
            stalls
            ? try StreamFile.makeStalling(behind: input) : (try StreamFile(holding: input), nil)
        let outputFile = try StreamFile(holding: [])
        let errorFile = try StreamFile(holding: [])
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, inputFile.descriptor, STDIN_FILENO)
        posix_spawn_file_actions_adddup2(&actions, errorFile.descriptor, STDERR_FILENO)
        let ends = try output.connect(outputFile, &actions)
        let process = try withExtendedLifetime(ends) {
            try spawn(program, arguments, environment, &actions)
        }
        return MigrateCommand(
            process: process,
            output: outputFile,
            errors: errorFile,
            reader: ends?.reader,
            writer: writer,
            answerForm: program == path ? AnswerForm(arguments) : nil
        )
    }

    /// Waits until a process whose output stays unread writes.
    func waitUntilItWrites() {
        reader?.waitUntilReadable()
    }

    /// The standard error of the running process so far.
    func errorsSoFar() throws -> [UInt8] {
        try errors.bytes()
    }

    /// Whether the running process has a handler of its own for `signal`.
    func catches(_ signal: Int32) -> Bool {
        let status = try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
        let field = status?.split(separator: "\n").first { $0.hasPrefix("SigCgt:") }
        guard let digits = field?.split(whereSeparator: \.isWhitespace).last,
            let mask = UInt64(digits, radix: 16)
        else { return false }
        return mask >> (signal - 1) & 1 == 1
    }

    /// Sends the running process a signal.
    func send(_ signal: Int32) {
        kill(process, signal)
    }

    /// Waits until the process ends.
    func wait() throws -> Result {
        var status: Int32 = 0
        while waitpid(process, &status, 0) == -1 {
            guard errno == EINTR else { throw Failure(call: "waitpid", code: errno) }
        }
        let signal = status & 0x7F
        let result = Result(
            exitCode: signal == 0 ? status >> 8 & 0xFF : nil,
            signal: signal == 0 ? nil : signal,
            standardOutput: try output.bytes(),
            standardError: try errors.bytes()
        )
        try answerForm?.expectSchemas(in: result)
        return result
    }
}

// MARK: - Starting

extension MigrateCommand {
    private static func spawn(
        _ program: String,
        _ arguments: [[UInt8]],
        _ environment: [String: String],
        _ actions: inout posix_spawn_file_actions_t
    ) throws -> pid_t {
        // The thread sanitizer would sleep for a second at the end of every process.
        let variables = ["TSAN_OPTIONS": "atexit_sleep_ms=0"]
            .merging(ProcessInfo.processInfo.environment) { $1 }
            .merging(environment) { $1 }
        let settings = variables.map { [UInt8]("\($0)=\($1)".utf8) }
        // The threads that tests run on block signals, which a child would inherit.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var mask = sigset_t()
        sigemptyset(&mask)
        posix_spawnattr_setsigmask(&attributes, &mask)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        var process: pid_t = 0
        let result = withStrings([[UInt8](program.utf8)] + arguments) { words in
            withStrings(settings) { settings in
                posix_spawn(&process, program, &actions, &attributes, words, settings)
            }
        }
        guard result == 0 else { throw Failure(call: "posix_spawn", code: result) }
        return process
    }

    private static func withStrings<Value>(
        _ strings: [[UInt8]],
        _ body: ([UnsafeMutablePointer<CChar>?]) -> Value
    ) -> Value {
        let copies = strings.map { string in
            let copy = UnsafeMutablePointer<CChar>.allocate(capacity: string.count + 1)
            for (index, byte) in string.enumerated() { copy[index] = CChar(bitPattern: byte) }
            copy[string.count] = 0
            return copy
        }
        defer { for copy in copies { copy.deallocate() } }
        return body(copies.map(Optional.some) + [nil])
    }
}

extension MigrateCommand.Output {
    /// Connects the child's standard output as described; returns the ends of a connection.
    fileprivate func connect(
        _ file: StreamFile,
        _ actions: inout posix_spawn_file_actions_t
    ) throws -> (writer: StreamFile, reader: StreamFile?)? {
        switch self {
        case .captured:
            posix_spawn_file_actions_adddup2(&actions, file.descriptor, STDOUT_FILENO)
        case .closed:
            posix_spawn_file_actions_addclose(&actions, STDOUT_FILENO)
        case .path(let path):
            posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, path, O_WRONLY, 0)
        case .withoutReader, .unread:
            let (writer, reader) = try StreamFile.makePair()
            writer.limitBuffer()
            posix_spawn_file_actions_adddup2(&actions, writer.descriptor, STDOUT_FILENO)
            if case .unread = self { return (writer, reader) }
            return (writer, nil)
        }
        return nil
    }
}
