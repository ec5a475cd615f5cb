/// The commands that are measured, ours and theirs, on one tree.
struct Contest {
    let migrate: String
    let tree: String
    let scratch: ScratchDirectory

    /// Runs every command once: exports, then imports of the archive that ours has written.
    func runRound(oursFirst: Bool) throws(BenchmarkError) -> Round {
        let export = try pair(oursFirst, ours: exportWithMigrate, theirs: exportWithTar)
        let sizes = Pair(
            ours: try TextFile.size(of: ourArchive),
            theirs: try TextFile.size(of: theirArchive)
        )
        let restore = try pair(oursFirst, ours: importWithMigrate, theirs: importWithTar)
        return Round(export: export, restore: restore, archiveSize: sizes)
    }

    /// How many entries the tree has, and the bytes of its files.
    func treeSize() throws(BenchmarkError) -> String {
        let answer = scratch.file("size")
        let pipeline = """
            find "$1" -mindepth 1 -printf '%y %s\\n' |
                awk '$1 == "f" { s += $2 } END { printf "%d entries, %.0f MB", NR, s / 1e6 }'
            """
        _ = try ChildProcess.run(
            ["sh", "-c", pipeline, "sh", tree],
            output: answer,
            complaints: complaints
        )
        return TextFile.read(answer)
    }

    /// The peak memory that any command would be charged with for its start alone.
    func baselineMemory() throws(BenchmarkError) -> Int {
        try ChildProcess.run(["true"], complaints: complaints).memory
    }

    private var ourArchive: String { scratch.file("ours.tar.zst") }
    private var theirArchive: String { scratch.file("theirs.tar.zst") }
    private var complaints: String { scratch.file("complaints") }

    private func pair(
        _ oursFirst: Bool,
        ours: () throws(BenchmarkError) -> Usage,
        theirs: () throws(BenchmarkError) -> Usage
    ) throws(BenchmarkError) -> Pair<Usage> {
        try ChildProcess.checkInterruption()
        if oursFirst {
            let first = try ours()
            return Pair(ours: first, theirs: try theirs())
        }
        let first = try theirs()
        return Pair(ours: try ours(), theirs: first)
    }
}

// MARK: - Commands

extension Contest {
    private func exportWithMigrate() throws(BenchmarkError) -> Usage {
        try scratch.clear("ours.tar.zst")
        return try ChildProcess.run(
            [migrate, "export", "--container", tree, "--out", ourArchive],
            complaints: complaints
        )
    }

    private func exportWithTar() throws(BenchmarkError) -> Usage {
        try scratch.clear("theirs.tar.zst")
        let pipeline = "set -o pipefail; tar cf - -C \"$1\" . | zstd -q -T0 -3 -o \"$2\""
        return try ChildProcess.run(
            ["bash", "-c", pipeline, "bash", tree, theirArchive],
            complaints: complaints
        )
    }

    private func importWithMigrate() throws(BenchmarkError) -> Usage {
        let destination = try scratch.freshDirectory("copy")
        let usage = try ChildProcess.run(
            [migrate, "import", ourArchive, "--container", destination]
                + ["--external-links", "keep"],
            complaints: complaints
        )
        try scratch.clear("copy")
        return usage
    }

    private func importWithTar() throws(BenchmarkError) -> Usage {
        let destination = try scratch.freshDirectory("copy")
        let usage = try ChildProcess.run(
            ["tar", "-I", "zstd", "-xf", ourArchive, "-C", destination],
            complaints: complaints
        )
        try scratch.clear("copy")
        return usage
    }
}
