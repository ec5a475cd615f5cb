/// How much a tree holds.
struct TreeSize {
    /// Files, links and directories, without the root.
    let entries: Int
    /// Everything but directories; some programs make more directories than there were.
    let leaves: Int
    /// The sum of the files' lengths.
    let bytes: Double

    /// Counts everything below `path`, without the bookkeeping of an import.
    static func measure(
        _ path: String,
        in scratch: ScratchDirectory
    ) throws(BenchmarkError) -> TreeSize {
        let answer = scratch.file("size")
        let pipeline = """
            find "$1" -mindepth 1 -path "$1/.migration" -prune -o -mindepth 1 -printf '%y %s\\n' |
                awk '$1 != "d" { n++ } $1 == "f" { s += $2 }
                     END { printf "%d %d %.0f", NR, n, s }'
            """
        try ChildProcess.run(
            ["sh", "-c", pipeline, "sh", path],
            output: answer,
            complaints: scratch.complaints
        )
        let numbers = TextFile.read(answer).split(separator: " ").compactMap { Double($0) }
        guard numbers.count == 3 else {
            throw .system(call: "find", subject: path, code: 0)
        }
        return TreeSize(entries: Int(numbers[0]), leaves: Int(numbers[1]), bytes: numbers[2])
    }
}
