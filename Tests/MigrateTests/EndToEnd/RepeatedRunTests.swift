import Foundation
import TestSupport
import Testing

/// Commands that are run again, by a person or by a scheduler.
@Suite(.scratchDirectory)
struct RepeatedRunTests {
    private static let export = "$migrate export --container source --out archive"
    private static let importing = "$migrate import archive --container copy --skip-if-imported"

    private let place: Workplace

    init() throws {
        place = try Workplace()
        try place.makeContainer()
        try place.export()
    }

    // MARK: - Exports

    @Test func `keeps an archive that is there, whatever it is of`() throws {
        try place.shell("echo no archive > archive; echo more > source/Documents/more")
        let result = try place.shell("\(Self.export) --if-exists keep")
        #expect(result.exitCode == 0)
        #expect(result.output == "archive: kept\n")
        #expect(try place.bytes(of: "archive") == Array("no archive\n".utf8))
    }

    @Test(arguments: ["keep", "verify", "replace"])
    func `exports where no archive is there`(_ policy: String) throws {
        let archive = try place.bytes(of: "archive")
        let result = try place.shell("rm archive; \(Self.export) --if-exists \(policy)")
        #expect(result.exitCode == 0)
        #expect(try place.bytes(of: "archive") == archive)
    }

    @Test func `leaves an archive of the present data`() throws {
        let before = try place.shell("stat -c '%i %Y' archive").output
        let result = try place.shell("\(Self.export) --level 9 --if-exists verify")
        #expect(result.exitCode == 0)
        #expect(result.output.hasPrefix("archive: unchanged\nfingerprint "))
        let answer = try place.migrate(
            "export",
            "--container",
            place.path("source"),
            "--out",
            place.path("archive"),
            "--if-exists",
            "verify",
            "--json"
        )
        #expect(answer.output.contains("\"state\" : \"unchanged\""))
        #expect(try place.shell("stat -c '%i %Y' archive").output == before)
    }

    @Test(arguments: [
        ("echo more > source/Documents/more", "an archive of other data has that name"),
        ("touch -d 2001-01-01 source/Documents/numbers", "an archive of other data has that name"),
        ("truncate -s -1 archive", "that is not a whole archive"),
        (
            "printf %0200d 7 | dd of=archive bs=1 seek=2000 conv=notrunc 2>&1",
            "that is not a whole archive"
        ),
        ("echo text > archive", "that is not a whole archive"),
    ])
    func `refuses an archive of other data, or of none`(_ change: String, _ words: String) throws {
        try place.shell(change)
        let before = try place.bytes(of: "archive")
        let result = try place.shell("\(Self.export) --if-exists verify")
        result.expectFailure(73)
        #expect(result.errors.contains(words), "\(result.errors)")
        #expect(result.errors.contains("use --force to replace it"))
        #expect(try place.bytes(of: "archive") == before)
        let replaced = try place.shell("\(Self.export) --if-exists replace")
        #expect(replaced.exitCode == 0)
        #expect(try place.shell("$migrate diff archive --container source").exitCode == 0)
    }

    @Test(.enabled(if: Machine.has("ssh-keygen"), "needs ssh-keygen"))
    func `signs an archive that was left without its signature`() throws {
        try place.shell("ssh-keygen -q -t ed25519 -N '' -f key")
        for policy in ["keep", "verify"] {
            let result = try place.shell(
                "\(Self.export) --sign-key key --if-exists \(policy) && rm archive.sig"
            )
            #expect(result.exitCode == 0, "\(policy): \(result.errors)")
        }
    }

    @Test func `asks for a file where it looks whether there is one`() throws {
        for words in ["--out -", "--out-command cat"] {
            let result = try place.shell(
                "$migrate export --container source \(words) --if-exists keep | cat; exit 0"
            )
            #expect(result.errors.contains("'--if-exists' is about a file"), "\(result.errors)")
        }
    }

    // MARK: - Imports

    @Test func `imports once, even if the app has changed its data since`() throws {
        #expect(try place.shell(Self.importing).output.contains("imported into copy"))
        try place.shell("echo mine > copy/Documents/mine")
        let before = try place.tree("copy")
        for clearing in ["true", "$migrate status --container copy --clear > /dev/null"] {
            let result = try place.shell("\(clearing); \(Self.importing)")
            #expect(result.exitCode == 0, "\(result.errors)")
            #expect(result.output == "archive: already imported into copy\n")
        }
        let streamed = try place.shell(
            """
            $migrate import --in-command false --container copy --bundle-id source \
            --skip-if-imported --expect $($migrate inspect archive --json | grep -o '[0-9a-f]\\{64\\}')
            """
        )
        #expect(streamed.exitCode == 0, "\(streamed.errors)")
        #expect(try place.tree("copy") == before)
        let json = try place.migrate(
            "import",
            place.path("archive"),
            "--container",
            place.path("copy"),
            "--bundle-id",
            "source",
            "--skip-if-imported",
            "--json"
        )
        #expect(json.output.contains("\"isSkipped\" : true"))
    }

    @Test func `knows what was imported before an import that failed`() throws {
        try place.shell(Self.importing)
        let failed = try place.shell(
            """
            echo more > source/Documents/more
            $migrate export --container source --out other > /dev/null
            head -c 3000 other | $migrate import - --container copy --replace
            """
        )
        #expect(failed.exitCode == 65)
        let result = try place.shell(Self.importing)
        #expect(result.output == "archive: already imported into copy\n", "\(result.errors)")
    }

    @Test func `imports what is not what was imported last`() throws {
        try place.shell(Self.importing)
        try place.shell("echo more > source/Documents/more; \(Self.export) --force")
        let refused = try place.shell(Self.importing)
        #expect(refused.exitCode == 73)
        #expect(try place.shell("\(Self.importing) --replace").exitCode == 0)
        #expect(try place.tree("copy")["Documents/more"] != nil)
        // A tar file has no fingerprint, and its data didn't come from an earlier archive.
        let tar = try place.shell(
            """
            tar -cf plain -C source . && $migrate import plain --container copy --replace \
            --bundle-id source && $migrate status --container copy --clear && \(Self.importing)
            """
        )
        #expect(tar.exitCode == 73, "\(tar.output)")
        let other = try place.shell(
            "\(Self.importing) --replace --expect \(String(repeating: "0", count: 64))"
        )
        #expect(other.exitCode == 65)
    }

    @Test func `needs the fingerprint of a stream`() throws {
        let result = try place.shell(
            "cat archive | $migrate import - --container copy --skip-if-imported"
        )
        #expect(result.exitCode == 64)
        #expect(result.errors.contains("needs '--expect' with a stream"))
    }
}
