import Foundation
import MigrationCore
import MigrationSystem
import TestSupport
import Testing

/// Containers on file systems of their own, on which a commit needs room for the names that it moves.
@Suite(
    .scratchDirectory,
    .enabled(if: Namespace.isAvailable, "only root may mount, where the machine allows it")
)
struct FullDiskCommitTests {
    /// The container that has so many names that moving them needs space.
    @Test(arguments: [(old: 2000, new: 3, free: 800), (old: 3, new: 2000, free: 1600)])
    func `gives the old container back, and says that the import failed`(
        _ old: Int,
        _ new: Int,
        _ free: Int
    ) async throws {
        let places = try Places()
        let suffix = String(repeating: "n", count: 200)
        for number in 0..<new {
            try (places.source / BytePath("\(number)" + suffix)).write("")
        }
        try await places.exportSource()
        let output = try Namespace.run(
            """
            cd '\(places.root.url.path)'; truncate -s 24M image; mkdir disk
            mkfs.ext4 -q -b 1024 -m 0 -N 8000 -O ^metadata_csum image && mount -o loop image disk ||
                { echo unmounted; exit; }
            rmdir disk/lost+found; mkdir -m 700 disk/.migration
            for i in $(seq \(old)); do : > disk/${i}\(suffix); done
            free=$(stat -f -c %f disk)
            dd if=/dev/zero of=disk/.migration/filler bs=1k count=$((free - \(free))) conv=fsync 2>&1
            $migrate import app.migration --container disk --replace --as source 2>&1
            echo $?
            ls disk | wc -l
            $migrate status --container disk
            ls -A disk/.migration
            umount disk
            """
        )
        let lines = output.split(separator: "\n").map(String.init)
        if lines.last == "unmounted" { try Test.cancel("no such file system can be mounted here") }
        let failure = try #require(lines.first { $0.hasPrefix("migrate: error: ") })
        #expect(failure.hasSuffix("No space left on device (renameat2)"))
        let end = try #require(lines.firstIndex(of: "73"))
        #expect(lines[end + 1] == "\(old)")
        #expect(lines[end + 2].hasPrefix("failure: "))
        #expect(lines.suffix(2) == ["filler", "import-attempt.json"])
    }
}
