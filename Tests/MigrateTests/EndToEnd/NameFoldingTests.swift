import TestSupport
import Testing

/// File systems on which names that differ only in case are the same, if one can be mounted.
@Suite(.scratchDirectory, .enabled(if: Machine.isRoot, "needs root to mount a file system"))
struct NameFoldingTests {
    /// Mounts a file system and makes the directory `folded/all` in it, in which names are folded.
    private static let mounting = """
        truncate -s 32M disk; mkdir folded
        if mkfs.ext4 -q -O casefold disk && mount -o loop disk folded; then
            mkdir folded/all; chattr +F folded/all
        elif mkntfs -qFf disk && lowntfs-3g -o ignore_case disk folded; then
            mkdir folded/all
        fi >/dev/null 2>&1
        """

    /// Runs `script` with the directory `folded/all`.
    private func run(_ script: String, in place: Workplace) throws -> MigrateCommand.Result {
        let result = try place.shell(
            """
            \(Self.mounting)
            touch folded/all/a && [ -e folded/all/A ] || {
                umount folded 2>/dev/null; exit 99
            }
            rm folded/all/a
            \(script)
            umount folded
            """
        )
        if result.exitCode == 99 {
            try Test.cancel("this machine mounts no ext4 with casefold and no lowntfs-3g")
        }
        return result
    }

    /// Makes a container with two names that are the same if case is folded, and archives of it.
    private func makeArchives() throws -> Workplace {
        let place = try Workplace()
        let made = try place.shell(
            """
            mkdir -p source/d; echo one > source/d/readme; echo two > source/d/Readme
            $migrate export --container source --out archive && tar -cf archive.tar -C source .
            """
        )
        try #require(made.exitCode == 0, "\(made.errors)")
        return place
    }

    @Test(arguments: ["archive", "archive.tar"])
    func `refuses an archive two of whose names are one there`(_ archive: String) throws {
        let place = try makeArchives()
        let result = try run(
            """
            mkdir folded/all/live; echo old > folded/all/live/data
            $migrate import \(archive) --container folded/all/live --replace --bundle-id source
            echo $?; $migrate import \(archive) --container folded/all/new; echo $?
            ls -A folded/all folded/all/live folded/all/new; cat folded/all/live/data
            """,
            in: place
        )
        let lines = result.output.split(separator: "\n").map(String.init)
        #expect(
            lines == [
                "65", "65", "folded/all:", "live", "new", "folded/all/live:", ".migration", "data",
                "folded/all/new:", ".migration", "old",
            ]
        )
        let errors = result.errors.split(separator: "\n")
        #expect(errors.count == 2, "\(errors)")
        #expect(errors.allSatisfy { $0.lowercased().contains(": d/readme") }, "\(errors)")
    }

    @Test func `imports an archive whose names stay apart there`() throws {
        let place = try makeArchives()
        let result = try run(
            """
            rm source/d/Readme; $migrate export --container source --out other >/dev/null
            $migrate import other --container folded/all/live >/dev/null; echo $?
            ls -A folded/all folded/all/live/d; cat folded/all/live/d/README
            """,
            in: place
        )
        #expect(result.output == "0\nfolded/all:\nlive\n\nfolded/all/live/d:\nreadme\none\n")
    }

    @Test func `refuses directories and bookkeeping that are one there`() throws {
        let place = try Workplace()
        let made = try place.shell(
            """
            mkdir -p one/A two/a own/.Migration && touch one/A/x two/a/y own/.Migration/status.json
            tar -cf parents -C one A/x -C ../two a/y && tar -cf foreign -C own .Migration/status.json
            $migrate export --container own --out strict
            """
        )
        try #require(made.exitCode == 0, "\(made.errors)")
        let result = try run(
            """
            for archive in parents foreign strict; do
                $migrate import $archive --container folded/all/$archive --bundle-id own; echo $?
                ls -A folded/all/$archive
            done
            $migrate extract parents --to folded/all/out; echo $?
            """,
            in: place
        )
        let refused = "65\n.migration\n"
        #expect(result.output == refused + refused + refused + "65\n", "\(result.errors)")
    }
}
