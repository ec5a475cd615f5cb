import Foundation
import Glibc
import TestTrees

/// Sends a container to an SSH server on the loopback, kills the processes that take part at random
/// bytes, and sends it again until it has arrived.
struct Transfer {
    /// The process that is killed.
    private enum Victim: String, CaseIterable {
        case sender, client = "ssh", session = "sshd", receiver
    }

    /// How a killed run ended: before the archive was whole, or after.
    private enum Outcome {
        case cut, late
    }

    /// The archive that a transfer makes.
    private struct Archive {
        let count: Int
        /// Where its pieces begin and the last one ends.
        let boundaries: [Int]

        init(bytes: [UInt8]) {
            count = bytes.count
            boundaries = FrameBoundaries.of(bytes)
        }
    }

    private struct Score {
        var (cut, late, failed) = (0, 0, 0)
        var (offered, kept) = (0, 0)
        var (sent, whole) = (0, 0)
    }

    /// The bytes that ssh itself may add to a transfer: a fixed number, and one byte for every
    /// `share` bytes sent.
    private static let (overhead, share) = (60_000, 50)

    private let tools: Tools
    private let kills: Int

    init(_ tools: Tools, kills: Int) {
        self.tools = tools
        self.kills = kills
    }

    private var source: BytePath { tools.scratch / "source" }
    private var whole: BytePath { tools.scratch / "whole" }
    private var there: BytePath { tools.scratch / "there" }
    private var partial: BytePath { tools.scratch / "there.partial" }
    private var imported: BytePath { tools.scratch / "imported" }
    private var log: BytePath { tools.scratch / "ssh.log" }

    /// Kills each victim in turn, and finishes each transfer; then the same with an import at the other end.
    ///
    /// - Returns: How often a cut archive or container was taken for a whole one, a transfer could not be
    ///   finished, or proved bytes were sent again.
    func run() throws -> Int {
        if let reason = SecureShell.whyMissing {
            print("skipped: \(reason)")
            return 0
        }
        try makeSource()
        let shell = try SecureShell(in: tools.scratch / "shell")
        defer { shell.stop() }
        let plain = try transfer(kills, importing: false, shell)
        print(
            "killed transfers: cut \(plain.cut), late \(plain.late), failed \(plain.failed)\n"
                + "sent again of \(plain.offered) proved bytes: \(plain.offered - plain.kept); "
                + "over the wire \(plain.sent) bytes instead of \(plain.whole)"
        )
        let importing = try transfer((kills + 9) / 10, importing: true, shell)
        print(
            "killed transfers with an import: cut \(importing.cut), late \(importing.late), "
                + "failed \(importing.failed)"
        )
        return plain.failed + importing.failed
    }

    private func makeSource() throws {
        try source.makeDirectory()
        try VariedTree.make(in: source)
        let script = """
            cd "$0"/Documents && head -c 14000000 /dev/urandom > noise && mkdir many &&
            for n in $(seq 300); do seq $((n * 10)) $((n * 15)) > many/$n; done && seq 400000 > log
            """
        try Tools.call(["bash", "-c", script, source.text])
        try Tools.call([tools.migrate, "export", "--container", source.text, "--out", whole.text])
        let asked = try tools.run(["fingerprint", "--container", source.text])
        let proved = try tools.run(["verify", whole.text, "--json"])
        let fingerprint = asked.output.trimmingCharacters(in: .newlines)
        guard asked.code == 0, !fingerprint.isEmpty, proved.output.contains(fingerprint) else {
            throw ProofError("an export has another fingerprint than its container")
        }
    }

    // MARK: - Kills

    private func transfer(
        _ kills: Int,
        importing: Bool,
        _ shell: SecureShell
    ) throws -> Score {
        var score = Score()
        let archive = Archive(bytes: [UInt8](try whole.contents()))
        var victims = Victim.allCases[...]
        while score.cut < kills {
            let victim = victims.popFirst() ?? .sender
            if victims.isEmpty { victims = Victim.allCases[...] }
            do {
                var outcome = try killOnce(victim, importing: importing, archive, shell)
                while outcome == .cut, Int.random(in: 0..<3) == 0 {
                    score.cut += 1
                    let other = Victim.allCases.randomElement() ?? victim
                    outcome = try killOnce(other, importing: importing, archive, shell)
                }
                if outcome == .cut { score.cut += 1 } else { score.late += 1 }
                try finish(importing: importing, archive, shell, &score)
            } catch let error as ProofError {
                print("\(victim.rawValue) killed: \(error)")
                score.failed += 1
                score.cut += 1
                try waitForReceivers()
            }
            for path in [there, partial, imported] { try path.removeAll() }
        }
        return score
    }

    private func words(importing: Bool, _ shell: SecureShell) -> [String] {
        [
            "send", shell.url(of: there), "--container", source.text, "--json",
            "--remote-command", "'\(tools.migrate)'",
        ] + (importing ? ["--import", imported.text] : [])
    }

    /// Kills a run at a random moment, and checks the files that it left.
    private func killOnce(
        _ victim: Victim,
        importing: Bool,
        _ archive: Archive,
        _ shell: SecureShell
    ) throws -> Outcome {
        let process = Process()
        process.executableURL = URL(filePath: tools.migrate)
        process.arguments = words(importing: importing, shell)
        process.environment = ProcessInfo.processInfo.environment
            .merging(shell.environment(log: log.text)) { $1 }
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        // After the end, the receiver proves the archive and imports it.
        let margin = archive.count / (importing ? 2 : 8)
        let limit = Int.random(in: -margin / 4..<archive.count + margin)
        while process.isRunning, limit >= 0, size(of: partial) < min(limit, archive.count) {
            usleep(200)
        }
        usleep(UInt32(max(0, limit < 0 ? -limit : limit - archive.count) / 10))
        var targets: [pid_t] = []
        while process.isRunning, targets.isEmpty {
            targets = processes(of: victim, sentBy: process.processIdentifier, shell)
        }
        for target in targets { kill(target, SIGKILL) }
        process.waitUntilExit()
        let isKilled = process.terminationReason == .uncaughtSignal
        let code = process.terminationStatus
        let isThere = there.exists
        guard isKilled || code == 74 || code == 75 || (code == 0 && isThere) else {
            throw ProofError("the sender ends with \(code)")
        }
        // Sometimes the next run comes while the receiver still works.
        if importing || Bool.random() { try waitForReceivers() }
        try checkPresent()
        return there.exists ? .late : .cut
    }

    private func size(of path: BytePath) -> Int {
        (try? path.status()).map { Int($0.st_size) } ?? 0
    }

    /// Whether a file begins as the whole archive, or is the same.
    private func isSame(_ path: BytePath, upTo count: Int? = nil) throws -> Bool {
        let limit = count.map { ["-n", "\($0)"] } ?? []
        let words = ["cmp", "-s"] + limit + [path.text, whole.text]
        return try Tools.run(words, scratch: tools.scratch).code == 0
    }

    private func processes(
        of victim: Victim,
        sentBy sender: pid_t,
        _ shell: SecureShell
    ) -> [pid_t] {
        switch victim {
        case .sender: [sender]
        case .client: Tools.children(of: sender)
        case .session: shell.sessions
        case .receiver: receivers
        }
    }

    /// The processes that write the archive.
    private var receivers: [pid_t] {
        let processes = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        let program = URL(filePath: tools.migrate).resolvingSymlinksInPath().path
        return processes.compactMap { name in
            guard let number = pid_t(name),
                let words = try? String(contentsOfFile: "/proc/\(name)/cmdline", encoding: .utf8),
                words.contains("\0receive\0"), words.hasSuffix("\0\(there.text)\0"),
                let target = try? FileManager.default.destinationOfSymbolicLink(
                    atPath: "/proc/\(name)/exe"
                ), target == program
            else { return nil }
            return number
        }
    }

    private func waitForReceivers() throws {
        for _ in 0..<10_000 {
            if receivers.isEmpty { return }
            usleep(1000)
        }
        throw ProofError("a receiver is left")
    }

    /// Throws if a file with the archive's name is not the whole archive, or a container is half imported.
    private func checkPresent() throws {
        if there.exists, try !isSame(there) {
            throw ProofError("a file of \(size(of: there)) bytes stands for the whole archive")
        }
        guard imported.exists else { return }
        let isThere = try Container.status(of: imported, tools).hasPrefix("success")
        let found = try Container.contents(of: imported)
        let difference = try found.differences(from: Container.contents(of: source))
        guard difference.isEmpty ? isThere : found.nodes.isEmpty else {
            throw ProofError("a container is neither the old nor the new one")
        }
    }

    // MARK: - Finishing

    /// Sends the container until that succeeds, and compares the archive and the number of sent
    /// bytes.
    private func finish(
        importing: Bool,
        _ archive: Archive,
        _ shell: SecureShell,
        _ score: inout Score
    ) throws {
        var proved: [Int]?
        var ended: Tools.Ended
        var tries = 0
        repeat {
            if tries > 0 { usleep(20_000) }
            if receivers.isEmpty { proved = try provedBytes(archive) }
            try? log.removeFile()
            ended = try tools.run(
                words(importing: importing, shell),
                environment: shell.environment(log: log.text),
                limit: 60
            )
            tries += 1
        } while [74, 75].contains(ended.code) && tries < 200
        guard ended.code == 0 else { throw ProofError("sent again, \(ended.description)") }
        guard there.exists, try isSame(there), !partial.exists else {
            throw ProofError("the archive that was sent again is another one")
        }
        try checkAmounts(of: ended, proved, archive, &score)
        guard importing else { return }
        let found = try Container.contents(of: imported)
        guard try found.differences(from: Container.contents(of: source)).isEmpty else {
            throw ProofError("what was imported is another tree")
        }
    }

    /// The bytes of the pieces that the receiver can prove: a piece is proved once the next one, or
    /// a table after it, shows that nothing more belongs to it.
    private func provedBytes(_ archive: Archive) throws -> [Int] {
        let boundaries = archive.boundaries
        guard !there.exists else { return [boundaries[boundaries.count - 1] - boundaries[0]] }
        guard partial.exists else { return [0] }
        let size = size(of: partial)
        guard try isSame(partial, upTo: size) else {
            throw ProofError("a cut transfer left other bytes than the archive begins with")
        }
        return [size, size - 8].map { end in
            (boundaries.last { $0 <= end } ?? boundaries[0]) - boundaries[0]
        }
    }

    private func checkAmounts(
        of ended: Tools.Ended,
        _ proved: [Int]?,
        _ archive: Archive,
        _ score: inout Score
    ) throws {
        let value = try JSONSerialization.jsonObject(with: Data(ended.output.utf8))
        guard let answer = value as? [String: Any], let kept = answer["resumedBytes"] as? Int,
            let offered = (answer["transfer"] as? [String: Any])?["offeredBytes"] as? Int,
            let sent = try SecureShell.sentBytes(log: log)
        else { throw ProofError("a transfer doesn't say what it kept: \(ended.output)") }
        score.offered += offered
        score.kept += kept
        score.sent += sent
        score.whole += archive.count
        guard kept == offered, proved?.contains(kept) != false else {
            throw ProofError(
                "kept \(kept) of \(offered) bytes, of which \(proved ?? []) were there"
            )
        }
        let needed = archive.count - kept
        let most = needed + needed / Self.share + Self.overhead
        guard sent >= needed - archive.boundaries[0], sent <= most else {
            throw ProofError("sent \(sent) bytes where \(needed) were missing")
        }
    }
}
