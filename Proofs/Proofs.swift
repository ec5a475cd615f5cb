import Foundation
import Glibc
import Synchronization
import TestSupport

/// Long-running proofs of what `migrate` promises, each with a short form.
@main
enum Proofs {
    static let usage = """
        USAGE: Scripts/prove allocations [--points <n>]
               Scripts/prove soak [--seconds <n>] [--seed <n>]

        allocations  Makes an allocation of an export, of imports and of a recovery fail, once and from then
                     on: every one, or <n> of each that are spread evenly. Whatever the process makes of it,
                     the archive is whole or not there, and the container is the old one or the new one.
        soak         Mixes all operations, kills and faults at random, with a model beside them, and checks
                     after each step. Takes <n> seconds, 3600 by default; the seed repeats a run's choices.

        Prints what was tried and how much of it failed, and ends with 1 where something did.

        """

    static func main() {
        do {
            var words = Array(CommandLine.arguments.dropFirst())
            let tools = try Tools(&words)
            let proof = words.isEmpty ? "" : words.removeFirst()
            let options = try readOptions(words)
            let failures: Int
            switch proof {
            case "allocations":
                failures = try Allocations(tools, points: options["points"]).run()
            case "soak":
                let seed = options["seed"] ?? Int.random(in: 1...1_000_000)
                var soak = try Soak(tools, seconds: options["seconds"] ?? 3600, seed: seed)
                failures = try soak.run()
            default: throw ProofError(usage)
            }
            exit(failures == 0 ? 0 : 1)
        } catch {
            FileHandle.standardError.write(Data("prove: error: \(error)\n".utf8))
            exit(1)
        }
    }

    private static func readOptions(_ words: [String]) throws -> [String: Int] {
        var options: [String: Int] = [:]
        var rest = words[...]
        while let word = rest.popFirst() {
            let text = rest.popFirst()
            guard word.hasPrefix("--"), let text, let value = Int(text), value > 0 else {
                throw ProofError("'\(word)' is not understood\n\(usage)")
            }
            options[String(word.dropFirst(2))] = value
        }
        return options
    }
}

/// Why a proof can't be given.
struct ProofError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}

/// The programs that proofs run.
struct Tools {
    /// Past this, a run hangs.
    private static let limit = 600.0

    let migrate: String
    let injector: String
    let allocations: String
    let scratch: BytePath

    /// Takes the first four words: the programs, the library that counts allocations, and a directory.
    init(_ words: inout [String]) throws {
        guard words.count >= 4 else { throw ProofError(Proofs.usage) }
        (migrate, injector, allocations) = (words[0], words[1], words[2])
        scratch = BytePath([UInt8](words[3].utf8))
        words.removeFirst(4)
    }

    /// How a run ended.
    struct Ended {
        /// The exit code; `nil` where a signal ended the process.
        let code: Int32?
        let hangs: Bool
        let output: String
        let errors: String

        var description: String {
            hangs ? "it hangs" : "it ends with \(code.map { "\($0)" } ?? "a signal"): \(errors)"
        }
    }

    /// Runs `migrate`, in front of it `prefix`; after `killedAfter` seconds it is killed.
    func run(
        _ words: [String],
        prefix: [String] = [],
        environment: [String: String] = [:],
        killedAfter: Double? = nil
    ) throws -> Ended {
        let process = Process()
        let command = prefix + [migrate] + words
        process.executableURL = URL(filePath: command[0])
        process.arguments = Array(command.dropFirst())
        process.environment = ProcessInfo.processInfo.environment
            .merging(["SWIFT_BACKTRACE": "enable=no"]) { $1 }
            .merging(environment) { $1 }
        let name = scratch / "said"
        try name.write("")
        try (scratch / "warned").write("")
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = try FileHandle(forWritingTo: name.url)
        process.standardError = try FileHandle(forWritingTo: (scratch / "warned").url)
        try process.run()
        let isKilled = Mutex(false)
        let identifier = process.processIdentifier
        let hanging = DispatchWorkItem {
            isKilled.withLock { $0 = true }
            kill(identifier, SIGKILL)
        }
        DispatchQueue.global().asyncAfter(
            deadline: .now() + (killedAfter ?? Self.limit),
            execute: hanging
        )
        process.waitUntilExit()
        hanging.cancel()
        let isSignaled = process.terminationReason == .uncaughtSignal
        return Ended(
            code: isSignaled ? nil : process.terminationStatus,
            hangs: killedAfter == nil && isKilled.withLock { $0 },
            output: String(decoding: try name.contents(), as: UTF8.self),
            errors: String(decoding: try (scratch / "warned").contents(), as: UTF8.self)
        )
    }
}

/// A container, and what is known of it.
enum Container {
    /// Everything in the container but the bookkeeping.
    static func contents(of path: BytePath) throws -> TreeSnapshot {
        path.exists
            ? try TreeSnapshot(of: path, excluding: [".migration"])
            : try TreeSnapshot(of: path / "..", excluding: (path / "..").names())
    }

    /// The word with which `migrate status` answers.
    static func status(of path: BytePath, _ tools: Tools) throws -> String {
        let ended = try tools.run(["status", "--container", path.text])
        guard ended.code == 0, let line = ended.output.split(separator: "\n").first else {
            return ended.description
        }
        return String(line.split(separator: ":")[0])
    }
}

extension BytePath {
    /// The path as text; those of proofs are.
    var text: String { String(decoding: bytes, as: UTF8.self) }

    /// Removes whatever is there.
    func removeAll() throws {
        let process = Process()
        process.executableURL = URL(filePath: "/bin/sh")
        process.arguments = ["-c", "chmod -R u+rwx \"$0\" 2>&-; rm -rf \"$0\"", text]
        try process.run()
        process.waitUntilExit()
    }

    /// Copies a tree with everything that it has.
    func copyAll(to path: BytePath) throws {
        let process = Process()
        process.executableURL = URL(filePath: "/bin/sh")
        process.arguments = ["-c", "cp -a \"$0\" \"$1\"", text, path.text]
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw ProofError("'\(self)' can't be copied") }
    }
}
