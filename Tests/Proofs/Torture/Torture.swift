import Foundation
import Synchronization
import TestTrees

/// Makes every call of every operation fail in every way, and checks the promises.
struct Torture {
    private let tools: Tools
    private let step: Int
    private let jobs: Int
    private let threads: Int
    private let operation: String
    private let triesFaults: Bool
    private let losesPower: Bool
    private var passedOver = 0
    private var tried = 0
    private var failed = 0

    /// Only root may mount, and only where no mount is left behind.
    private let mayMount = ProcessInfo.processInfo.environment["PROOFS_MAY_MOUNT"] == "1"

    init(_ tools: Tools, _ options: inout Options) throws {
        self.tools = tools
        step = try options.number("step") ?? 1
        jobs = try options.number("jobs") ?? ProcessInfo.processInfo.activeProcessorCount
        threads = try options.number("threads") ?? 1
        operation = options.text("operation") ?? ""
        let only = options.text("only")
        guard only == nil || only == "faults" || only == "power-loss" else {
            throw ProofError("--only takes faults or power-loss")
        }
        triesFaults = only != "power-loss"
        losesPower = only != "faults"
    }

    /// Tries every operation, and returns how many points failed.
    mutating func run() throws -> Int {
        show("operation", "fault", "points", "failed")
        if triesFaults {
            let places = try (0..<jobs).map {
                try Place(tools.scratch / "place-\($0)", tools, threads: threads)
            }
            for operation in chosenOperations() {
                try run(operation, Fault.all, places) { try $0.attempt(operation, $1) }
            }
        }
        if losesPower {
            for system in FileSystem.all { try losePower(on: system) }
        }
        show("all", "", "\(tried)", "\(failed)")
        return failed
    }

    private func chosenOperations() -> [any Operation] {
        Operations.all.filter { candidate in
            guard operation.isEmpty || candidate.name.contains(operation) else { return false }
            if candidate.isBound && !mayMount {
                print("\(candidate.name): skipped: only root may mount")
                return false
            }
            return true
        }
    }

    private mutating func losePower(on system: FileSystem) throws {
        let reason = mayMount ? system.reasonToSkip(tools) : "only root may mount"
        if let reason {
            return print("power loss on \(system.name): skipped: \(reason)")
        }
        let disks = try (0..<jobs).map { try Disk(system, tools.scratch / "disk-\($0)") }
        defer { for disk in disks { disk.remove() } }
        let places = try disks.map { disk in
            try Place(disk.mountPoint / "place", tools, threads: threads, on: disk)
        }
        for operation in chosenOperations() {
            let name = "\(operation.name), \(system.name)"
                .replacing("import --replace, ", with: "replace, ")
            try run(operation, Fault.losses, places, name: name) {
                try $0.losePower(operation, $1)
            }
        }
    }

    /// Tries every point of `operation` that the faults have; each place tries one at a time.
    private mutating func run(
        _ operation: any Operation,
        _ faults: [Fault],
        _ places: [Place],
        name: String? = nil,
        _ attempt: @Sendable (inout Place, Point) throws -> [String]
    ) throws {
        let name = name ?? operation.name
        var place = places[0]
        let counts = try place.countCalls(of: operation)
        for fault in faults {
            let points = fault.points(counts, step: step, passedOver: &passedOver)
            let next = Atomic(0)
            let bad = Atomic(0)
            DispatchQueue.concurrentPerform(iterations: places.count) { worker in
                var place = places[worker]
                while true {
                    let index = next.add(1, ordering: .relaxed).oldValue
                    guard index < points.count else { return }
                    var problems: [String]
                    do {
                        problems = try attempt(&place, points[index])
                        try place.clean()
                    } catch {
                        problems = ["the place can't be looked at: \(error)"]
                    }
                    for problem in problems { print("  \(name): \(points[index]): \(problem)") }
                    if !problems.isEmpty { bad.add(1, ordering: .relaxed) }
                }
            }
            let count = bad.load(ordering: .relaxed)
            show(name, fault.name, "\(points.count)", "\(count)")
            tried += points.count
            failed += count
        }
    }

    private func show(_ operation: String, _ fault: String, _ points: String, _ failed: String) {
        print(
            operation.padded(to: 31),
            fault.padded(to: 17),
            points.padded(to: -6),
            failed.padded(to: -6)
        )
        fflush(nil)
    }
}
