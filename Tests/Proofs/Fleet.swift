import Foundation
import Glibc
import Synchronization
import TestTrees

/// Moves many small containers with GNU parallel or Slurm, as `Examples/Fleet` does, while runs and
/// the scheduler are killed and system calls fail, and compares every tree.
struct Fleet {
    /// The program that starts the runs.
    enum Scheduler: String {
        case parallel, slurm
    }

    private let tools: Tools
    private let jobs: Int
    private let files: Int
    private let scheduler: Scheduler
    private let isDisturbed: Bool
    private let place: BytePath
    private let reports: BytePath
    private var node: SlurmNode?
    private var killed = 0

    /// Prepares a proof in which runs are killed and calls fail; if it is not disturbed, only the
    /// time is measured.
    init(
        _ tools: Tools,
        jobs: Int,
        files: Int,
        scheduler: Scheduler,
        isDisturbed: Bool = true
    ) throws {
        (self.tools, self.jobs, self.files) = (tools, jobs, files)
        (self.scheduler, self.isDisturbed) = (scheduler, isDisturbed)
        place = tools.scratch / "place"
        reports = tools.scratch / "reports"
        try FileManager.default.createDirectory(
            at: reports.url,
            withIntermediateDirectories: true
        )
        for name in ["containers", "archives", "copies"] {
            try FileManager.default.createDirectory(
                at: place.url.appending(path: name),
                withIntermediateDirectories: true
            )
        }
    }

    /// Returns how many containers did not arrive unchanged.
    mutating func run() throws -> Int {
        // The array of Slurm uses it inside a task.
        guard Tools.has("parallel") else {
            print("skipped: GNU parallel is missing")
            return 0
        }
        if scheduler == .slurm {
            if let reason = SlurmNode.whyMissing {
                print("skipped: \(reason)")
                return 0
            }
            node = try SlurmNode(in: tools.scratch / "slurm")
        }
        defer { node?.stop() }
        try makeContainers()
        try writeUnreliableCommand()
        let begin = Date()
        for operation in ["export", "import"] {
            try move(operation, from: operation == "export" ? "containers" : "copies")
        }
        let seconds = Date().timeIntervalSince(begin)
        try checkResults()
        let different = try (0..<jobs).count { number in
            let names = [place / "containers", place / "copies"].map { $0 / Self.name(number) }
            let trees = try names.map { try TreeSnapshot(of: $0, excluding: [".migration"]) }
            let (isAlike, verdict) = TreeComparison.verdict(trees[1], trees[0])
            if !isAlike { print("\(Self.name(number)): \(verdict)") }
            return !isAlike
        }
        let faults = try reports.names().count
        let rate = String(format: "%.1f", Double(2 * jobs) / seconds)
        print(
            "containers \(jobs), files in each \(files), processes killed \(killed), runs with failing "
                + "calls \(faults), seconds \(Int(seconds)), jobs a second \(rate), "
                + "different \(different)"
        )
        return different
    }

    private static func name(_ number: Int) -> BytePath { BytePath("c\(100_000 + number)") }

    private func makeContainers() throws {
        var manifests = ["containers": "", "copies": ""]
        for number in 0..<jobs {
            let container = place / "containers" / Self.name(number)
            try container.makeDirectory()
            for directory: BytePath in ["Documents", "Library"] {
                try (container / directory).makeDirectory()
            }
            for file in 0..<files {
                let text = String(repeating: "\(number) \(file) ", count: Int.random(in: 0..<200))
                let directory: BytePath = file.isMultiple(of: 3) ? "Library" : "Documents"
                try (container / directory / BytePath("\(file)")).write(text)
            }
            let archive = place / "archives" / BytePath(Self.name(number).text + ".tar.zst")
            for name in manifests.keys {
                let path = place / BytePath(name) / Self.name(number)
                manifests[name, default: ""] +=
                    "\(path.text)\tcom.example.app\(number)\t\(archive.text)\n"
            }
        }
        for (name, text) in manifests { try (place / BytePath(name + ".tsv")).write(text) }
    }

    /// Writes a command in place of `migrate` that makes a system call fail in every third run,
    /// once or from then on.
    private func writeUnreliableCommand() throws {
        let text = """
            #!/bin/bash
            if ((RANDOM % 3)); then exec '\(tools.migrate)' "$@"; fi
            calls=(openat write renameat2 fsync mkdirat unlinkat read getdents64 utimensat syncfs)
            first=$((RANDOM % 40 + 1)) last=$((RANDOM % 2 ? 1000000 : 1))
            exec '\(tools.injector)' '\(reports.text)'/"$BASHPID" '\(place.text)' \
                error=$((RANDOM % 2 ? \(EIO) : \(ENOSPC))) "${calls[RANDOM % ${#calls[@]}]}" \
                $first $((first + last - 1)) '\(tools.migrate)' "$@"

            """
        try unreliableCommand.write(text)
        guard chmod(unreliableCommand.text, 0o755) == 0 else { throw ProofError("chmod fails") }
    }

    private var unreliableCommand: BytePath { tools.scratch / "unreliable-migrate" }

    // MARK: - Moving

    /// Starts the scheduler again and again, as an operator would, until every job has succeeded.
    private mutating func move(_ operation: String, from name: String) throws {
        if isDisturbed { for _ in 0..<3 { _ = try runScheduler(operation, name, disturbed: true) } }
        for _ in 0..<5 where try runScheduler(operation, name, disturbed: false) == 0 { return }
        throw ProofError("\(operation): jobs fail though nothing is killed any more")
    }

    /// Runs the scheduler, and meanwhile kills runs of `migrate`, and then maybe the scheduler.
    private mutating func runScheduler(
        _ operation: String,
        _ name: String,
        disturbed: Bool
    ) throws -> Int32 {
        let manifest = "\(place.text)/\(name).tsv"
        let process = Process()
        process.currentDirectoryURL = place.url
        process.environment = ProcessInfo.processInfo.environment.merging([
            "MIGRATE": disturbed ? unreliableCommand.text : tools.migrate,
            "RESULTS": place.text + "/results.jsonl", "SWIFT_BACKTRACE": "enable=no",
        ]) { $1 }
        if let node {
            process.executableURL = URL(filePath: "/usr/bin/env")
            process.arguments = [
                "sbatch", "--wait", "--array=0-\((jobs - 1) / SlurmNode.chunk)",
                Self.examples + "/slurm-array", operation, manifest,
            ]
            process.environment?.merge(node.environment) { $1 }
            process.environment?["FLEET"] = Self.examples
            process.environment?["CHUNK"] = "\(SlurmNode.chunk)"
        } else {
            process.executableURL = URL(filePath: Self.examples + "/with-parallel")
            process.arguments = [operation, manifest]
        }
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        let end = Date(timeIntervalSinceNow: Double(jobs) / 100 + Double.random(in: 0.5...2))
        while disturbed, process.isRunning, Date() < end {
            usleep(UInt32.random(in: 10_000...100_000))
            if let victim = try runs().randomElement(), kill(victim, SIGKILL) == 0 { killed += 1 }
        }
        if disturbed, process.isRunning, Bool.random() {
            if let node { try node.cancelJobs() } else { kill(process.processIdentifier, SIGKILL) }
            killed += 1
        }
        process.waitUntilExit()
        return process.terminationStatus
    }

    private static let examples = Tools.root + "/Examples/Fleet"

    /// The runs of `migrate` in the directory of this proof.
    private func runs() throws -> [pid_t] {
        try FileManager.default.contentsOfDirectory(atPath: "/proc").compactMap { pid_t($0) }
            .filter { process in
                let links = ["exe", "cwd"].map { name in
                    try? FileManager.default.destinationOfSymbolicLink(
                        atPath: "/proc/\(process)/\(name)"
                    )
                }
                return links == [tools.migrate, place.text]
            }
    }

    private func checkResults() throws {
        let text = try Tools.call([
            tools.migrate, "report", "--results", (place / "results.jsonl").text, "--json",
        ])
        let value = try JSONSerialization.jsonObject(with: Data(text.utf8))
        guard let sums = value as? [String: Any], sums["jobs"] as? Int == 2 * jobs,
            sums["failed"] as? Int == 0,
            // A run that is killed while it appends its line leaves a part of the line.
            let parts = sums["unreadable"] as? Int, parts <= killed
        else { throw ProofError("the results say something else: \(text)") }
    }
}
