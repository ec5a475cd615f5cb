import Foundation
import Glibc
import TestTrees

/// Long-running proofs of what `migrate` promises, each with a short form.
@main
enum Proofs {
    static let usage = """
        USAGE: Scripts/prove <proof> [<options>]

        Proves it of the installed migrate, or of the one that MIGRATE names.

        torture      Runs exports, imports and recoveries of a small container once for every call to the
                     system that touches a file, and for every fault: killed at the call, an error (EIO,
                     ENOSPC, EINTR) once and for ever, half of what was to be read or written. As root also
                     power loss at every call that changes something, on ext4 and xfs. After each, the
                     archive is whole or not there, the container is the old one or the new one, the import
                     status is true, and the next command works and leaves nothing behind.
                       --step <n>            try every n-th point only
                       --threads <n>         how many threads migrate uses (default: 1)
                       --jobs <n>            how many points are tried at a time (default: a processor each)
                       --only <part>         faults, or power-loss
                       --operation <words>   only operations whose name holds these words
        allocations  Makes an allocation of an export, of imports and of a recovery fail, once and from then
                     on. Whatever the process makes of it, the archive is whole or not there, and the
                     container is the old one or the new one.
                       --points <n>          try so many of each, spread evenly (default: every one)
        corpus       Runs archives with known verdicts through migrate import, GNU tar, bsdtar and Python,
                     and keeps score. The words behind it are directories with a table INDEX.tsv (columns
                     'file' and 'tar_layer_verdict': accept, reject or either; 'import_policy' if there is
                     one); without any, the project's own corpus is made.
        bounds       Measures the memory that archives take which try to take much.
                       --share <n>           only one of so many of what they hold (default: 1)
        round-trip   Exports trees with 1, 2 and 8 threads, which must give the same bytes; verifies; has
                     tar, bsdtar, zstd and Python read; imports, and compares what came out with what went
                     in. The words behind it are trees; without any, large ones of this machine.
        encryption   Moves a sparse file from tar and age to migrate, out of a file and a pipe, and bytes
                     that don't compress from migrate to age, which must decrypt what an export without
                     encryption writes.
                       --megabytes <n>       how large (default: 5120)
        odd-container
                     Moves a container of everything that is hard to carry, and says what other readers
                     make of its archive.
        store-size   Migrates a large SQLite store with a plan, and measures the memory that it takes.
                       --megabytes <n>       how large (default: 2048)
        stores       Migrates SQLite stores while apps wait for them, while it is killed at random moments,
                     and stores of random schemas. No commit that an app was told of is lost, a killed
                     migration leaves the old store or the new one, and what no step touches stays equal.
                     Stores are brought to random schemas without a plan: they end as new ones with the
                     same rows, or stay as they were.
                       --apps <n>            how many apps (default: 100)
                       --kills <n>           how many kills (default: 200)
                       --schemas <n>         how many schemas (default: 1000)
                       --inferences <n>      how many changes of schemas that are permitted, as many that
                                             are not, and kills for each fifth of them (default: 500)
                       --seed <n>            repeats the choices of a run
        streams      Kills exports whose archive a command takes, their guards and their process groups, at
                     random bytes. The command never takes what it has for a whole archive.
                       --kills <n>           how many of each, with each of three commands (default: 1000)
        object-store Kills exports whose archive 'aws s3 cp' uploads to an S3 server, their guards and their
                     process groups, at random bytes. No cut archive ever becomes an object.
                       --kills <n>           how many uploads (default: 120)
        transfer     Sends a container to an SSH server of its own on the loopback, and kills the sender, ssh,
                     sshd's session and the receiver in turn, at random bytes. What has the archive's name is
                     whole, the next run goes on, and nothing that was proved is sent again.
                       --kills <n>           how many transfers (default: 250)
        fleet        Moves many small containers as Examples/Fleet does, kills runs and the scheduler and
                     makes the system's calls fail at random, goes on, and compares every tree.
                       --jobs <n>            how many containers (default: 10000)
                       --files <n>           how many files in each (default: 50)
                       --with <scheduler>    parallel, or slurm on a node of its own (default: parallel)
                       --faults none         disturb nothing, and measure the jobs a second
        short        Runs little of each: less than three minutes. The words behind it are proofs; without
                     any, all of them.
        soak         Mixes all operations, kills and faults at random, with a model beside them, and checks
                     after each step.
                       --seconds <n>         how long (default: 3600)
                       --seed <n>            repeats the choices of a run

        Prints what was tried and how much of it failed, and ends with 1 where something did.

        """

    static func main() {
        do {
            var words = Array(CommandLine.arguments.dropFirst())
            if words.first == "measure" { try Tools.measureHere(Array(words.dropFirst())) }
            let tools = try Tools(&words)
            let proof = words.isEmpty ? "" : words.removeFirst()
            if ["--help", "-h"].contains(proof) {
                print(usage, terminator: "")
                exit(0)
            }
            var options = try Options(words)
            exit(try run(proof, tools, &options) == 0 ? 0 : 1)
        } catch {
            FileHandle.standardError.write(Data("prove: error: \(error)\n".utf8))
            exit(1)
        }
    }

    /// Runs the proof, and returns the number of failures.
    private static func run(
        _ proof: String,
        _ tools: Tools,
        _ options: inout Options
    ) throws -> Int {
        let tools = try tools.within(BytePath(proof))
        switch proof {
        case "short":
            let shortForms = [
                ("torture", ["--only", "faults", "--step", "600"]), ("corpus", []),
                ("bounds", ["--share", "200"]),
                ("round-trip", [Tools.root + "/Sources"]), ("encryption", ["--megabytes", "64"]),
                ("odd-container", []),
                ("store-size", ["--megabytes", "128"]),
                (
                    "stores",
                    ["--apps", "16", "--kills", "10", "--schemas", "10", "--inferences", "10"]
                ),
                ("streams", ["--kills", "5"]),
                ("object-store", ["--kills", "1"]), ("transfer", ["--kills", "4"]),
                ("fleet", ["--jobs", "40", "--files", "5"]),
                ("soak", ["--seconds", "30"]),
            ]
            let names = options.takeOperands()
            try options.finish()
            if let name = names.first(where: { name in !shortForms.contains { $0.0 == name } }) {
                throw ProofError("'\(name)' has no short form")
            }
            let asked = shortForms.filter { names.isEmpty || names.contains($0.0) }
            let failures = asked.map { name, words in
                print("\(name)\n")
                defer { print() }
                do {
                    var options = try Options(words)
                    return (name, count: try run(name, tools, &options))
                } catch {
                    print("error: \(error)")
                    return (name, count: 1)
                }
            }
            for (name, count) in failures where count > 0 { print("failed: \(name), \(count)") }
            return failures.reduce(0) { $0 + $1.count }
        case "torture":
            var torture = try Torture(tools, &options)
            try options.finish()
            return try torture.run()
        case "allocations":
            let allocations = try Allocations(tools, points: options.number("points"))
            try options.finish()
            return try allocations.run()
        case "corpus":
            let corpus = Corpus(tools, &options)
            try options.finish()
            return try corpus.run()
        case "bounds":
            var bounds = try Bounds(tools, &options)
            try options.finish()
            return try bounds.run()
        case "round-trip":
            let roundTrip = RoundTrip(tools, &options)
            try options.finish()
            try roundTrip.run()
            return 0
        case "encryption":
            let encryption = try Encryption(tools, &options)
            try options.finish()
            return try encryption.run()
        case "odd-container":
            try options.finish()
            return try OddContainer(tools).run()
        case "store-size":
            let storeSize = try StoreSize(tools, &options)
            try options.finish()
            return try storeSize.run()
        case "stores":
            let stores = try Stores(tools, &options)
            try options.finish()
            return try stores.run()
        case "streams":
            let streams = Streams(tools, kills: try options.number("kills") ?? 1000)
            try options.finish()
            return try streams.run()
        case "object-store":
            let store = ObjectStore(tools, kills: try options.number("kills") ?? 120)
            try options.finish()
            return try store.run()
        case "transfer":
            let transfer = Transfer(tools, kills: try options.number("kills") ?? 250)
            try options.finish()
            return try transfer.run()
        case "fleet":
            let (jobs, files) = (try options.number("jobs"), try options.number("files"))
            let (name, faults) = (options.text("with") ?? "parallel", options.text("faults"))
            guard let scheduler = Fleet.Scheduler(rawValue: name), [nil, "none"].contains(faults)
            else { throw ProofError(usage) }
            try options.finish()
            var fleet = try Fleet(
                tools,
                jobs: jobs ?? 10_000,
                files: files ?? 50,
                scheduler: scheduler,
                isDisturbed: faults == nil
            )
            return try fleet.run()
        case "soak":
            let seed = try options.number("seed") ?? Int.random(in: 1...1_000_000)
            var soak = try Soak(tools, seconds: options.number("seconds") ?? 3600, seed: seed)
            try options.finish()
            return try soak.run()
        default: throw ProofError(usage)
        }
    }
}

/// The words behind the name of a proof.
struct Options {
    private var values: [String: String] = [:]
    /// The words that belong to no option.
    private var operands: [String] = []

    init(_ words: [String]) throws {
        var rest = words[...]
        while let word = rest.popFirst() {
            guard word.hasPrefix("--") else {
                operands.append(word)
                continue
            }
            let parts = word.dropFirst(2).split(separator: "=", maxSplits: 1).map(String.init)
            guard let name = parts.first, let value = parts.dropFirst().first ?? rest.popFirst()
            else { throw ProofError("\(word) needs a value") }
            values[name] = value
        }
    }

    mutating func text(_ name: String) -> String? { values.removeValue(forKey: name) }

    mutating func number(_ name: String) throws -> Int? {
        guard let text = text(name) else { return nil }
        guard let number = Int(text), number > 0 else {
            throw ProofError("--\(name) needs a number, not '\(text)'")
        }
        return number
    }

    /// Takes the words that belong to no option.
    mutating func takeOperands() -> [String] {
        defer { operands = [] }
        return operands
    }

    /// Fails if a word is left that no proof has asked for.
    func finish() throws {
        if let word = operands.first ?? values.keys.first.map({ "--" + $0 }) {
            throw ProofError("'\(word)' is not understood\n\(Proofs.usage)")
        }
    }
}

/// Why a proof can't be given.
struct ProofError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}

extension String {
    /// The text padded with spaces at its end, or with a negative width at its start.
    func padded(to width: Int) -> String {
        let spaces = String(repeating: " ", count: max(0, abs(width) - count))
        return width < 0 ? spaces + self : self + spaces
    }
}
