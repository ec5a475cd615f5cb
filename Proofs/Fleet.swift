import Foundation
import Glibc
import Synchronization
import TestSupport

/// Moves many small containers with GNU parallel, as `Examples/Fleet` does, while runs and GNU parallel
/// itself are killed, and compares every tree.
struct Fleet {
    private let tools: Tools
    private let jobs: Int
    private let files: Int
    private let place: BytePath
    private var killed = 0

    init(_ tools: Tools, jobs: Int, files: Int) throws {
        (self.tools, self.jobs, self.files) = (tools, jobs, files)
        place = tools.scratch / "place"
        for name in ["containers", "archives", "copies"] {
            try FileManager.default.createDirectory(
                at: place.url.appending(path: name),
                withIntermediateDirectories: true
            )
        }
    }

    /// Returns how many containers did not arrive as they were.
    mutating func run() throws -> Int {
        guard Tools.has("parallel") else {
            print("skipped: GNU parallel is missing")
            return 0
        }
        try makeContainers()
        let begin = Date()
        for operation in ["export", "import"] {
            try move(operation, from: operation == "export" ? "containers" : "copies")
        }
        let seconds = Date().timeIntervalSince(begin)
        try checkResults()
        let different = try (0..<jobs).count { number in
            let names = [place / "containers", place / "copies"].map { $0 / Self.name(number) }
            let trees = try names.map { try TreeSnapshot(of: $0, excluding: [".migration"]) }
            let (isAlike, verdict) = Comparison.verdict(trees[1], trees[0])
            if !isAlike { print("\(Self.name(number)): \(verdict)") }
            return !isAlike
        }
        print(
            "containers \(jobs), files in each \(files), processes killed \(killed), seconds "
                + "\(Int(seconds)), different \(different)"
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

    // MARK: - Moving

    /// Starts GNU parallel again and again, as an operator would, until every job has ended well.
    private mutating func move(_ operation: String, from name: String) throws {
        for _ in 0..<3 { _ = try runParallel(operation, name, killing: true) }
        for _ in 0..<5 where try runParallel(operation, name, killing: false) == 0 { return }
        throw ProofError("\(operation): jobs fail though nothing is killed any more")
    }

    /// Runs GNU parallel, and meanwhile kills runs of `migrate`, and then maybe GNU parallel.
    private mutating func runParallel(
        _ operation: String,
        _ name: String,
        killing: Bool
    ) throws -> Int32 {
        let process = Process()
        process.executableURL = URL(filePath: Tools.root + "/Examples/Fleet/with-parallel")
        process.arguments = [operation, "\(place.text)/\(name).tsv"]
        process.currentDirectoryURL = place.url
        process.environment = ProcessInfo.processInfo.environment.merging([
            "MIGRATE": tools.migrate, "RESULTS": place.text + "/results.jsonl",
        ]) { $1 }
        process.standardInput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        let end = Date(timeIntervalSinceNow: Double(jobs) / 100 + Double.random(in: 0.5...2))
        while killing, process.isRunning, Date() < end {
            usleep(UInt32.random(in: 10_000...100_000))
            if let victim = try runs().randomElement(), kill(victim, SIGKILL) == 0 { killed += 1 }
        }
        if killing, process.isRunning {
            kill(process.processIdentifier, SIGKILL)
            killed += 1
        }
        process.waitUntilExit()
        return process.terminationStatus
    }

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
            sums["failed"] as? Int == 0, sums["unreadable"] as? Int == 0
        else { throw ProofError("the results say something else: \(text)") }
    }
}
