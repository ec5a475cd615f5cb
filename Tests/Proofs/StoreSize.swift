import Foundation
import TestTrees

/// Migrates a large SQLite store, and measures the memory that it takes.
struct StoreSize {
    /// The memory of the program itself with Foundation is about 30 MiB.
    private static let limit = 64 * 1024

    private let tools: Tools
    private let megabytes: Int

    init(_ tools: Tools, _ options: inout Options) throws {
        self.tools = tools
        megabytes = try options.number("megabytes") ?? 2048
    }

    /// Returns 1 if the migration failed, took too much memory or showed no progress.
    func run() throws -> Int {
        let store = tools.scratch / "store.db"
        let made = try Tools.run(
            ["python3", "-c", Self.script, store.text, "\(megabytes)"],
            limit: 3600,
            scratch: tools.scratch
        )
        guard made.code == 0 else { throw ProofError("python3: \(made.description)") }
        let plan = URL(filePath: tools.injector).deletingLastPathComponent()
            .appending(path: "store-plan").path
        let (ended, kilobytes, seconds) = try tools.measure(
            [plan, "--store", store.text],
            limit: 3600
        )
        let reports = ended.output.split(separator: "\n").count { $0.contains("progress") }
        let isRight = ended.code == 0 && kilobytes < Self.limit && reports > 0
        let figures = [Double(kilobytes) / 1024, seconds].map { String(format: "%.1f", $0) }
        print(
            "store of \(megabytes) MB, two steps: \(figures[0]) MiB, \(figures[1]) s CPU, "
                + "\(reports) reports of progress" + (isRight ? "" : "  WRONG")
        )
        if ended.code != 0 { print("  \(ended.description)") }
        try store.removeAll()
        return isRight ? 0 : 1
    }

    private static let script = """
        import os, sqlite3, sys
        db = sqlite3.connect(sys.argv[1])
        db.executescript('PRAGMA journal_mode = WAL; CREATE TABLE note (title BLOB);')
        for number in range(int(sys.argv[2])):
            db.executemany('INSERT INTO note VALUES (?)', ((os.urandom(65536),) for _ in range(15)))
            db.commit()
        db.executescript('PRAGMA user_version = 1;')
        """
}
