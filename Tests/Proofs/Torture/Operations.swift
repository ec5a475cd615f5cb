import Foundation
import TestTrees

/// An operation of `migrate`, and the promises that must hold after it, whatever happened.
protocol Operation: Sendable {
    var name: String { get }
    /// Whether no two names can be exchanged in one step.
    var withoutExchange: Bool { get }
    /// Whether the container is a mount point.
    var isBound: Bool { get }

    func prepare(_ place: inout Place) throws
    func words(_ place: Place) -> [String]

    /// The broken promises about the place; changes it as the next command does.
    func problemsOfOutcome(_ place: Place, _ point: Point, _ ended: Tools.Ended) throws -> [String]
}

extension Operation {
    var withoutExchange: Bool { false }
    var isBound: Bool { false }

    /// The broken promises, a sentence each.
    func problems(
        _ place: Place,
        _ point: Point,
        _ ended: Tools.Ended,
        _ faults: Int
    ) throws -> [String] {
        let end = problemOfEnd(point, ended, faults).map { [$0] } ?? []
        return end + (try problemsOfOutcome(place, point, ended))
    }

    private func problemOfEnd(_ point: Point, _ ended: Tools.Ended, _ faults: Int) -> String? {
        let wasKilled = point.fault.kills && faults > 0
        guard let code = ended.code, [0, 1, 64, 65, 73, 75, 77].contains(code) else {
            return ended.signal == SIGKILL && !ended.hangs && wasKilled ? nil : ended.description
        }
        if code == 0 { return wasKilled ? "it outlives its end" : nil }
        if faults == 0 || point.mustSucceed { return ended.description }
        return saysWhy(point, ended) ? nil : "it does not say why: \(ended.description)"
    }

    private func saysWhy(_ point: Point, _ ended: Tools.Ended) -> Bool {
        let lines = ended.errors.split(separator: "\n")
        // Without standard error, no message is possible.
        guard let line = lines.first else { return ["write", "writev"].contains(point.call) }
        return lines.count == 1 && line.hasPrefix("migrate: error: ")
            && point.fault.reason.map { line.contains($0) } ?? true
    }
}

enum Operations {
    static let all: [any Operation] = [
        Export(name: "export", replaces: false),
        Export(name: "export --force", replaces: true),
        Import(name: "import", replaces: false),
        Import(name: "import --replace, exchange", replaces: true),
        Import(name: "import --replace, journal", replaces: true, withoutExchange: true),
        Import(name: "import --replace, mount point", replaces: true, isBound: true),
        Import(name: "import --keep-old, exchange", replaces: true, keepsOld: true),
        Import(
            name: "import --keep-old, journal",
            replaces: true,
            withoutExchange: true,
            keepsOld: true
        ),
        Import(name: "import of an encrypted archive", replaces: true, isEncrypted: true),
        Recovery(name: "recovery from staging", call: "syncfs", number: 1, ends: "interrupted"),
        // The first two renames are of the staging directory, the next four move the old data
        // aside, three move the new data in, and the next one moves the old data to where it is
        // kept.
        Recovery(name: "recovery from clearing", call: "renameat2", number: 5, ends: "success"),
        Recovery(name: "recovery from filling", call: "renameat2", number: 8, ends: "success"),
        Recovery(
            name: "recovery of kept data",
            call: "renameat2",
            number: 10,
            ends: "success",
            keepsOld: true
        ),
    ]
}

/// An export to a new file, or over an older archive.
private struct Export: Operation {
    let name: String
    let replaces: Bool

    private var older: Data? { replaces ? Data("an older archive".utf8) : nil }

    func prepare(_ place: inout Place) throws {
        if let older { try place.output.write(older) }
    }

    func words(_ place: Place) -> [String] {
        ["export", "--container", place.source.text, "--out", place.output.text]
            + (replaces ? ["--force"] : [])
    }

    func problemsOfOutcome(
        _ place: Place,
        _ point: Point,
        _ ended: Tools.Ended
    ) throws -> [String] {
        var problems: [String] = []
        let output = try place.output.exists ? place.output.contents() : nil
        if output != older && output != place.reference {
            problems.append("the output is neither as before nor a whole archive")
        }
        if ended.code == 0 && output != place.reference {
            problems.append("it succeeds and there is no archive")
        }
        if point.leavesNothing(ended), try !left(place).isEmpty {
            problems.append("it leaves \(try left(place))")
        }
        problems += try TreeSnapshot(of: place.source).differences(from: place.new).map {
            "it changes the container: \($0)"
        }
        let again = try place.migrate(
            ["export", "--container", place.source.text, "--out", place.output.text, "--force"]
        )
        if again.code != 0 {
            problems.append("the next export: \(again.description)")
        } else if try place.output.contents() != place.reference {
            problems.append("the next export makes another archive")
        } else if try !left(place).isEmpty {
            problems.append("the next export leaves \(try left(place))")
        }
        return problems
    }

    private func left(_ place: Place) throws -> Set<BytePath> {
        let inside = Set(try place.source.names()).intersection([".migration"])
        return try place.names().subtracting(["source", "archive", "out", "app"]).union(inside)
    }
}

/// An import into a new container, or over existing data.
private struct Import: Operation {
    // A key pair that `age-keygen` made.
    private static let identity =
        "AGE-SECRET-KEY-1EGTZVFFV20835NWYV6270LXYVK2VKNX2MMDKWYKLMGR48UAWX40Q2P2LM0"
    private static let recipient = "age1xmwwc06ly3ee5rytxm9mflaz2u56jjj36s0mypdrwsvlul66mv4q47ryef"

    let name: String
    let replaces: Bool
    var withoutExchange = false
    var isBound = false
    var isEncrypted = false
    var keepsOld = false

    func prepare(_ place: inout Place) throws {
        if replaces { try place.makeContainer(bound: isBound) }
        guard isEncrypted else { return }
        try place.key.write(Self.identity)
        let output = ["--out", place.sealed.text, "--recipient", Self.recipient]
        let ended = try place.migrate(["export", "--container", place.source.text] + output)
        guard ended.code == 0 else { throw ProofError("encrypting: \(ended.description)") }
    }

    func words(_ place: Place) -> [String] {
        (replaces ? replacing(place) : importing(place))
            + (keepsOld ? ["--keep-old", place.kept.text] : [])
    }

    private func importing(_ place: Place) -> [String] {
        let archive =
            isEncrypted
            ? [place.sealed.text, "--identity", place.key.text] : [place.archive.text]
        return ["import"] + archive + ["--container", place.container.text]
    }

    private func replacing(_ place: Place) -> [String] { importing(place) + ["--replace"] }

    func problemsOfOutcome(
        _ place: Place,
        _ point: Point,
        _ ended: Tools.Ended
    ) throws -> [String] {
        let isCutOff = try place.bookkeeping().contains("import-journal.json")
        return try problems(place, point, ended) { status in
            if ended.code == 0 && status != "success" {
                return "it succeeds, and its status is \(status ?? "unknown")"
            }
            // If no message is possible, that is the failure.
            let isMute = ended.errors.isEmpty || ended.errors.contains("standard output")
            return ended.hasFailed && !isMute && status == "success" && !isCutOff
                ? "it fails, and it has committed" : nil
        }
    }

    /// The broken promises about the container; `problemOfStatus` judges the status.
    func problems(
        _ place: Place,
        _ point: Point,
        _ ended: Tools.Ended,
        _ problemOfStatus: (String?) -> String?
    ) throws -> [String] {
        var problems: [String] = []
        let old = replaces ? place.old : TreeSnapshot()
        if replaces && !withoutExchange && !isBound {
            let contents = try place.contents()
            if contents != old && contents != place.new {
                problems.append("the container is neither the old one nor the new one")
            }
        }
        let (status, answer) = try place.status()
        let contents = try place.contents()
        // A container that was to be made may be missing, and has no status then.
        if status == nil && (contents != nil || replaces) {
            problems.append("its status can't be told: \(answer.description)")
        }
        if (contents ?? TreeSnapshot()) != (status == "success" ? place.new : old) {
            problems.append("its status is \(status ?? "unknown"), and the container is another")
        }
        if keepsOld {
            let kept = try place.kept.exists ? place.contents(of: place.kept) : nil
            if kept != (status == "success" ? place.old : nil) {
                problems.append(
                    "its status is \(status ?? "unknown"), and what is kept is not the old data"
                )
            }
        }
        if let problem = problemOfStatus(status) { problems.append(problem) }
        if ended.hasFailed, status == "none", try !place.bookkeeping().isEmpty {
            problems.append("it fails, and there is no status of that")
        }
        return problems + (try problemsOfNext(place, point, contents))
    }

    private func problemsOfNext(
        _ place: Place,
        _ point: Point,
        _ contents: TreeSnapshot?
    ) throws -> [String] {
        var words = replacing(place)
        var expected = place.new
        if let contents, point.number.isMultiple(of: 2) {
            let output = ["--out", place.output.text, "--force"]
            words = ["export", "--container", place.container.text] + output
            expected = contents
        }
        let ended = try place.migrate(words)
        var problems: [String] = []
        if ended.code != 0 { problems.append("the next \(words[0]): \(ended.description)") }
        if try place.contents() != expected {
            problems.append("the next \(words[0]) leaves another container")
        }
        let left = try place.names().subtracting(
            [
                "source", "archive", "sealed", "key", "app", "out",
            ] + (keepsOld ? ["kept"] : [])
        )
        .union(place.bookkeeping().subtracting(Container.records))
        if !left.isEmpty { problems.append("the next \(words[0]) leaves \(left)") }
        return problems
    }
}

/// Completes an import that was killed at a call.
private struct Recovery: Operation {
    let name: String
    let call: String
    let number: Int
    /// The status with which it ends.
    let ends: String

    var keepsOld = false

    private var killed: Import {
        Import(name: "", replaces: true, withoutExchange: true, keepsOld: keepsOld)
    }
    var withoutExchange: Bool { true }

    func prepare(_ place: inout Place) throws {
        try killed.prepare(&place)
        _ = try place.inject(
            "kill",
            at: call,
            number,
            number,
            into: self,
            words: killed.words(place)
        )
    }

    func words(_ place: Place) -> [String] { ["status", "--container", place.container.text] }

    func problemsOfOutcome(
        _ place: Place,
        _ point: Point,
        _ ended: Tools.Ended
    ) throws -> [String] {
        try killed.problems(place, point, ended) { status in
            // A commit without space is undone.
            let hasRoom = point.fault.kind != .error(ENOSPC)
            return ended.code == 0 && status != ends && hasRoom
                ? "it succeeds, and its status is \(status ?? "unknown")" : nil
        }
    }
}
