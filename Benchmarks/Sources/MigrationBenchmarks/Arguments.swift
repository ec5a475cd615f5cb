internal import Glibc

/// The command line of the benchmarks.
struct Arguments {
    static let usage = """
        USAGE: migration-benchmarks --migrate <path> [options]
               migration-benchmarks --make <dir> [--workloads <list>] [--scale <factor>]

        Makes trees, exports and imports each with migrate and with every other archiver that is
        installed, in turn, and prints tables with ratios to 'tar | zstd'.

        OPTIONS:
          --migrate <path>     the program to measure
          --beside <path>      another build of migrate, or a program that takes its command line, to
                               measure in turn with it; may be given again
          --workloads <list>   documents, photos, database, app, tiny, one (default: documents,app)
          --tree <dir>         measure this tree instead of any workload
          --peers <list>       beside migrate and tar-zstd only these of bsdtar, squashfs, zip, 7z,
                               restic, borg, migrate-age, tar-age, tar, cp; 'none' for no other
                               (default: all)
          --levels <list>      zstd levels (default: 3)
          --rounds <n>         how many rounds, after a warm-up (default: 3)
          --scale <factor>     how large the workloads are; 0.1 is a quick run (default: 1)
          --all                every workload, levels 1, 3 and 9, on the RAM disk and the disk
          --scratch <dir>      where trees, archives and copies go; may be given again
                               (default: /dev/shm, else $TMPDIR or /var/tmp)
          --patience <s>       run a peer that takes longer only once (default: 10)
          --spread             give every thread a processor in turn, ours and the peers', where
                               the kernel would keep them on one
          --compare            compare what each import made with the tree, in the warm-up
          --threads            instead measure migrate alone with 1 to 32 threads: time, memory, and
                               the busiest thread, which bounds what more processors gain
          --growth             instead measure migrate alone on more and more files and bytes
          --json <file>        also write every measurement to this file
          --charts <dir>       also draw charts (SVG) into this directory
          --make <dir>         only make the workloads, there
          --help               show this help
        """

    var migrate = ""
    var builds: [String] = []
    var workloads: [Workload] = [.documents, .app]
    var tree: String?
    var peers: [String] = []
    var levels = [3]
    var rounds = 3
    var scale = 1.0
    var scratch: [String] = []
    var patience = 10.0
    var compares = false
    var spreads = false
    var measuresGrowth = false
    var measuresThreads = false
    var json: String?
    var charts: String?
    var make: String?
    var wantsHelp = false

    init(_ words: [String]) throws(BenchmarkError) {
        var reader = ArgumentReader(words)
        while let option = reader.next() {
            guard try !readChoice(option, from: &reader) else { continue }
            switch option {
            case "--migrate": migrate = try reader.value()
            case "--beside": builds.append(try reader.value())
            case "--tree": tree = try reader.value()
            case "--scratch": scratch.append(try reader.value())
            case "--json": json = try reader.value()
            case "--charts": charts = try reader.value()
            case "--make": make = try reader.value()
            case "--compare": compares = true
            case "--spread": spreads = true
            case "--growth": measuresGrowth = true
            case "--threads": measuresThreads = true
            case "--all": chooseAll()
            case "--help", "-h": wantsHelp = true
            default: throw .usage("unknown argument '\(option)'")
            }
        }
        if scratch.isEmpty {
            scratch = [Self.memoryDirectory ?? Self.diskDirectory]
        }
        if migrate.isEmpty, make == nil, !wantsHelp {
            throw .usage("--migrate is needed: the program to measure")
        }
    }

    /// Reads one of the options for what is measured, and how.
    private mutating func readChoice(
        _ option: String,
        from reader: inout ArgumentReader
    ) throws(BenchmarkError) -> Bool {
        switch option {
        case "--workloads":
            workloads = try reader.list("workload") { Workload(rawValue: $0) }
        case "--peers":
            peers = try reader.list("peer") { $0 == "none" ? "migrate" : $0 }
        case "--levels":
            levels = try reader.list("level from 1 to 19") { word in
                Int(word).flatMap { (1...19).contains($0) ? $0 : nil }
            }
        case "--rounds": rounds = Int(try reader.positiveNumber().rounded(.up))
        case "--scale": scale = try reader.positiveNumber()
        case "--patience": patience = try reader.positiveNumber()
        default: return false
        }
        return true
    }

    private mutating func chooseAll() {
        workloads = Workload.allCases
        levels = [1, 3, 9]
        scratch = [Self.memoryDirectory, Self.diskDirectory].compactMap(\.self)
    }

    private static var memoryDirectory: String? {
        access("/dev/shm", W_OK) == 0 ? "/dev/shm" : nil
    }

    /// Not `/tmp`, which may be in memory.
    private static var diskDirectory: String {
        getenv("TMPDIR").map { String(cString: $0) } ?? "/var/tmp"
    }
}
