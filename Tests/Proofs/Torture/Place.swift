import Foundation
import Glibc
import TestTrees

/// A directory with a container to export, its archive, and a container to import into.
struct Place: Sendable {
    private static let limit = 60.0

    let directory: BytePath
    /// Its own file system, whose power can be cut.
    let disk: Disk?
    /// The contents of the archive.
    private(set) var new = TreeSnapshot()
    /// The contents of a container that is replaced.
    private(set) var old = TreeSnapshot()
    /// The archive's bytes.
    private(set) var reference = Data()
    /// Whether the container is a mount point.
    private var isBound = false
    private let tools: Tools
    private let threads: Int

    /// Makes the common start of all operations, once.
    init(_ directory: BytePath, _ tools: Tools, threads: Int, on disk: Disk? = nil) throws {
        (self.directory, self.tools, self.threads, self.disk) = (directory, tools, threads, disk)
        try directory.makeDirectory()
        try SmallTree.makeOld(in: container)
        old = try TreeSnapshot(of: container)
        try container.removeAll()
        try SmallTree.makeNew(in: source)
        new = try TreeSnapshot(of: source)
        for words in [
            ["export", "--container", source.text, "--out", archive.text],
            ["verify", archive.text],
        ] {
            let ended = try migrate(words)
            guard ended.code == 0 else { throw ProofError("\(words[0]) \(ended.description)") }
        }
        reference = try archive.contents()
    }

    var source: BytePath { directory / "source" }
    var container: BytePath { directory / "app" }
    var archive: BytePath { directory / "archive" }
    var output: BytePath { directory / "out" }
    /// Where an import keeps the replaced data.
    var kept: BytePath { directory / "kept" }
    /// The archive, encrypted for the key.
    var sealed: BytePath { directory / "sealed" }
    var key: BytePath { directory / "key" }

    func names() throws -> Set<BytePath> { Set(try directory.names()) }

    /// The files beside the data in the container.
    func bookkeeping() throws -> Set<BytePath> {
        let path = container / ".migration"
        return path.exists ? Set(try path.names()) : []
    }

    /// The contents of the container; `nil` if there is none.
    func contents() throws -> TreeSnapshot? {
        container.exists ? try contents(of: container) : nil
    }

    /// The contents of the container at `path`.
    func contents(of path: BytePath) throws -> TreeSnapshot {
        try TreeSnapshot(of: path, excluding: [".migration"])
    }

    /// Makes the container with the old data; if `bound`, it is a mount point.
    mutating func makeContainer(bound: Bool) throws {
        try container.removeAll()
        try SmallTree.makeOld(in: container)
        if bound { try bind() }
    }

    private mutating func bind() throws {
        let path = container.text
        // MS_BIND
        guard mount(path, path, nil, 4096, nil) == 0 else { throw CallFailure("mount \(path)") }
        isBound = true
    }

    private mutating func unbind() throws {
        if isBound { try Disk.unmount(container) }
        isBound = false
    }

    /// Removes everything that an operation and its successors made.
    mutating func clean() throws {
        try unbind()
        for name in try names().subtracting(["source", "archive"]) {
            try (directory / name).removeAll()
        }
    }

    // MARK: - Running

    /// Runs `migrate` undisturbed.
    func migrate(_ words: [String]) throws -> Tools.Ended {
        try tools.run(words + options(of: words), limit: Self.limit)
    }

    private func options(of words: [String]) -> [String] {
        ["export", "import"].contains(words[0])
            ? ["--threads", "\(threads)", "--progress", "none"] : []
    }

    /// The word with which `migrate status` answers, `nil` if it fails, and how it ended.
    func status() throws -> (word: String?, Tools.Ended) {
        let ended = try migrate(["status", "--container", container.text])
        return (ended.code == 0 ? Container.word(of: ended) : nil, ended)
    }

    /// Runs `migrate` with a fault; returns how it ended, how often the fault happened, and all
    /// calls.
    func inject(
        _ fault: String,
        at call: String = "-",
        _ first: Int = 0,
        _ last: Int = 0,
        into operation: any Operation,
        words: [String]? = nil
    ) throws -> (Tools.Ended, faults: Int, calls: [String: Int]) {
        let words = words ?? operation.words(self)
        let report = tools.scratch / "report-\(UUID().uuidString)"
        defer { try? report.removeFile() }
        let prefix =
            [tools.injector, report.text, directory.text]
            + (operation.withoutExchange ? ["-x"] : []) + [fault, call, "\(first)", "\(last)"]
        let ended = try tools.run(words + options(of: words), prefix: prefix, limit: Self.limit)
        var calls: [String: Int] = [:]
        let lines = report.exists ? String(decoding: try report.contents(), as: UTF8.self) : ""
        for line in lines.split(separator: "\n") {
            let words = line.split(separator: " ")
            if words.count == 2 { calls[String(words[0])] = Int(words[1]) }
        }
        guard let faults = calls.removeValue(forKey: "faults") else {
            throw ProofError("the injector can't work: \(ended.description)")
        }
        return (ended, faults, calls)
    }

    private func inject(
        _ point: Point,
        into operation: any Operation
    ) throws -> (Tools.Ended, faults: Int, calls: [String: Int]) {
        try inject(
            point.fault.word(on: disk),
            at: point.call,
            point.number,
            point.last,
            into: operation
        )
    }

    /// How many calls of each kind the operation makes.
    mutating func countCalls(of operation: any Operation) throws -> [String: Int] {
        try clean()
        try operation.prepare(&self)
        let (ended, _, calls) = try inject("none", into: operation)
        try clean()
        guard ended.code == 0 else {
            throw ProofError("\(operation.name) by itself: \(ended.description)")
        }
        guard !calls.isEmpty else { throw ProofError("\(operation.name) makes no calls") }
        return calls
    }

    /// Runs the operation with a fault in the middle, and returns the broken promises.
    mutating func attempt(_ operation: any Operation, _ point: Point) throws -> [String] {
        try clean()
        try operation.prepare(&self)
        let (ended, faults, _) = try inject(point, into: operation)
        return try operation.problems(self, point, ended, faults)
    }

    /// Runs the operation until the power fails, and returns the promises that are broken
    /// afterwards.
    mutating func losePower(_ operation: any Operation, _ point: Point) throws -> [String] {
        guard let disk, case .powerLoss(let survivors) = point.fault.kind else { return [] }
        try clean()
        try operation.prepare(&self)
        try disk.makeLast()
        let (ended, faults, _) = try inject(point, into: operation)
        // If it came to its end, the power fails right after it.
        if faults == 0 { try disk.shutDown(survivors) }
        let wasBound = isBound
        try unbind()
        try disk.restart()
        if wasBound { try bind() }
        return try operation.problems(self, point, ended, faults)
    }
}

/// The trees that are moved and replaced: small, but with one of everything.
private enum SmallTree {
    private enum Part {
        case directory(mode_t), file(Data), hole(Int), link(BytePath), hardLink(BytePath)
    }

    /// Everything that an archive must keep: odd names, modes, times, links, attributes, holes,
    /// sizes around blocks.
    static func makeNew(in root: BytePath) throws {
        try make(
            [
                ("Documents", .directory(0o755)), ("Documents/empty", .file(Data())),
                ("Documents/note", .file(Data("new\n".utf8))),
                ("Documents/noise", .file(VariedTree.noise(70_001))),
                (
                    "Documents" / BytePath([UInt8](repeating: 0x6E, count: 200)),
                    .file(Data("long".utf8))
                ),
                ("Documents" / BytePath([0xFF, 0xFE]), .file(Data("odd".utf8))),
                ("Documents/locked", .directory(0o500)),
                ("Documents/locked/inside", .file(Data("kept".utf8))),
                ("Library", .directory(0o700)), ("Library/hard", .hardLink("Documents/note")),
                ("Library/hole", .hole(200_000)), ("link", .link("Documents/note")),
            ],
            in: root
        )
    }

    static func makeOld(in root: BytePath) throws {
        try make(
            [
                ("Documents", .directory(0o755)), ("Documents/note", .file(Data("old\n".utf8))),
                ("Documents/only old", .file(Data("old, and nowhere else".utf8))),
                ("Library", .directory(0o755)), ("Library/locked", .directory(0o500)),
                ("Library/locked/file", .file(Data("locked".utf8))), ("link", .link("Library")),
                ("older", .hardLink("Documents/only old")),
            ],
            in: root
        )
    }

    private static func make(_ parts: [(BytePath, Part)], in root: BytePath) throws {
        try root.makeDirectory()
        for (name, part) in parts {
            let path = root / name
            switch part {
            case .directory: try path.makeDirectory()
            case .link(let target): try path.makeSymbolicLink(to: target)
            case .hardLink(let other): try path.makeHardLink(to: root / other)
            case .file(let content): try path.write(content)
            case .hole(let size):
                try path.write("")
                try path.truncate(to: size)
            }
            switch part {
            case .file, .hole:
                try path.setMode(0o640)
                try path.setAttribute("user.torture", path.bytes.suffix(3))
            case .directory, .link, .hardLink: break
            }
        }
        // The deepest first, because making something changes the directory that it is in.
        for (index, (name, part)) in parts.enumerated().reversed() {
            if case .directory(let mode) = part { try (root / name).setMode(mode) }
            try (root / name).setModificationTime(1_600_000_000 + index, 123_456_789)
        }
    }
}
