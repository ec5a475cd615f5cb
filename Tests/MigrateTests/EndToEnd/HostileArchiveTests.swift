import Foundation
import TestSupport
import Testing

@Suite(
    .scratchDirectory,
    .enabled(if: Machine.has("python3"), "Python makes the archives")
)
struct HostileArchiveTests {
    /// Lines of Python that add entries to the tar file `t`.
    private static let entries = [
        "add('../escaped')", "add('a/../../escaped')", "add('..', DIRTYPE)",
        "add('ok'); add('up', SYMTYPE, '../escaped')", "add('etc', SYMTYPE, '/etc')",
        "add('d', SYMTYPE, '..'); add('d/escaped')",
        "add('d', SYMTYPE, '/tmp'); add('d', DIRTYPE); add('d/escaped')",
        "add('h', LNKTYPE, '../outside')", "add('h', LNKTYPE, '/etc/passwd')",
        "add('device', CHRTYPE)", "add('pipe', FIFOTYPE)",
    ]

    private func makeArchive(_ script: String, in place: Workplace) throws {
        let result = try place.shell(
            """
            echo outside > outside; mkdir target; python3 - <<'END'
            import io, tarfile
            from tarfile import CHRTYPE, DIRTYPE, FIFOTYPE, GNU_FORMAT, LNKTYPE, REGTYPE, SYMTYPE, TarInfo
            t = tarfile.open('bad', 'w')
            def add(name, kind=REGTYPE, link='', size=None):
                i = TarInfo(name); i.type = kind; i.linkname = link
                if kind == REGTYPE: i.size = 4
                t.addfile(i, io.BytesIO(b'evil') if kind == REGTYPE else None)
            \(script)
            t.close()
            END
            """
        )
        try #require(result.exitCode == 0, "\(result.errors)")
    }

    @Test(arguments: entries)
    func `refuses what leads out`(_ script: String) throws {
        let place = try Workplace()
        try makeArchive(script, in: place)
        let imported = try place.migrate(
            "import",
            place.path("bad"),
            "--container",
            place.path("target")
        )
        imported.expectFailure(65)
        let extracted = try place.migrate("extract", place.path("bad"), "--to", place.path("out"))
        extracted.expectFailure(65)
        #expect(try place.tree("target").isEmpty)
        #expect(try place.names() == ["bad", "outside", "target"])
        #expect(try place.bytes(of: "outside") == [UInt8]("outside\n".utf8))
        let status = try place.migrate("status", "--container", place.path("target"))
        #expect(status.output.hasPrefix("failure: "))
    }

    /// As other programs handle an absolute path: they drop the slash, and nothing leaves the
    /// directory.
    @Test func `never writes to an absolute path`() throws {
        let place = try Workplace()
        try makeArchive("add('\(place.path("escaped"))')", in: place)
        _ = try place.migrate("import", place.path("bad"), "--container", place.path("target"))
        #expect(try place.names() == ["bad", "outside", "target"])
    }

    @Test func `keeps or skips links that lead out when told to`() throws {
        let place = try Workplace()
        try makeArchive("add('etc', SYMTYPE, '/etc'); add('file')", in: place)
        for (policy, names) in [("keep", ["etc", "file"]), ("skip", ["file"])] {
            let result = try place.migrate(
                "extract",
                place.path("bad"),
                "--to",
                place.path(policy),
                "--external-links",
                policy
            )
            #expect(result.exitCode == 0)
            #expect(try place.tree(policy).keys.sorted() == names)
        }
    }

    @Test(
        arguments: [
            "verify cut", "list cut", "diff cut --container source", "extract cut --to out",
            "import cut --container app",
        ]
    )
    func `warns of an archive that has no end mark`(_ command: String) throws {
        let place = try Workplace()
        let result = try place.shell(
            """
            mkdir source && echo text > source/f && tar -cf whole -C source f
            head -c 1024 whole > cut && $migrate \(command)
            """
        )
        #expect([0, 1].contains(result.exitCode))
        #expect(result.errors.contains("note: cut carries no fingerprint: "), "\(result.errors)")
        #expect(result.errors.contains("warning: cut has no end mark: "), "\(result.errors)")
    }

    @Test func `warns of bytes that come after the end mark`() throws {
        let place = try Workplace()
        let result = try place.shell(
            """
            mkdir source && echo text > source/f && tar -cf long -C source f
            $migrate verify long 2>&1 | grep 'bytes after' || echo none
            echo more >> long && $migrate verify long
            """
        )
        #expect(result.exitCode == 0)
        #expect(result.output.hasPrefix("none\n"), "\(result.output)")
        let warning = "warning: long has bytes after its end mark, which were not read"
        #expect(result.errors.contains(warning), "\(result.errors)")
    }

    @Test(arguments: ["0o77777777777", "2**62"])
    func `refuses sizes that cannot be`(_ size: String) throws {
        let place = try Workplace()
        try makeArchive(
            "i = TarInfo('big'); i.size = \(size); t.fileobj.write(i.tobuf(GNU_FORMAT)); t.offset += 512",
            in: place
        )
        let result = try place.migrate(
            "import",
            place.path("bad"),
            "--container",
            place.path("target")
        )
        #expect([65, 73].contains(result.exitCode))
        #expect(result.errorLine?.hasPrefix("migrate: error: ") ?? false)
        #expect(try place.tree("target").isEmpty)
        #expect(try place.names() == ["bad", "outside", "target"])
    }

    /// Shell commands that make `bad`, a tar file without entries or without an end mark.
    private static let incomplete = [
        "tar -cf bad -T /dev/null -V label && head -c 512 bad > cut && mv cut bad",
        "tar -cf bad -V label -T /dev/null", "tar -cf bad --no-recursion .",
        "echo new > new && tar -cf whole new && head -c 1024 whole > bad",
    ]

    @Test(arguments: incomplete, ["import bad", "import - < bad"])
    func `replaces no data by what gives none or may be cut short`(
        _ script: String,
        _ command: String
    ) throws {
        let place = try Workplace()
        let made = try place.shell("mkdir app && echo data > app/old && \(script)")
        try #require(made.exitCode == 0, "\(made.errors)")
        let replacing = command.replacing("import", with: "import --container app --replace")
        let refused = try place.shell("$migrate \(replacing)")
        refused.expectFailure(65)
        #expect(refused.errors.contains("--allow-incomplete"), "\(refused.errors)")
        #expect(try place.bytes(of: "app/old") == [UInt8]("data\n".utf8))
        let allowed = try place.shell(
            "$migrate " + replacing.replacing("--replace", with: "--replace --allow-incomplete")
        )
        #expect(allowed.exitCode == 0, "\(allowed.errors)")
        #expect(try !place.tree("app").keys.contains("old"))
    }

    @Test func `verifies as an import judges, or hashes alone, and says which`() throws {
        let place = try Workplace()
        let made = try place.shell(
            """
            mkdir source && ln -s /etc source/out && echo text > source/f
            $migrate export --container source --bundle-id a.b --out own && tar -cf other source/f
            """
        )
        try #require(made.exitCode == 0, "\(made.errors)")
        let refused = try place.shell("$migrate verify own")
        refused.expectFailure(65)
        #expect(refused.errors.contains("a link leads out"), "\(refused.errors)")
        #expect(refused.errors.contains("'--external-links skip'"), "\(refused.errors)")
        let kept = try place.shell("$migrate verify own --external-links keep")
        #expect(kept.output.contains(": sound, read as an import would, "), "\(kept.output)")
        let hashes = try place.shell("$migrate verify own --hashes")
        #expect(hashes.output.contains(": hashes match, entries not read, "), "\(hashes.output)")
        let json = try place.shell("$migrate verify own --hashes --json")
        #expect(json.output.contains(#""checked" : "hashes""#), "\(json.output)")
        let other = try place.shell("$migrate verify other --json")
        #expect(other.output.contains(#""checked" : "everything""#), "\(other.output)")
    }
}
