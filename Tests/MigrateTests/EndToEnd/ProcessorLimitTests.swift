import Foundation
import MigrationSystem
import TestSupport
import Testing

/// How many threads an export starts to compress, by the processors that it may use.
@Suite(.scratchDirectory)
struct ProcessorLimitTests {
    private let place: Workplace

    init() throws {
        place = try Workplace()
        // More than the threads hold between them, because they end once nothing is left for them.
        try place.makeContainer(megabytes: 60)
    }

    /// Starts an export behind `prefix` into a pipe that nobody empties, and counts its threads.
    private func threads(_ flags: String = "", prefix: String = "") throws -> Int? {
        // The threads are there before the first byte is. Until one has a name of its own, it has that of the thread
        // that starts it.
        let counted = try place.shell(
            """
            mkfifo pipe && exec 9<>pipe
            \(prefix) "$migrate" export --container source --out - \(flags) >pipe & export=$!
            head -c 10 <&9 >first
            named() { grep -lx "$1" /proc/$export/task/*/comm | wc -l; }
            while [ "$(named migration)" -gt 1 ]; do sleep 0.01; done
            named migration-compr
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
