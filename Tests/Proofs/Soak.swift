import Foundation
import Glibc
import TestTrees

/// Mixes all operations at random, with random faults, and compares the results with a model.
struct Soak {
    /// The tree that an archive contains.
    private struct Archive {
        let path: BytePath
        let bytes: Data
        let contents: TreeSnapshot
    }

    private let tools: Tools
    private let seconds: Int
    private let seed: Int
    private let place: BytePath
    private var random: Generator
    private var archives: [Archive] = []
    private var model: TreeSnapshot
    private var status = "none"
    private var changes = 0
    private var tried: [String: Int] = [:]
    private var problems: [String] = []

    init(_ tools: Tools, seconds: Int, seed: Int) throws {
        self.tools = tools
        self.seconds = seconds
        self.seed = seed
        place = tools.scratch / "place"
        random = Generator(state: UInt64(seed))
        try place.makeDirectory()
        for name: BytePath in ["source", "app"] {
            try (place / name).makeDirectory()
            try (place / name / "Documents").makeDirectory()
        }
        model = try Container.contents(of: place / "app")
    }

    private var source: BytePath { place / "source" }
    private var app: BytePath { place / "app" }

    private enum Step: String, CaseIterable {
        case change, export, exportOver = "export over an archive", importing = "import"
        case importBroken = "import of a damaged archive", extract, read
        case clear = "status --clear", recover, diff
    }

    /// Runs until the time is over or a step failed, and returns the number of failed steps.
    mutating func run() throws -> Int {
        print("seed \(seed)")
        let end = Date(timeIntervalSinceNow: Double(seconds))
        var number = 0
        try change()
        try export(over: nil, disturbed: false)
        while Date() < end, problems.isEmpty {
            number += 1
            let step = Step.allCases.randomElement(using: &random) ?? .read
            tried[step.rawValue, default: 0] += 1
            try take(step)
            for problem in problems { print("  step \(number), \(step.rawValue): \(problem)") }
        }
        for (name, count) in tried.sorted(by: { $0.key < $1.key }) {
            print("\(name.padding(toLength: 36, withPad: " ", startingAt: 0)) \(count)")
        }
        print("steps \(number), failed \(problems.count)")
        return problems.count
    }

    private mutating func take(_ step: Step) throws {
        switch step {
        case .change: try change()
        case .export: try export(over: nil, disturbed: Bool.random(using: &random))
        case .exportOver:
            try export(over: archives.indices.randomElement(using: &random), disturbed: true)
        case .importing: try importArchive(isBroken: false)
        case .importBroken: try importArchive(isBroken: true)
        case .extract: try extract()
        case .read: try read()
        case .clear:
            try expectSuccess(["status", "--container", app.text, "--clear"])
            status = "none"
        case .recover: try expectSuccess(["recover", "--container", app.text])
        case .diff: try compare()
        }
        try check()
    }
}

// MARK: - Steps

extension Soak {
    /// Changes the source, so that each of its states differs.
    private mutating func change() throws {
        changes += 1
        let directories: [BytePath] = ["Documents", "Documents/a", "Library", "Library/b"]
        for directory in directories where !(source / directory).exists {
            try (source / directory).makeDirectory()
        }
        for _ in 0..<Int.random(in: 1...8, using: &random) {
            let directory = directories.randomElement(using: &random) ?? "Documents"
            let name = BytePath("n\(Int.random(in: 0..<12, using: &random))")
            let path = source / directory / name
            if path.exists { try path.removeFile() }
            switch Int.random(in: 0..<6, using: &random) {
            case 0: try path.makeSymbolicLink(to: "n1")
            case 1: break
            case 2: try path.write(VariedTree.noise(Int.random(in: 0..<3_000_000, using: &random)))
            default: try path.write(VariedTree.noise(Int.random(in: 0..<5000, using: &random)))
            }
        }
        try (source / "Documents/state").write("\(changes)")
    }

    /// Exports the source to a new archive, or over the one with the index `older`.
    private mutating func export(over older: Int?, disturbed: Bool) throws {
        let name = "archive-\(changes)-\(Int.random(in: 0..<1_000_000, using: &random))"
        let path = older.map { archives[$0].path } ?? place / BytePath(name)
        let words = ["export", "--container", source.text, "--out", path.text, "--force"]
        let ended = try run(words, disturbed: disturbed)
        let contents = try Container.contents(of: source)
        let earlier = older.map { archives[$0].bytes }
        let bytes = path.exists ? try path.contents() : nil
        if ended.code == 0, bytes == nil { problems.append("there is no archive") }
        if let bytes, bytes != earlier {
            try expectSuccess(["verify", path.text])
            let archive = Archive(path: path, bytes: bytes, contents: contents)
            if let older { archives[older] = archive } else { archives.append(archive) }
        }
        if earlier != nil, bytes == nil { problems.append("the older archive is gone") }
        while archives.count > 6 { try archives.removeFirst().path.removeFile() }
        // The next export to the name removes the file of a killed one.
        let partial = BytePath(path.bytes + [UInt8](".partial".utf8))
        if partial.exists {
            if ended.code != nil, !disturbed { problems.append("a .partial is left") }
            try partial.removeFile()
        }
    }

    private mutating func importArchive(isBroken: Bool) throws {
        guard let archive = archives.randomElement(using: &random) else { return }
        var path = archive.path
        if isBroken {
            path = place / "broken"
            var bytes = archive.bytes
            let index = Int.random(in: 0..<bytes.count, using: &random)
            if Bool.random(using: &random) {
                bytes = bytes.prefix(index)
            } else {
                bytes[bytes.startIndex + index] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            }
            try path.write(bytes)
        }
        let words = ["import", path.text, "--container", app.text, "--replace"]
        let isDisturbed = Bool.random(using: &random)
        let ended = try run(words, disturbed: isDisturbed)
        if isBroken { try path.removeFile() }
        let word = try Container.status(of: app, tools)
        let contents = try Container.contents(of: app)
        let isNew = contents.differences(from: archive.contents).isEmpty
        let isOld = contents.differences(from: model).isEmpty
        if isBroken && ended.code == 0 { problems.append("damage is accepted") }
        if !isNew && !isOld { problems.append("the container is a mixture") }
        if ended.code == 0 && !isNew {
            problems.append("it succeeds, and the container is not new")
        }
        if !isDisturbed && !isBroken && ended.code != 0 { problems.append(ended.description) }
        // A failed import leaves the status of the data, and one that had not begun leaves every
        // status.
        let isOfData = ended.code == 0 || (isNew && !isOld) || status == "success"
        let expected = isOfData ? ["success"] : ["failure", "interrupted", status]
        if !expected.contains(word) && !(isNew && word == "success") {
            problems.append("the status is \(word), not one of \(expected)")
        }
        if isBroken && !isDisturbed && !isOfData && word != "failure" {
            problems.append("no failure is recorded")
        }
        (model, status) = (contents, word)
    }

    private mutating func extract() throws {
        guard let archive = archives.randomElement(using: &random) else { return }
        let path = place / "out"
        try expectSuccess(["extract", archive.path.text, "--to", path.text])
        if path.exists {
            let differences = try TreeSnapshot(of: path).differences(from: archive.contents)
            problems += differences.map { "extracted: \($0)" }
        }
        try path.removeAll()
    }

    private mutating func read() throws {
        guard let archive = archives.randomElement(using: &random) else { return }
        for command in ["verify", "list", "inspect"] {
            try expectSuccess([command, archive.path.text])
        }
    }

    private mutating func compare() throws {
        guard let archive = archives.randomElement(using: &random) else { return }
        let ended = try tools.run(["diff", archive.path.text, "--container", app.text])
        let isAlike = model.differences(from: archive.contents).isEmpty
        if ended.code != (isAlike ? 0 : 1) { problems.append("diff: \(ended.description)") }
    }
}

// MARK: - Disturbing and checking

extension Soak {
    private static let calls = [
        "openat", "write", "pwrite64", "renameat2", "fsync", "mkdirat", "unlinkat", "read",
        "fchmod",
        "fstat", "getdents64", "utimensat", "syncfs", "ftruncate",
    ]

    /// Runs `migrate`; if it is disturbed, it is killed after a moment, or a call fails.
    private mutating func run(_ words: [String], disturbed: Bool) throws -> Tools.Ended {
        guard disturbed else { return try tools.run(words) }
        if Bool.random(using: &random) {
            return try tools.run(words, killedAfter: Double.random(in: 0.005...0.3, using: &random))
        }
        let errors = [EIO, ENOSPC, EINTR, EACCES, EXDEV].map { "error=\($0)" }
        let fault = (errors + ["kill", "short"]).randomElement(using: &random) ?? "kill"
        let call = Self.calls.randomElement(using: &random) ?? "openat"
        let first = Int.random(in: 1...40, using: &random)
        let last = Bool.random(using: &random) ? first : 1_000_000
        let report = (tools.scratch / "report").text
        let exchange = Bool.random(using: &random) ? ["-x"] : []
        let prefix =
            [tools.injector, report, place.text] + exchange + [fault, call, "\(first)", "\(last)"]
        let ended = try tools.run(words, prefix: prefix)
        if ended.code == 125 { throw ProofError("the injector can't work: \(ended.errors)") }
        return ended
    }

    private mutating func expectSuccess(_ words: [String]) throws {
        let ended = try tools.run(words)
        if ended.code != 0 { problems.append("\(words[0]): \(ended.description)") }
    }

    /// Compares all places with the model.
    private mutating func check() throws {
        let word = try Container.status(of: app, tools)
        if word != status { problems.append("the status is \(word), not \(status)") }
        let contents = try Container.contents(of: app)
        problems += contents.differences(from: model).map { "the container: \($0)" }
        for archive in archives where try archive.path.contents() != archive.bytes {
            problems.append("an archive has changed: \(archive.path)")
        }
        let expected = Set(archives.map { $0.path.name } + ["app", "source"])
        let names = Set(try place.names())
        if names != expected { problems.append("there is \(names.symmetricDifference(expected))") }
        let bookkeeping = app / ".migration"
        let kept = bookkeeping.exists ? try bookkeeping.names() : []
        if kept.contains(where: { !Container.records.contains($0) }) {
            problems.append("left in the bookkeeping: \(kept)")
        }
    }
}

/// Numbers that look random and follow from the seed (SplitMix64).
private struct Generator: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }
}
