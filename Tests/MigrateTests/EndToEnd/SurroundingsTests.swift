import TestSupport
import Testing

/// Properties that a process inherits from its parent, and results that must not depend on them.
@Suite(.scratchDirectory)
struct SurroundingsTests {
    /// Makes a container `source` and its archive, and returns the tree that an import of it
    /// restores.
    private func makeArchive(_ place: Workplace) throws -> [String: String] {
        try place.makeContainer()
        try place.shell("rm -r source/Library/Caches")
        try place.export()
        return try place.tree("source")
    }

    @Test(arguments: ["000", "077"])
    func `archives and restores the same under any umask`(_ mask: String) throws {
        let place = try Workplace()
        let expected = try makeArchive(place)
        let result = try place.shell(
            """
            exec 3>&1 >/dev/null; umask \(mask); $migrate export --container source --out again &&
            cmp archive again && $migrate import again --container target &&
            $migrate extract again --to out && stat -c %a again target/.migration/* >&3
            """
        )
        #expect(result.exitCode == 0, "\(result.errors)")
        #expect(result.output == "600\n600\n600\n")
        #expect(try place.tree("target") == expected)
        #expect(try place.tree("out") == expected)
    }

    @Test func `needs nothing of the environment`() throws {
        let place = try Workplace()
        let expected = try makeArchive(place)
        let result = try place.shell(
            """
            env -i $migrate export --container source --out again && cmp archive again &&
            env -i $migrate import again --container target &&
            env -i $migrate status --container target | head -n 1
            """
        )
        #expect(result.exitCode == 0, "\(result.errors)")
        #expect(result.output.hasSuffix("\nsuccess\n"))
        #expect(try place.tree("target") == expected)
    }

    @Test func `takes no library from its own directory`() throws {
        let result = try Workplace().shell(
            "cp $migrate . && echo planted | tee libzstd.so.1 >libcrypto.so.3 && ./migrate --version"
        )
        #expect(result.exitCode == 0, "\(result.errors)")
    }

    /// The first opened file then gets the number of a stream, and must not get its output.
    @Test(
        arguments: [
            "<&-", ">&-", "2>&-", "<&- >&-", "<&- 2>&-", ">&- 2>&-", "<&- >&- 2>&-",
        ]
    )
    func `works with closed streams`(_ closed: String) throws {
        let place = try Workplace()
        let expected = try makeArchive(place)
        let result = try place.shell(
            """
            mkfifo source/pipe; exec \(closed)
            $migrate export --container source --out again && cmp -s archive again &&
            $migrate import again --container target && $migrate verify again &&
            ! $migrate import source/Documents/numbers --container other
            """
        )
        #expect(result.exitCode == 0)
        #expect(result.errors.isEmpty || !closed.contains("2>&-"))
        #expect(try place.tree("target") == expected)
        #expect(try place.names() == ["again", "archive", "source", "target"])
    }

    /// These commands only answer.
    @Test(
        arguments: [
            "list archive", "inspect archive", "diff archive --container source",
            "status --container source", "completions bash", "--help", "--version", "help list",
        ]
    )
    func `says that an answer has nowhere to go`(_ words: String) throws {
        let place = try Workplace()
        _ = try makeArchive(place)
        let result = try place.shell("$migrate \(words) >&-")
        #expect(result.exitCode == 73)
        #expect(result.errorLine?.hasSuffix("standard output is closed") == true)
    }

    @Test func `works in a directory that is gone`() throws {
        let place = try Workplace()
        let expected = try makeArchive(place)
        let result = try place.shell(
            """
            place=$PWD; mkdir gone; cd gone; rmdir ../gone
            $migrate export --container "$place/source" --out "$place/again" &&
            cmp "$place/archive" "$place/again" &&
            $migrate import "$place/again" --container "$place/target" >/dev/null || exit 1
            for words in 'export --container x --out o' 'import archive --container x' 'verify x'
            do $migrate $words; echo $?; done
            """
        )
        let lines = result.errors.split(separator: "\n")
        #expect(result.output.hasSuffix("\n1\n1\n1\n"), "\(result.output)")
        #expect(lines.count == 3 && lines.allSatisfy { $0.hasPrefix("migrate: error: ") })
        #expect(lines.allSatisfy { $0.contains("No such file or directory") })
        #expect(try place.tree("target") == expected)
        #expect(try place.names() == ["again", "archive", "source", "target"])
    }
}
