import Foundation
import Glibc
import TestTrees

/// Migrates SQLite stores while apps wait for them and while it is killed, and stores with odd
/// schemas.
struct Stores {
    private let tools: Tools
    private let apps: Int
    private let kills: Int
    private let schemas: Int
    private let inferences: Int
    private let seed: Int
    private let plan: String

    init(_ tools: Tools, _ options: inout Options) throws {
        self.tools = tools
        apps = try options.number("apps") ?? 100
        kills = try options.number("kills") ?? 200
        schemas = try options.number("schemas") ?? 1000
        inferences = try options.number("inferences") ?? 500
        seed = try options.number("seed") ?? Int.random(in: 1...1_000_000)
        // It is beside the programs of the proofs, whichever `migrate` is tested.
        plan =
            URL(filePath: tools.injector).deletingLastPathComponent()
            .appending(path: "store-plan").path
    }

    /// Returns the number of failures.
    func run() throws -> Int {
        var failures = 0
        let parts = [
            ("apps", apps), ("kills", kills), ("schemas", schemas), ("permitted", inferences),
            ("refused", inferences), ("inferenceKills", max(1, inferences / 5)),
        ]
        for (part, count) in parts {
            let directory = tools.scratch / BytePath(part)
            try directory.makeDirectory()
            let ended = try Tools.run(
                [
                    "python3", Tools.root + "/Tests/Proofs/stores.py", part, "\(count)",
                    "\(seed)", tools.migrate, plan,
                ],
                in: directory,
                limit: 7200,
                scratch: tools.scratch
            )
            print(ended.output, terminator: "")
            if ended.code != 0 {
                failures += 1
                print("  \(part) WRONG (--seed \(seed)): \(ended.description)")
            }
            try directory.removeAll()
        }
        return failures
    }
}
