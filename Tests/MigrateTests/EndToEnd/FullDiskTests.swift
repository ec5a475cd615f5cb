import TestSupport
import Testing

/// Disks that others fill up while an import is under way.
@Suite(.scratchDirectory, .enabled(if: Machine.isRoot, "needs root to mount a file system"))
struct FullDiskTests {
    /// The resource that a disk runs out of, and the commands that use up the rest of it.
    private static let shortages = [
        ("size=12m", "dd if=/dev/zero of=small/filler bs=1k 2>/dev/null"),
        ("nr_inodes=40", "i=0; while touch small/$i 2>/dev/null; do i=$((i+1)); done"),
    ]

    /// The hole and the noise make three frames; the last one comes after the disk is full.
    private func makeArchive(_ place: Workplace) throws -> Int {
        let made = try place.shell(
            """
            mkdir source; truncate -s 9M source/a-hole; head -c 600000 /dev/urandom > source/noise
            for i in $(seq 60); do echo $i > source/z$i; done
            """
        )
        try #require(made.exitCode == 0, "\(made.errors)")
        return try place.export().count * 2 / 3
    }

    @Test(arguments: shortages)
    func `keeps room for saying that an import failed`(
        _ limit: String,
        _ filling: String
    ) throws {
        let place = try Workplace()
        let part = try makeArchive(place)
        let result = try place.shell(
            """
            mkdir small && mount -t tmpfs -o \(limit) none small || exit 99
            mkdir small/live; echo old > small/live/data
            staging=small/.live.migration-staging
            {
                head -c \(part) archive
                n=0; until [ -n "$(find $staging -name a-hole 2>/dev/null)" ] || [ $n -gt 2000 ]; do
                    sleep 0.01; n=$((n+1))
                done
                \(filling)
                tail -c +$((\(part) + 1)) archive
            } | $migrate import - --container small/live --replace; echo $?
            $migrate status --container small/live | head -n 1
            ls -A small/live small/live/.migration; cat small/live/data
            [ -e $staging ] && echo left; umount small
            """
        )
        if result.exitCode == 99 { try Test.cancel("mounting is not allowed here") }
        let lines = result.output.split(separator: "\n").map(String.init)
        try #require(lines.count == 8, "\(result.output)\(result.errors)")
        #expect(lines[0] == "73")
        let reason = "failure: no space is left to write: noise: No space left on device"
        #expect(lines[1].hasPrefix(reason))
        let rest = [
            "small/live:", ".migration", "data", "small/live/.migration:", "import-attempt.json",
            "old",
        ]
        #expect(Array(lines[2...]) == rest)
    }
}
