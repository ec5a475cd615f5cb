/// Some peers, in turn, on one tree.
struct Contest {
    let peers: [Peer]
    let tree: String
    let size: TreeSize
    let level: Int
    let scratch: ScratchDirectory
    let rounds: Int
    /// Seconds after which a peer that only gives context is not run again.
    let patience: Double
    /// Whether the result of each import is compared with the tree, once.
    let compares: Bool
    /// How threads are placed, if the kernel does not decide.
    let placement: ThreadPlacement?

    /// Runs a warm-up and all rounds.
    ///
    /// - Returns: The figures of each peer, and why some are missing.
    func run() throws(BenchmarkError) -> (standings: [Standing], failures: [String]) {
        var standings = peers.map { Standing(peer: $0) }
        var failures: [String] = []
        for round in 0...rounds {
            // Neighbors swap places, so that neither always runs on a processor that the other has
            // heated.
            let order = round % 2 == 0 ? Array(standings.indices) : standings.indices.reversed()
            for index in order where isStillRunning(standings[index], in: round) {
                let peer = standings[index].peer
                TextFile.complain("  \(round == 0 ? "warm-up" : "round \(round)"): \(peer.name)")
                do throws(BenchmarkError) {
                    standings[index].attempts.append(try attempt(peer, round: round))
                } catch {
                    guard case .failedCommand = error, !peer.isEssential else { throw error }
                    failures.append("\(peer.name), which failed: \(error.summary)")
                    try clear(ground(for: peer))
                }
            }
        }
        return (standings.filter { !$0.attempts.isEmpty }, failures)
    }

    private func isStillRunning(_ standing: Standing, in round: Int) -> Bool {
        guard round > 0 else { return true }
        // A peer that failed has no attempt in the round before.
        guard let last = standing.attempts.last, last.round == round - 1 else { return false }
        let slowest = last.usages.values.map(\.wall).max() ?? 0
        return standing.peer.isEssential || round > 1 || slowest <= patience
    }
}

// MARK: - One attempt

extension Contest {
    private func attempt(_ peer: Peer, round: Int) throws(BenchmarkError) -> Attempt {
        let ground = ground(for: peer)
        try clear(ground)
        var usages: [Operation: Usage] = [:]
        for words in peer.preparation(ground) {
            try ChildProcess.run(words, complaints: scratch.complaints)
        }
        usages[.export] = try measure(peer.export(ground))
        let archiveSize = try sizeOfArchive(ground)
        if let words = peer.verification(ground) {
            usages[.verify] = try measure(words)
        }
        _ = try scratch.freshDirectory("copy")
        usages[.restore] = try measure(peer.restore(ground))
        try check(peer, ground, inFull: compares && round == 0)
        try clear(ground)
        return Attempt(round: round, usages: usages, archiveSize: archiveSize)
    }

    private func ground(for peer: Peer) -> PeerGround {
        PeerGround(
            tree: tree,
            archive: scratch.file("archive\(peer.suffix)"),
            destination: scratch.file("copy"),
            level: level
        )
    }

    private func measure(_ words: [String]) throws(BenchmarkError) -> Usage {
        try Interruption.check()
        try scratch.settle()
        return try ChildProcess.run(
            words,
            complaints: scratch.complaints,
            placement: placement
        )
    }

    private func clear(_ ground: PeerGround) throws(BenchmarkError) {
        try ChildProcess.run(
            ["rm", "-rf", "--", ground.archive, ground.destination],
            complaints: "/dev/null"
        )
    }

    private func sizeOfArchive(_ ground: PeerGround) throws(BenchmarkError) -> Double {
        switch TextFile.kind(of: ground.archive) {
        case .file(let size): return Double(size)
        case .directory, .other: return try TreeSize.measure(ground.archive, in: scratch).bytes
        }
    }

    /// Compares the imported tree with the original.
    private func check(
        _ peer: Peer,
        _ ground: PeerGround,
        inFull: Bool
    ) throws(BenchmarkError) {
        let restored = try TreeSize.measure(ground.destination, in: scratch)
        guard restored.leaves == size.leaves else {
            throw .failedCommand(
                name: "import with \(peer.name)",
                outcome: "made \(restored.leaves) of \(size.leaves) files and links",
                complaint: ""
            )
        }
        if inFull {
            try ChildProcess.run(
                ["diff", "-rq", "--no-dereference", "--exclude=.migration"]
                    + [tree, ground.destination],
                output: scratch.file("differences"),
                complaints: scratch.complaints
            )
        }
    }
}
