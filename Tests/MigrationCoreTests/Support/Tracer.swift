import Foundation

/// Runs the built `migrate` under strace, which makes calls to the system fail or kill their caller.
enum Tracer {
    /// How a traced program ended.
    enum End: Equatable {
        case exited(Int32)
        case killed
    }

    /// The binary that was built beside the tests.
    static let command = Bundle.main.bundleURL.appending(path: "migrate")

    /// Whether this machine lets the tests trace, and there is something to be traced.
    static let canTrace =
        FileManager.default.isExecutableFile(atPath: command.path)
        && (try? run(["-o", "/dev/null", "/bin/true"])) == .exited(0)

    /// Runs strace with `arguments`.
    static func run(_ arguments: [String]) throws -> End {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/strace")
        // The leak detector of the address sanitizer is a tracer itself, and ends what has another.
        process.environment = ProcessInfo.processInfo.environment
            .merging(["ASAN_OPTIONS": "detect_leaks=0"]) { $1 }
        process.arguments = arguments
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        if process.terminationReason == .uncaughtSignal { return .killed }
        return .exited(process.terminationStatus)
    }
}
