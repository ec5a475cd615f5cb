import Foundation
import TestTrees

/// Makes the allocations of an operation fail, one after the other, and checks the result.
struct Allocations {
    private let tools: Tools
    private let points: Int?
    private let place: BytePath

    init(_ tools: Tools, points: Int?) throws {
        self.tools = tools
        self.points = points
        place = tools.scratch / "place"
    }

    private var source: BytePath { place / "source" }
    private var archive: BytePath { place / "archive" }
    private var old: BytePath { place / "old" }
    private var app: BytePath { place / "app" }
    private var out: BytePath { place / "out" }

    private enum Operation: String, CaseIterable {
        case export, importing = "import", replacement = "import, replacing"
        case recovery = "recovery"
    }

    /// Tries every operation, and returns how many points failed.
    func run() throws -> Int {
        try place.makeDirectory()
        try source.makeDirectory()
        try VariedTree.make(in: source)
        try old.makeDirectory()
        try (old / "Documents").makeDirectory()
        try (old / "Documents/old").write("old")
        try (old / "Library").makeDirectory()
        let exported = try tools.run(["export", "--container", source.text, "--out", archive.text])
        guard exported.code == 0 else { throw ProofError("the export \(exported.description)") }
        let new = try Container.contents(of: source)
        var failures = 0
        for operation in Operation.allCases {
            for lasts in [false, true] {
                failures += try run(operation, lasts, new)
            }
        }
        return failures
    }

    private func run(_ operation: Operation, _ lasts: Bool, _ new: TreeSnapshot) throws -> Int {
        let count = try countAllocations(of: operation)
        let step = points.map { max(1, count / $0) } ?? 1
        var (tried, failed) = (0, 0)
        for number in stride(from: 1, through: count, by: step) {
            let problems = try attempt(operation, number, lasts, new)
            tried += 1
            guard !problems.isEmpty else { continue }
            failed += 1
            for problem in problems { print("  \(operation.rawValue), \(number): \(problem)") }
        }
        let name = operation.rawValue + (lasts ? ", from there on" : ", once")
        print(
            "\(name.padding(toLength: 36, withPad: " ", startingAt: 0)) \(count) \(tried) \(failed)"
        )
        return failed
    }

    private func countAllocations(of operation: Operation) throws -> Int {
        let report = tools.scratch / "report"
        if report.exists { try report.removeFile() }
        try prepare(operation)
        let ended = try run(operation, ["ALLOCATION_REPORT": report.text])
        guard ended.code == 0, report.exists,
            let count = Int(
                String(decoding: try report.contents(), as: UTF8.self)
                    .trimmingCharacters(in: .whitespacesAndNewlines)
            )
        else { throw ProofError("\(operation.rawValue) alone: \(ended.description)") }
        return count
    }

    private func words(of operation: Operation) -> [String] {
        switch operation {
        case .export: ["export", "--container", source.text, "--out", out.text, "--threads", "2"]
        case .importing: ["import", archive.text, "--container", app.text, "--threads", "2"]
        case .replacement:
            ["import", archive.text, "--container", app.text, "--replace", "--threads", "2"]
        case .recovery: ["status", "--container", app.text]
        }
    }

    private func run(_ operation: Operation, _ environment: [String: String]) throws -> Tools.Ended
    {
        let preload = ["LD_PRELOAD": tools.allocations]
        let environment = environment.merging(preload) { $1 }
        return try tools.run(words(of: operation), environment: environment)
    }

    /// Makes the places from which the operation starts.
    private func prepare(_ operation: Operation) throws {
        for path in [app, out, place / "out.partial", place / ".app.migration-staging"] {
            try path.removeAll()
        }
        switch operation {
        case .export, .importing: break
        case .replacement: try old.copyAll(to: app)
        case .recovery: try makeCutCommit()
        }
    }

    /// Makes a container whose commit was interrupted after the first of two moves.
    private func makeCutCommit() throws {
        let token = "0E9D7A52-6C0B-4B39-9A57-3B1D6F1C2E44"
        try old.copyAll(to: app)
        let bookkeeping = app / ".migration"
        try bookkeeping.makeDirectory()
        try (bookkeeping / "replaced").makeDirectory()
        try (app / "Documents").rename(to: bookkeeping / "replaced/Documents")
        try (bookkeeping / "staged").makeDirectory()
        try (bookkeeping / "staged" / BytePath(token)).write("")
        try source.copyAll(to: bookkeeping / "staged/container")
        try (bookkeeping / "import-journal.json").write(
            """
            {"version":1,"phase":"clearing","staging":"\(token)",
             "record":{"version":1,"outcome":"success","date":"2026-03-04T05:06:07Z"}}
            """
        )
    }

    /// Fails one allocation, and returns the promises that were broken.
    private func attempt(
        _ operation: Operation,
        _ number: Int,
        _ lasts: Bool,
        _ new: TreeSnapshot
    ) throws -> [String] {
        try prepare(operation)
        let ended = try run(
            operation,
            ["ALLOCATION_FAULT": "\(number)", "ALLOCATION_FAULT_LASTS": lasts ? "1" : "0"]
        )
        var problems: [String] = ended.hangs ? ["it hangs"] : []
        if operation == .export {
            problems += try problemsOfExport(ended)
        } else {
            problems += try problemsOfContainer(operation, ended, new)
        }
        return problems
    }

    private func problemsOfExport(_ ended: Tools.Ended) throws -> [String] {
        var problems: [String] = []
        if out.exists, try out.contents() != archive.contents() {
            problems.append("half an archive")
        }
        if ended.code == 0, !out.exists { problems.append("it succeeds, and there is no archive") }
        let again = try tools.run(
            ["export", "--container", source.text, "--out", out.text, "--force"]
        )
        if again.code != 0 { problems.append("the next export: \(again.description)") }
        if try place.names() != ["archive", "old", "out", "source"] {
            problems.append("left: \(try place.names())")
        }
        return problems
    }

    private func problemsOfContainer(
        _ operation: Operation,
        _ ended: Tools.Ended,
        _ new: TreeSnapshot
    ) throws -> [String] {
        guard app.exists else {
            return operation == .importing && ended.code != 0 ? [] : ["the container is gone"]
        }
        var problems: [String] = []
        let status = try Container.status(of: app, tools)
        let contents = try Container.contents(of: app)
        let isNew = contents.differences(from: new).isEmpty
        let before: TreeSnapshot? =
            operation == .importing ? nil : try Container.contents(of: old)
        let isOld = before.map { contents.differences(from: $0).isEmpty } ?? contents.nodes.isEmpty
        if !isNew && !isOld { problems.append("the container is a mixture") }
        if ended.code == 0 && !isNew {
            problems.append("it succeeds, and the container is not new")
        }
        if isNew != (status == "success") { problems.append("the status is \(status)") }
        if operation == .recovery && !isNew { problems.append("the commit is not completed") }
        let expected: [BytePath] = ["app", "archive", "old", "source"]
        if try place.names() != expected { problems.append("left: \(try place.names())") }
        let kept = app / ".migration"
        if kept.exists, try kept.names().contains(where: { !Container.records.contains($0) }) {
            problems.append("left in the bookkeeping: \(try kept.names())")
        }
        return problems
    }
}
