import Foundation
import MigrationSystem
import TestSupport
import Testing

/// The number of threads of an export, which depends on the processors that it may use.
@Suite(.scratchDirectory)
struct ProcessorLimitTests {
    private let place: Workplace

    init() throws {
        place = try Workplace()
        // More than the threads hold between them.
        try place.makeContainer(megabytes: 60)
    }

    /// Starts an export behind `prefix` into a pipe that nobody empties, and counts all its
    /// threads, or only the working ones.
    private func threads(_ flags: String = "", prefix: String = "", all: Bool = false) throws
        -> Int?
    {
        // They are counted once none of them can continue, which must be seen ten times in a row.
        // Until a thread has its own name, it has that of the thread that started it.
        let counted = try place.shell(
            """
            mkfifo pipe && exec 9<>pipe
            \(prefix) "$migrate" export --container source --out - \(flags) >pipe & export=$!
            head -c 10 <&9 >first
            named() { cat /proc/$export/task/*/comm | grep -xcE "$1"; }
            quiet=0
            while [ $quiet -lt 10 ] || [ "$(named migration)" -gt 1 ]; do
                grep -q '^State:.[RD]' /proc/$export/task/*/status && quiet=0 || quiet=$((quiet + 1))
                sleep 0.01
            done
            named '\(all ? "migra.*" : "migration(-work)?")'
            kill -9 $export; wait $export; rm pipe
            """
        )
        return Int(counted.output.trimmingCharacters(in: .whitespacesAndNewlines))
    }

    @Test
    func `starts one for each processor that the affinity allows, or as many as it is told to`()
        throws
    {
        let one =
            "taskset -c \"$(sed -n 's/^Cpus_allowed_list:[^0-9]*\\([0-9]*\\).*/\\1/p' /proc/self/status)\""
        #expect(try threads() == ControlGroup.availableProcessors)
        #expect(try threads(prefix: one) == 1)
        #expect(try threads("--threads 3", prefix: one) == 3)
    }

    @Test func `has three threads at most that don't work, whatever it does`() throws {
        let key = "age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p"
        for flags in ["", "--recipient \(key)"] {
            let count = try #require(try threads("\(flags) --threads 16", all: true))
            #expect((3...19).contains(count), "\(flags): \(count)")
        }
        #expect(try threads("--threads 1") == 1)
    }

    @Test(.enabled(if: Machine.isRoot, "mounting needs root"))
    func `starts no more than the processor time that the cgroup grants`() throws {
        let limit =
            """
            unshare --mount sh -c '
                place=$(findmnt -n -t cgroup2 -o TARGET | head -n 1)
                [ -n "$place" ] && mount -t tmpfs none "$place" && echo "$0" > "$place/cpu.max"
                exec "$@"'
            """
        let unlimited = try threads(prefix: limit + " 'max 100000'")
        let one = try threads(prefix: limit + " '100000 100000'")
        let two = try threads(prefix: limit + " '150000 100000'")
        let isPossible = try place.shell(
            "unshare --mount sh -c 'mount -t tmpfs none \"$(findmnt -n -t cgroup2 -o TARGET | head -n 1)\"'"
        )
        if isPossible.exitCode != 0 {
            try Test.cancel("there is no cgroup, or this process may not mount")
        }
        let allowed = try place.shell("nproc").output.trimmingCharacters(in: .newlines)
        let processors = try #require(Int(allowed))
        #expect(unlimited == processors)
        #expect(one == 1)
        #expect(two == min(2, processors))
    }
}
