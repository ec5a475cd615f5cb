import Foundation
import Glibc
import TestSupport
import Testing

/// Runs `migrate` so that some of its system calls fail.
struct FaultInjector {
    /// What goes wrong.
    enum Fault {
        case nothing
        /// The process dies in place of the call.
        case death
        /// The call fails.
        case error(Int32)
        /// Half of the requested bytes are read or written.
        case half
    }

    /// How `migrate` ended.
    enum End: Equatable {
        case exited(Int32)
        case killed
    }

    /// A run that has ended.
    struct Run {
        let end: End
        /// The text on standard error.
        let errors: String
        /// How many calls failed.
        let faults: Int
        /// How many calls of each kind were counted.
        let counts: [String: Int]
    }

    private static let program = Bundle.main.bundleURL.appending(path: "FaultInjector")

    /// Prevents sanitizers from making calls at the end, which would also fail.
    private static let variables = [
        "ASAN_OPTIONS": "detect_leaks=0", "TSAN_OPTIONS": "atexit_sleep_ms=0",
    ]

    /// Whether this machine lets a process answer another's calls, and the program exists.
    fileprivate static let isAvailable =
        FileManager.default.isExecutableFile(atPath: TestedProgram.path)
        && (try? FaultInjector(.nothing).run(["--version"], countingFrom: "/"))?.end == .exited(0)

    private let fault: Fault
    private let call: String
    private let numbers: ClosedRange<Int>

    /// Makes the calls of one kind fail whose numbers are in `numbers`.
    init(_ fault: Fault, at call: String = "none", _ numbers: ClosedRange<Int> = 0...0) {
        self.fault = fault
        self.call = call
        self.numbers = numbers
    }

    private var word: String {
        switch fault {
        case .nothing: "none"
        case .death: "kill"
        case .error(let code): "error=\(code)"
        case .half: "short"
        }
    }

    /// Runs `migrate`; calls are counted from the first one that names a path with this prefix.
    func run(
        _ arguments: [String],
        countingFrom start: String,
        withoutExchange: Bool = false
    ) throws -> Run {
        let report = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: report) }
        let process = Process()
        let errors = Pipe()
        process.executableURL = Self.program
        process.environment = ProcessInfo.processInfo.environment.merging(Self.variables) { $1 }
        process.arguments =
            [report.path, start] + (withoutExchange ? ["-x"] : []) + [word, call]
            + [numbers.lowerBound, numbers.upperBound].map(String.init)
            + [TestedProgram.path] + arguments
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        process.standardError = errors
        try process.run()
        let said = try errors.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        let wasKilled = process.terminationReason == .uncaughtSignal
        let counts = try Self.counts(in: String(contentsOf: report, encoding: .utf8))
        return Run(
            end: wasKilled ? .killed : .exited(process.terminationStatus),
            errors: String(decoding: said, as: UTF8.self),
            faults: counts["faults"] ?? 0,
            counts: counts.filter { $0.key != "faults" }
        )
    }

    private static func counts(in report: String) -> [String: Int] {
        let lines = report.split(separator: "\n").map { $0.split(separator: " ") }
        let pairs = lines.compactMap { words in
            words.count == 2 ? Int(words[1]).map { (String(words[0]), $0) } : nil
        }
        return Dictionary(pairs) { $1 }
    }
}

extension Trait where Self == ConditionTrait {
    /// Leaves tests out where no faults can be injected.
    static var injectingFaults: Self {
        .enabled(
            if: FaultInjector.isAvailable,
            "this machine lets no process answer for the system"
        )
    }
}
