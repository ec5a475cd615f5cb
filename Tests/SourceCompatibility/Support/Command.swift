import Foundation

/// A program and its arguments.
struct Command {
    /// How a run ended, and its output.
    struct Run {
        /// The exit code; `nil` if a signal ended the process.
        let exitCode: Int32?
        /// Standard output and standard error as text.
        let output: String
    }

    private let executable: URL
    private let arguments: [String]

    init(_ executable: URL, _ arguments: [String]) {
        self.executable = executable
        self.arguments = arguments
    }

    /// Runs the program to its end, with variables set or, where `nil`, removed.
    func run(settingEnvironment changes: [String: String?] = [:]) throws -> Run {
        let process = Process()
        let pipe = Pipe()
        process.executableURL = executable
        process.arguments = arguments
        var environment = ProcessInfo.processInfo.environment
        for (name, value) in changes { environment[name] = value }
        process.environment = environment
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = pipe
        process.standardError = pipe
        try process.run()
        let output = try pipe.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return Run(
            exitCode: process.terminationReason == .exit ? process.terminationStatus : nil,
            output: String(decoding: output, as: UTF8.self)
        )
    }
}
