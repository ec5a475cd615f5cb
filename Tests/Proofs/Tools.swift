import Foundation
import Synchronization
import TestTrees

/// The programs that proofs run, and how they run them.
struct Tools: Sendable {
    let migrate: String
    let injector: String
    let allocations: String
    private(set) var scratch: BytePath

    /// The directory of this package.
    static let root = URL(filePath: #filePath).appending(path: "../../..").standardized.path

    /// Takes the first four words: the programs, the library that counts allocations, and a directory.
    init(_ words: inout [String]) throws {
        guard words.count >= 4 else { throw ProofError(Proofs.usage) }
        (migrate, injector, allocations) = (words[0], words[1], words[2])
        scratch = BytePath(words[3])
        words.removeFirst(4)
    }

    /// The same programs, with a new directory of that name in the directory.
    func within(_ name: BytePath) throws -> Tools {
        var tools = self
        tools.scratch = scratch / name
        try tools.scratch.makeDirectory()
        return tools
    }

    /// How a run ended.
    struct Ended: Sendable {
        /// The exit code; `nil` if a signal ended the process.
        let code: Int32?
        let signal: Int32?
        fileprivate(set) var hangs: Bool
        let output: String
        let errors: String

        var hasFailed: Bool { code ?? 0 > 0 }

        /// The same end with the exit code 0.
        fileprivate var succeeded: Ended {
            Ended(code: 0, signal: signal, hangs: hangs, output: output, errors: errors)
        }

        var description: String {
            let end = code.map { "with \($0)" } ?? "by signal \(signal ?? 0)"
            return hangs ? "it hangs" : "it ends \(end): \(errors)"
        }
    }

    /// Runs `migrate` behind `prefix`.
    ///
    /// It is killed after `killedAfter` seconds, and counts as hung after `limit` seconds.
    func run(
        _ words: [String],
        prefix: [String] = [],
        environment: [String: String] = [:],
        killedAfter: Double? = nil,
        limit: Double = 600
    ) throws -> Ended {
        let quiet = ["SWIFT_BACKTRACE": "enable=no"].merging(environment) { $1 }
        let ended = try Self.run(
            prefix + [migrate] + words,
            environment: quiet,
            killedAfter: killedAfter,
            limit: limit,
            scratch: scratch
        )
        // `status` also answers with its exit code; here only its answer matters.
        return words.first == "status" && [3, 4, 5].contains(ended.code) ? ended.succeeded : ended
    }

    /// Runs a program by its path or name.
    static func run(
        _ command: [String],
        environment: [String: String] = [:],
        in directory: BytePath? = nil,
        killedAfter: Double? = nil,
        limit: Double = 600,
        scratch: BytePath
    ) throws -> Ended {
        let process = Process()
        let isPath = command[0].contains("/")
        process.executableURL = URL(filePath: isPath ? command[0] : "/usr/bin/env")
        process.arguments = isPath ? Array(command.dropFirst()) : command
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        if let directory { process.currentDirectoryURL = directory.url }
        let name = UUID().uuidString
        let (said, warned) = (scratch / "said-\(name)", scratch / "warned-\(name)")
        for file in [said, warned] { try file.write("") }
        defer {
            for file in [said, warned] { try? file.removeFile() }
        }
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = try FileHandle(forWritingTo: said.url)
        process.standardError = try FileHandle(forWritingTo: warned.url)
        try process.run()
        let isKilled = Atomic(false)
        let identifier = process.processIdentifier
        let killing = DispatchWorkItem {
            isKilled.store(true, ordering: .relaxed)
            kill(identifier, SIGKILL)
        }
        DispatchQueue.global().asyncAfter(
            deadline: .now() + (killedAfter ?? limit),
            execute: killing
        )
        process.waitUntilExit()
        killing.cancel()
        let isSignaled = process.terminationReason == .uncaughtSignal
        return Ended(
            code: isSignaled ? nil : process.terminationStatus,
            signal: isSignaled ? process.terminationStatus : nil,
            hangs: killedAfter == nil && isKilled.load(ordering: .relaxed),
            output: String(decoding: try said.contents(), as: UTF8.self),
            errors: String(decoding: try warned.contents(), as: UTF8.self)
        )
    }

    /// Runs a program that must succeed, and returns its output.
    @discardableResult
    static func call(
        _ command: [String],
        environment: [String: String] = [:]
    ) throws -> String {
        let scratch = BytePath(FileManager.default.temporaryDirectory.path)
        let ended = try run(command, environment: environment, limit: 3600, scratch: scratch)
        guard ended.code == 0 else {
            throw ProofError("\(command.joined(separator: " ")): \(ended.description)")
        }
        return ended.output
    }

    // MARK: - Measuring

    /// Runs a program, which hangs past `limit` seconds, and measures the most memory that it held, in
    /// KiB, and the seconds that it computed.
    ///
    /// The kernel's peak of a process includes that of the process that started it. So this program
    /// starts a second copy of itself, with little in its memory, which starts the other program.
    func measure(
        _ words: [String],
        in directory: BytePath? = nil,
        limit: Int = 600
    ) throws -> (Ended, kilobytes: Int, seconds: Double) {
        let report = scratch / "report-\(UUID().uuidString)"
        let watched = ["timeout", "--signal", "KILL", "\(limit)"] + words
        var ended = try Self.run(
            ["/proc/self/exe", "measure", report.text] + watched,
            environment: ["SWIFT_BACKTRACE": "enable=no"],
            in: directory,
            limit: 2 * Double(limit),
            scratch: scratch
        )
        let text = report.exists ? String(decoding: try report.contents(), as: UTF8.self) : ""
        let figures = text.split(separator: " ").compactMap { Double($0) }
        guard figures.count == 2 else { throw ProofError("not measured: \(ended.description)") }
        try report.removeFile()
        ended.hangs = ended.hangs || ended.signal == SIGKILL || ended.code == 128 + SIGKILL
        return (ended, Int(figures[0]), figures[1])
    }

    /// Runs the program in the words after the first, writes its figures to the file that the first
    /// word names, and ends as the program does.
    static func measureHere(_ words: [String]) throws -> Never {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = Array(words.dropFirst())
        try process.run()
        process.waitUntilExit()
        var usage = rusage()
        getrusage(RUSAGE_CHILDREN.rawValue, &usage)
        let seconds = [usage.ru_utime, usage.ru_stime].map {
            Double($0.tv_sec) + Double($0.tv_usec) / 1_000_000
        }
        try BytePath(words[0]).write("\(usage.ru_maxrss) \(seconds[0] + seconds[1])")
        if process.terminationReason == .uncaughtSignal {
            signal(process.terminationStatus, SIG_DFL)
            kill(getpid(), process.terminationStatus)
        }
        exit(process.terminationStatus)
    }

    /// The processes that a process has started.
    static func children(of process: pid_t) -> [pid_t] {
        let tasks = "/proc/\(process)/task"
        let names = (try? FileManager.default.contentsOfDirectory(atPath: tasks)) ?? []
        return names.flatMap { task in
            let list = try? String(contentsOfFile: "\(tasks)/\(task)/children", encoding: .utf8)
            return (list ?? "").split(separator: " ").compactMap { pid_t($0) }
        }
    }

    /// Whether there is a program of that name.
    static func has(_ program: String) -> Bool {
        (try? call(["sh", "-c", "command -v \"$0\"", program])) != nil
    }
}

/// A container, for checks from outside.
enum Container {
    /// The files that may stay in the bookkeeping: the status, a later attempt that failed, the fingerprint
    /// of a success that was cleared, and whose the data is.
    static let records: Set<BytePath> = [
        "import-status.json", "import-attempt.json", "last-import.json", "identity.json",
    ]

    /// Everything in the container but the bookkeeping.
    static func contents(of path: BytePath) throws -> TreeSnapshot {
        path.exists
            ? try TreeSnapshot(of: path, excluding: [".migration"])
            : try TreeSnapshot(of: path / "..", excluding: (path / "..").names())
    }

    /// The word with which `migrate status` answers.
    static func status(of path: BytePath, _ tools: Tools) throws -> String {
        let ended = try tools.run(["status", "--container", path.text])
        return ended.code == 0 ? word(of: ended) : ended.description
    }

    /// The word with which an answer of `migrate status` begins.
    static func word(of ended: Tools.Ended) -> String {
        String(ended.output.prefix { $0 != "\n" && $0 != ":" })
    }
}

extension BytePath {
    /// Removes a file or directory, if it exists.
    func removeAll() throws {
        guard exists else { return }
        try Tools.call(["sh", "-c", "chmod -R u+rwx \"$0\" 2>&-; rm -rf \"$0\"", text])
    }

    /// Copies a tree with all its metadata.
    func copyAll(to path: BytePath) throws {
        try Tools.call(["cp", "-a", text, path.text])
    }
}
