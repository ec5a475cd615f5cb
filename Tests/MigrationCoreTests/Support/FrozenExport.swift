import Foundation
import TestSupport

/// An export by the built command that is stopped at one of its calls, while the source is changed.
struct FrozenExport {
    let exitCode: Int32
    let errors: String

    /// The call after which it was stopped; `nil` if it made fewer.
    let call: String?

    /// Whether this machine lets the tests trace, and the program exists.
    static let isPossible =
        FileManager.default.isExecutableFile(atPath: TestedProgram.path) && canTrace

    private static var canTrace: Bool {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/strace")
        process.arguments = ["-o", "/dev/null", "/bin/true"]
        process.standardError = FileHandle.nullDevice
        guard (try? process.run()) != nil else { return false }
        process.waitUntilExit()
        return process.terminationStatus == 0
    }

    /// Whether the source was changed once and the export continued.
    var wasFrozen: Bool { call != nil }

    /// Exports the source, stopped at the `number`th of its `calls` on `path` that a thread makes.
    static func run(
        _ places: Places,
        watching path: BytePath,
        calls: String,
        at number: Int,
        change: () throws -> Void
    ) throws -> FrozenExport {
        let log = places.root / "trace"
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/strace")
        // The leak detector of the address sanitizer is a tracer itself, and ends a process that
        // has another one.
        process.environment = ProcessInfo.processInfo.environment
            .merging(["ASAN_OPTIONS": "detect_leaks=0"]) { $1 }
        process.arguments = [
            "-f", "-qq", "-o", log.url.path, "-P", path.url.path,
            "-e", "inject=\(calls):signal=SIGSTOP:when=\(number)",
            TestedProgram.path, "export", "--container", places.source.url.path,
            "--out", places.archive.url.path, "--threads", "4", "--progress", "none",
        ]
        let errors = Pipe()
        process.standardOutput = FileHandle.nullDevice
        process.standardError = errors
        try process.run()
        var watch = Watch(log: log)
        while process.isRunning {
            try watch.letGoOn(change)
            usleep(10_000)
        }
        let text = try errors.fileHandleForReading.readToEnd() ?? Data()
        try log.removeFile()
        return FrozenExport(
            exitCode: process.terminationStatus,
            errors: String(decoding: text, as: UTF8.self),
            call: watch.call
        )
    }
}

/// Looks for stopped threads, and lets them continue.
private struct Watch {
    private static let delivery = " --- SIGSTOP {"
    private static let stop = " --- stopped by SIGSTOP ---"

    let log: BytePath
    private(set) var call: String?
    private var lettingGoCount = 0

    init(log: BytePath) {
        self.log = log
    }

    /// Makes the change when a thread is stopped for the first time, and lets every one continue.
    mutating func letGoOn(_ change: () throws -> Void) throws {
        guard log.exists else { return }
        let lines = String(decoding: try log.contents(), as: UTF8.self)
            .split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        let deliveries = lines.indices.filter { lines[$0].contains(Self.delivery) }
        guard deliveries.count > lettingGoCount else { return }
        let place = deliveries[lettingGoCount]
        let thread = lines[place].prefix { $0 != " " }
        let isStanding = lines[place...].contains {
            $0.hasPrefix("\(thread) ") && $0.hasSuffix(Self.stop)
        }
        guard isStanding, let process = pid_t(thread) else { return }
        if call == nil {
            call = lines[..<place].last { $0.hasPrefix("\(thread) ") }
            do {
                try change()
            } catch {
                // A stopped thread would stay stopped forever.
                kill(process, SIGKILL)
                throw error
            }
        }
        lettingGoCount += 1
        kill(process, SIGCONT)
    }
}
