import Foundation
import Glibc
import Synchronization
import TestTrees

/// Runs archives with known verdicts through `migrate import` and other readers, and keeps score.
struct Corpus {
    private static let memory = 64 * 1024

    /// A verdict of another corpus that this project decides otherwise.
    private struct Decision {
        let verdict: String
        let reason: String
        /// The reader that makes the right tree although the others agree on another one.
        var model: Reader?
    }

    private static let decisions = [
        "s06-no-eof.tar": Decision(
            verdict: "accept",
            reason: "without an end mark, as in five accepted cases: with a warning"
        ),
        "s08-trailing-garbage.tar": Decision(
            verdict: "accept",
            reason: "bytes behind the end mark, as Ant leaves: with a warning"
        ),
        "z19-gzip-instead.tar.zst": Decision(
            verdict: "accept",
            reason: "a sound gzip file is read whatever its name says"
        ),
        "sync-gzip-fail.tgz": Decision(
            verdict: "accept",
            reason: "a sound gzip file, which GNU tar and bsdtar read too"
        ),
        "t11-xattr-capability.tar": Decision(
            verdict: "accept",
            reason: "the attribute is not restored, and the report says so"
        ),
        "t12-xattr-trusted.tar": Decision(
            verdict: "accept",
            reason: "the attribute is not restored, and the report says so"
        ),
        "golden-decompression__empty-block.zst": Decision(
            verdict: "reject",
            reason: "a sound frame, but with no tar in it"
        ),
        "golden-decompression__zeroSeq_2B.zst": Decision(
            verdict: "reject",
            reason: "the system's libzstd 1.5.4 can't read it either"
        ),
        "long-name-before-an-extended-header.tar": Decision(
            verdict: "accept",
            reason: "the extended header's path counts, as POSIX says and GNU tar does",
            model: .tar
        ),
    ]

    private let tools: Tools
    private let directories: [BytePath]

    init(_ tools: Tools, _ options: inout Options) {
        self.tools = tools
        directories = options.takeOperands().map { BytePath($0) }
    }

    /// Runs the corpora, or the project's own if none is given, and returns how often `migrate` is
    /// wrong.
    func run() throws -> Int {
        var directories = directories
        if directories.isEmpty {
            directories = [tools.scratch / "corpus"]
            try directories[0].makeDirectory()
            // The tests write it.
            try Tools.call(
                [
                    "swift", "test", "--package-path", Tools.root, "--disable-xctest", "--filter",
                    "HostileCorpusTests",
                ],
                environment: ["MIGRATION_CORPUS": directories[0].text]
            )
        }
        var wrong = 0
        for directory in directories {
            let cases = try readCases(directory)
            guard !cases.isEmpty else { throw ProofError("\(directory) has no archives") }
            wrong += show(try run(cases))
        }
        return wrong
    }

    private func readCases(_ directory: BytePath) throws -> [Case] {
        let index = String(decoding: try (directory / "INDEX.tsv").contents(), as: UTF8.self)
        let rows = index.split(whereSeparator: \.isNewline).map {
            $0.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
        }
        guard let heads = rows.first else { return [] }
        return try rows.dropFirst().map { row in
            let cells = Dictionary(zip(heads, row)) { first, _ in first }
            guard let file = cells["file"], var verdict = cells["tar_layer_verdict"] else {
                throw ProofError("\(directory): INDEX.tsv lacks 'file' or 'tar_layer_verdict'")
            }
            if verdict.hasPrefix("not tar") { verdict = "reject" }
            let policy = cells["import_policy"] ?? ""
            let stated = policy.hasPrefix("refuse import") ? "reject" : verdict
            let name = file.split(separator: "/").last.map(String.init) ?? file
            let decision = Self.decisions[name]
            return Case(
                name: file,
                path: directory / BytePath(file),
                tarVerdict: verdict,
                stated: stated,
                verdict: decision?.verdict ?? stated,
                reason: decision?.reason,
                model: decision?.model
            )
        }
    }

    /// One archive, and the results of the readers.
    private struct Case: Sendable {
        let name: String
        let path: BytePath
        let tarVerdict: String
        let stated: String
        let verdict: String
        let reason: String?
        let model: Reader?
        var verifies = false
        var ours: Outcome?
        var peers: [Reader: Outcome] = [:]

        /// The tree that at least two of the other readers made without an error.
        var agreedTree: Int? {
            let trees = peers.values.filter { $0.ended.code == 0 }.compactMap(\.tree)
            return trees.first { tree in trees.count { $0 == tree } > 1 }
        }

        /// The tree that `migrate` must make; `nil` if the other readers don't agree.
        var rightTree: Int? {
            model.flatMap { peers[$0] }?.tree ?? agreedTree
        }
    }

    // MARK: - Reading

    private enum Reader: String, CaseIterable {
        case migrate, tar = "GNU tar", bsdtar, python = "Python"

        /// A reader, which extracts into the current directory.
        func words(_ tools: Tools, _ archive: BytePath, _ target: BytePath) -> [String] {
            let program =
                """
                import sys, tarfile
                with tarfile.open(sys.argv[1]) as t: t.extractall(sys.argv[2], filter='data')
                """
            // Prevents readers without limits of their own from filling the disk (blocks of 512
            // bytes for each file), even if the signal for it was inherited as ignored, as from
            // Python.
            let limited = [
                "env", "--default-signal=XFSZ", "sh", "-c", "ulimit -f 819200; exec \"$@\"", "sh",
            ]
            return switch self {
            case .migrate:
                [
                    tools.migrate, "import", archive.text, "--container", target.text,
                    "--progress", "none",
                ]
            case .tar: limited + ["tar", "-xf", archive.text, "-C", target.text]
            case .bsdtar: limited + ["bsdtar", "-xf", archive.text, "-C", target.text]
            case .python: limited + ["python3", "-c", program, archive.text, target.text]
            }
        }
    }

    /// The result of one reader with one archive.
    private struct Outcome: Sendable {
        let ended: Tools.Ended
        let kilobytes: Int
        /// Identifies the tree that it made; a peer may leave anything when it fails.
        let tree: Int?
        let isOutside: Bool

        var hasCrashed: Bool {
            let crashes = [SIGSEGV, SIGILL, SIGABRT, SIGBUS, SIGTRAP, SIGFPE]
            return crashes.contains(ended.signal ?? 0)
        }
    }

    private let peers = Reader.allCases.filter { reader in
        reader != .migrate && (reader != .bsdtar || Tools.has("bsdtar"))
    }

    /// Lets every reader try every archive, as many at a time as there are processors.
    private func run(_ cases: [Case]) throws -> [Case] {
        let done = Mutex<[Int: Result<Case, any Error>]>([:])
        DispatchQueue.concurrentPerform(iterations: cases.count) { index in
            let result = Result { try run(cases[index], number: index) }
            done.withLock { $0[index] = result }
        }
        return try done.withLock { done in
            try done.sorted { $0.key < $1.key }.map { try $0.value.get() }
        }
    }

    private func run(_ asked: Case, number: Int) throws -> Case {
        var ran = asked
        let words = ["verify", asked.path.text, "--progress", "none"]
        ran.verifies = try tools.run(words, limit: 300).code == 0
        func outcome(_ reader: Reader) throws -> Outcome {
            let jail = tools.scratch / BytePath("jail-\(number)-\(reader.rawValue)")
            defer { try? jail.removeAll() }
            return try run(reader, asked.path, jail)
        }
        ran.ours = try outcome(.migrate)
        for peer in peers { ran.peers[peer] = try outcome(peer) }
        return ran
    }

    private func run(_ reader: Reader, _ archive: BytePath, _ jail: BytePath) throws -> Outcome {
        let target = jail / "target"
        for directory in [jail, jail / "outside", target] { try directory.makeDirectory() }
        for name in ["canary", "secret"] { try (jail / "outside" / BytePath(name)).write(name) }
        let before = try Surroundings(of: jail)
        let (ended, kilobytes, _) = try tools.measure(
            reader.words(tools, archive, target),
            in: target,
            limit: 30
        )
        let isOutside = try Surroundings(of: jail) != before
        if geteuid() != 0 { try Tools.call(["chmod", "-R", "u+rwX", jail.text]) }
        let isKnown = reader == .migrate || ended.code == 0
        return Outcome(
            ended: ended,
            kilobytes: kilobytes,
            tree: isKnown ? try outline(of: target) : nil,
            isOutside: isOutside
        )
    }

    /// Everything that a reader must not change, including links to outside.
    private struct Surroundings: Equatable {
        private let planted: [Bool]
        private let tree: TreeSnapshot
        private var linkCounts: [nlink_t] = []

        init(of jail: BytePath) throws {
            planted = (["/jail", "/outside", "/tmp/evil.txt"] as [BytePath]).map(\.exists)
            tree = try TreeSnapshot(of: jail, excluding: ["target"])
            for path in tree.nodes.keys.sorted() {
                linkCounts.append(try (jail / path).status().st_nlink)
            }
        }
    }

    /// Identifies a tree by names, kinds, contents and links, without modes and times.
    private func outline(of target: BytePath) throws -> Int {
        var hasher = Hasher()
        let nodes = try TreeSnapshot(of: target, excluding: [".migration"]).nodes
        for (path, node) in nodes.sorted(by: { $0.key < $1.key }) {
            hasher.combine(path)
            hasher.combine(node.type)
            hasher.combine(node.content)
            hasher.combine(node.target)
            hasher.combine(node.firstName)
        }
        return hasher.finalize()
    }

    // MARK: - Judging

    /// The mistakes of `migrate` or a peer; peers need not follow the rules of an import.
    private func faults(_ ran: Case, _ outcome: Outcome, isPeer: Bool) -> [String] {
        let verdict = isPeer ? ran.tarVerdict : ran.verdict
        let hasTaken = outcome.ended.code == 0
        var faults: [String] = []
        if outcome.ended.hangs { faults.append("hung") }
        if outcome.hasCrashed { faults.append("crashed") }
        if outcome.isOutside { faults.append("touched what is outside") }
        if verdict == "accept" && !hasTaken { faults.append("refused it") }
        if verdict == "reject" && hasTaken { faults.append("took it") }
        let tree = isPeer ? ran.agreedTree : ran.rightTree
        if verdict == "accept", hasTaken, let tree, tree != outcome.tree {
            faults.append("made another tree")
        }
        return isPeer ? faults : faults + brokenPromises(ran, outcome)
    }

    /// The promises of `migrate` beyond those of other readers.
    private func brokenPromises(_ ran: Case, _ outcome: Outcome) -> [String] {
        var broken: [String] = []
        let code = outcome.ended.code
        if outcome.kilobytes > Self.memory { broken.append("took \(outcome.kilobytes) KiB") }
        if ran.verifies != (code == 0) { broken.append("verify says otherwise") }
        guard let code, code != 0 else { return broken }
        if code != 65 { broken.append("ended with \(code)") }
        let lines = outcome.ended.errors.split(whereSeparator: \.isNewline)
        if lines.count != 1 || !lines[0].hasPrefix("migrate: error: ") {
            broken.append("gave no error of one line")
        } else if !lines[0].contains("at byte") && !lines[0].contains(": not a") {
            broken.append("did not say where")
        }
        if outcome.tree != Hasher().finalize() { broken.append("left something behind") }
        return broken
    }

    /// Prints the scoreboard; returns how many archives `migrate` is wrong about.
    private func show(_ cases: [Case]) -> Int {
        let judged = cases.map { ran in
            (ran, ran.ours.map { faults(ran, $0, isPeer: false) } ?? ["was not read"])
        }
        let wrong = judged.count { !$0.1.isEmpty }
        let decided = judged.filter { $0.1.isEmpty }.map(\.0).filter { $0.reason != nil }
        for ran in decided {
            print(
                "decided otherwise: \(ran.name): \(ran.stated) -> \(ran.verdict): \(ran.reason ?? "")"
            )
        }
        for (ran, faults) in judged where !faults.isEmpty {
            let errors = ran.ours?.ended.errors.suffix(200) ?? ""
            print(
                "WRONG: \(ran.name) (\(ran.verdict)): \(faults.joined(separator: ", ")): \(errors)"
            )
        }
        showRow(
            "",
            [
                "right", "decided", "wrong", "accepts", "rejects", "same tree", "outside",
                "crashed", "hung", "peak MiB",
            ]
        )
        showRow(of: "migrate", cases, isPeer: false, decided: decided.count) { $0.ours }
        for peer in peers {
            showRow(of: peer.rawValue, cases, isPeer: true, decided: 0) { $0.peers[peer] }
        }
        let free = cases.count { $0.verdict == "either" }
        print(
            "\(cases.count) archives, \(free) of them free to take or refuse; migrate: right "
                + "\(cases.count - decided.count - wrong), decided otherwise \(decided.count), "
                + "wrong \(wrong)"
        )
        return wrong
    }

    private func showRow(_ name: String, _ cells: [String]) {
        print(name.padded(to: 8) + cells.map { $0.padded(to: -10) }.joined())
    }

    private func showRow(
        of name: String,
        _ cases: [Case],
        isPeer: Bool,
        decided: Int,
        _ outcome: (Case) -> Outcome?
    ) {
        let read = cases.compactMap { ran in outcome(ran).map { (ran, $0) } }
        func share(_ verdict: String, _ isRight: (Int32?) -> Bool) -> String {
            let asked = read.filter { (isPeer ? $0.0.tarVerdict : $0.0.verdict) == verdict }
            return "\(asked.count { isRight($0.1.ended.code) })/\(asked.count)"
        }
        let wrong = read.count { !faults($0.0, $0.1, isPeer: isPeer).isEmpty }
        let agreed = read.filter { $0.0.agreedTree != nil && $0.1.ended.code == 0 }
        let same = agreed.count { $0.0.agreedTree == $0.1.tree }
        let peak = read.map(\.1.kilobytes).max() ?? 0
        let counts = [
            share("accept") { $0 == 0 }, share("reject") { $0 != 0 }, "\(same)/\(agreed.count)",
            "\(read.count { $0.1.isOutside })", "\(read.count { $0.1.hasCrashed })",
            "\(read.count { $0.1.ended.hangs })", "\((peak + 512) / 1024)",
        ]
        showRow(
            name,
            ["\(cases.count - wrong - decided)", isPeer ? "-" : "\(decided)", "\(wrong)"] + counts
        )
    }
}
