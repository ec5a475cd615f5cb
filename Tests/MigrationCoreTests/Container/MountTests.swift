import Foundation
import Glibc
import MigrationArchive
import MigrationCore
import TestSupport
import Testing

/// Runs the built command where it may mount: as root, in a mount namespace of its own.
@Suite(
    .scratchDirectory,
    .enabled(if: Namespace.isAvailable, "only root may mount, where the machine allows it")
)
struct MountTests {
    /// Runs shell commands that find the places in `$root` and the command in `$migrate`.
    private func run(_ script: String, _ places: Places) throws -> [String] {
        let output = try Namespace.run("cd '\(places.root.url.path)'\n" + script)
        return output.split(separator: "\n").map(String.init)
    }

    @Test func `replaces a container that is a mount of the same file system`() async throws {
        let places = try await Places.withSmallArchive()
        try places.makeOldDestination()
        try (places.root / "mounted").makeDirectory()
        let lines = try run(
            """
            mount --bind destination mounted
            $migrate import app.migration --container mounted --replace --bundle-id source
            echo $?
            """,
            places
        )
        #expect(lines.last == "0")
        let expected = try TreeSnapshot(of: places.source)
        #expect(try places.contents(of: places.destination).differences(from: expected) == [])
        #expect(try places.bookkeepingNames() == ["import-status.json"])
        #expect(try places.destinationContainer.importRecord()?.outcome == .success)
        let names = try places.root.names()
        #expect(names == ["app.migration", "destination", "mounted", "source"])
    }

    @Test func `replaces a container that is a file system of its own`() async throws {
        let places = try await Places.withVariedArchive()
        try (places.root / "mounted").makeDirectory()
        let lines = try run(
            """
            mount -t tmpfs tmpfs mounted
            mkdir mounted/Documents
            echo old > mounted/Documents/old
            $migrate import app.migration --container mounted --replace
            echo $?
            $migrate diff app.migration --container mounted
            echo $?
            ls -A mounted mounted/.migration
            """,
            places
        )
        let listing = lines.suffix(8)
        #expect(
            Array(listing) == [
                "mounted:", ".migration", "Documents", "Library", "empty", "mounted/.migration:",
                "identity.json", "import-status.json",
            ]
        )
        #expect(lines.filter { $0 == "0" }.count == 2)
    }

    @Test func `replaces a bundle that is a mount, and refuses one whose AppData is`() async throws
    {
        let places = try await Places.withSmallArchive(bundle: "destination.xcappdata")
        try places.makeOldDestination()
        let lines = try run(
            """
            mkdir mounted.xcappdata other
            mount --bind destination.xcappdata mounted.xcappdata
            import="$migrate import app.migration --replace --as source --container"
            $import mounted.xcappdata --keep-old kept 2>&1 | grep -o 'the container is a mount point'
            $import mounted.xcappdata --keep-old kept > said 2>&1; echo $?
            ls -A destination.xcappdata
            $import mounted.xcappdata > said; echo $?
            umount mounted.xcappdata
            mount --bind other destination.xcappdata/AppData
            $import destination.xcappdata 2>&1 | grep -o "'AppData' is a mount point"
            $migrate export --container destination.xcappdata --out again > said; echo $?
            umount destination.xcappdata/AppData
            rm -r other said again mounted.xcappdata
            """,
            places
        )
        let expected = [
            "the container is a mount point", "64", "AppData", "AppDataInfo.plist", "0",
            "'AppData' is a mount point", "0",
        ]
        #expect(lines == expected)
        let new = try TreeSnapshot(of: places.source)
        #expect(try places.contents(of: places.destination).differences(from: new) == [])
        #expect(try places.destination.names() == [".migration", "AppData", "AppDataInfo.plist"])
    }

    @Test func `succeeds where a mount keeps the old container from being removed`() async throws {
        let places = try await Places.withSmallArchive()
        try places.makeOldDestination()
        let lines = try run(
            """
            mkdir other destination/Documents/other; echo kept > other/file
            mount --bind other destination/Documents/other
            $migrate import app.migration --container destination --replace --bundle-id source 2>&1 \\
                | grep -o "warning: a leftover of an import can't be removed"
            for command in 'export --out again' 'diff app.migration' status 'run -- true' \\
                'import app.migration --replace --bundle-id source'
            do
                set -- $command; name=$1; shift
                $migrate $name --container destination "$@" > said 2> warned; echo $name $?
            done
            grep -c warning: warned
            cat other/file
            umount .destination.migration-staging/container/Documents/other
            $migrate status --container destination | head -n 1
            rm -r other said warned again
            """,
            places
        )
        let expected = [
            "warning: a leftover of an import can't be removed", "export 0", "diff 0", "status 0",
            "run 0", "import 0", "1", "kept", "success",
        ]
        #expect(lines == expected)
        let new = try TreeSnapshot(of: places.source)
        #expect(try places.contents(of: places.destination).differences(from: new) == [])
        #expect(try places.bookkeepingNames() == ["import-status.json"])
        #expect(try places.root.names() == ["app.migration", "destination", "source"])
    }

    @Test func `keeps replaced data that stays from ever coming back`() async throws {
        let places = try await Places.withSmallArchive()
        try (places.root / "mounted").makeDirectory()
        let lines = try run(
            """
            mount -t tmpfs tmpfs mounted
            mkdir -p mounted/Library/first; echo old > mounted/Library/old
            mount -t tmpfs tmpfs mounted/Library/first
            import="$migrate import app.migration --container mounted --replace --bundle-id source"
            $import > said; echo $?
            ls mounted/.migration
            mkdir -p mounted/Library/second
            mount -t tmpfs tmpfs mounted/Library/second
            $import > said 2> warned; echo $?
            ls mounted/.migration; grep -c warning: warned
            $migrate diff app.migration --container mounted; echo $?
            umount mounted/.migration/*/Library/first mounted/.migration/*/Library/second
            $migrate export --container mounted --out again > said; echo $?
            ls mounted/.migration
            """,
            places
        )
        let status = ["identity.json", "import-status.json"]
        let expected =
            ["0"] + status + ["replaced-1", "0"] + status + [
                "replaced-1", "replaced-2", "2", "0", "0",
            ]
            + status
        #expect(lines == expected)
    }

    @Test func `keeps the status where an older fingerprint would stay`() async throws {
        let places = try await Places.withSmallArchive()
        let lines = try run(
            """
            $migrate import app.migration --container destination --bundle-id source > said; echo $?
            cd destination/.migration
            echo '{"fingerprint":"older","version":1}' > last-import.json
            mount --bind last-import.json last-import.json; cd ../..
            $migrate status --container destination --clear > said 2>&1; echo $?
            umount destination/.migration/last-import.json
            ls destination/.migration
            $migrate status --container destination --clear > said 2>&1; echo $?
            ls destination/.migration; cat destination/.migration/* | grep -c older; rm said
            """,
            places
        )
        let status = ["identity.json", "import-status.json", "last-import.json"]
        #expect(lines == ["0", "1"] + status + ["0", "identity.json", "last-import.json", "0"])
    }

    @Test func `leaves nothing of an export that does not fit`() async throws {
        let places = try Places()
        try (places.source / "noise").write(VariedTree.noise(1_500_000))
        let lines = try run(
            """
            mkdir small
            mount -t tmpfs -o size=1m tmpfs small
            $migrate export --container source --out small/checked --no-compress
            echo $?
            $migrate export --container source --out small/filled
            echo $?
            ls -A small
            """,
            places
        )
        #expect(lines == ["73", "73"])
    }

    @Test func `leaves the old data when an import does not fit`() async throws {
        let places = try Places()
        try (places.source / "noise").write(VariedTree.noise(1_500_000))
        try await places.exportSource()
        for name in 0..<500 {
            try (places.source / BytePath([UInt8]("\(name)".utf8))).write("a page of its own")
        }
        try (places.source / "noise").removeFile()
        try await places.exportSource(to: places.root / "many")
        let lines = try run(
            """
            mkdir small
            mount -t tmpfs -o size=1m tmpfs small
            mkdir small/live
            echo old > small/live/old
            for archive in app.migration many; do
                $migrate import $archive --container small/live --replace
                echo $?
                ls -A small small/live small/live/.migration
                grep -c outOfSpace\\\\\\|'are free'\\\\\\|'no space is left' small/live/.migration/*
            done
            """,
            places
        )
        let expected = [
            "73", "small:", "live", "small/live:", ".migration", "old", "small/live/.migration:",
            "import-attempt.json", "1",
        ]
        #expect(lines == expected + expected)
    }
}
