import Foundation
import TestSupport
import Testing

/// `migrate extract --to -`: the content of one file on standard output.
@Suite(.scratchDirectory)
struct FileContentTests {
    let place: Workplace

    init() throws {
        place = try Workplace()
        let made = try place.shell(
            """
            mkdir -p source/d && cd source && seq 300000 >d/numbers && ln d/numbers other &&
            ln -s numbers d/link && : >d/none && truncate -s 3000000 d/sparse &&
            printf end >>d/sparse && printf start >d/hole && truncate -s 5000000 d/hole && head -c 9000000 /dev/urandom >noise && cd .. &&
            $migrate export -c source -o archive -q && tar -C source -S -cf tar .
            """
        )
        try #require(made.exitCode == 0, "\(made.errors)")
    }

    @Test(
        arguments: ["d/numbers", "d/none", "d/sparse", "d/hole", "noise", "other"],
        ["archive", "tar", "<archive", "<tar"]
    )
    func `writes the bytes of a file, and nothing else`(_ path: String, _ origin: String) throws {
        let isPipe = origin.hasPrefix("<")
        let input = isPipe ? "cat \(origin.dropFirst()) |" : ""
        let name = isPipe ? "-" : origin
        let result = try place.shell("\(input) $migrate extract \(name) ./\(path) --to - >out")
        // A pipe can't be read again for the content of another name of a file.
        if isPipe, result.exitCode == 64 {
            #expect(result.errors.contains("another name of"))
            #expect(try place.bytes(of: "out").isEmpty)
            let names = try place.shell("stat -c %h 'source/\(path)'")
            #expect(names.output == "2\n")
            return
        }
        #expect(result.exitCode == 0, "\(result.errors)")
        #expect(try place.bytes(of: "out") == place.bytes(of: "source/\(path)"))
    }

    @Test func `takes the last of the entries at a path of a tar file`() throws {
        let result = try place.shell(
            """
            mkdir x && echo first >x/f && tar -cf twice -C x f && echo second >x/f &&
            tar -rf twice -C x f && $migrate extract twice f --to -
            """
        )
        #expect(result.output == "second\n", "\(result.errors)")
        let piped = try place.shell("cat twice | $migrate extract - f --to -")
        #expect(piped.exitCode == 65)
        #expect(piped.errors.contains("comes twice in a tar file from a pipe: f"))
    }

    @Test(
        arguments: [
            ("d", "a directory, and only the content of a file"),
            ("d/link", "a symbolic link, and only the content of a file"),
            ("d/numbers d/none", "the path of exactly one file"),
            ("", "the path of exactly one file"),
            (".", "the path of exactly one file"),
            ("--glob 'd/n*'", "the path of exactly one file"),
            ("d/none --json", "can't be given together with '--json'"),
            ("d/none --keep-going", "can't be given together with '--keep-going'"),
        ]
    )
    func `refuses all but one file`(_ words: String, _ message: String) throws {
        let result = try place.shell("$migrate extract archive \(words) --to -")
        #expect(result.exitCode == 64)
        #expect(result.errors.contains(message), "\(result.errors)")
        #expect(result.output.isEmpty)
        #expect(!place.exists("-"))
    }

    @Test func `names a path that is missing, and another fingerprint`() throws {
        let missing = try place.shell("$migrate extract archive d/nun --to -")
        missing.expectFailure(1)
        #expect(missing.errors.contains("no such entry: d/nun"))
        let other = String(repeating: "0", count: 64)
        let result = try place.shell("$migrate extract archive d/none --to - --expect \(other)")
        result.expectFailure(65)
    }

    @Test(arguments: ["$migrate extract broken", "cat broken | $migrate extract -"])
    func `fails where the content is damaged, before it writes a byte of that piece`(
        _ command: String
    ) throws {
        var bytes = try place.bytes(of: "archive")
        bytes[bytes.count / 2] ^= 1
        try place.write(bytes, to: "broken")
        let result = try place.shell("\(command) noise --to - >out")
        #expect(result.exitCode == 65)
        #expect(result.errors.contains("a frame can't be decompressed"), "\(result.errors)")
        let (written, whole) = (try place.bytes(of: "out"), try place.bytes(of: "source/noise"))
        #expect(written.count < whole.count)
        #expect(whole.starts(with: written))
    }

    @Test(arguments: ["<head -c 60000 archive", "cut"])
    func `fails where the archive is cut short`(_ origin: String) throws {
        let result = try place.shell(
            """
            head -c 60000 archive >cut
            \(origin == "cut" ? "$migrate extract cut" : "cat cut | $migrate extract -") noise --to - >out
            """
        )
        #expect(result.exitCode == 65, "\(result.errors)")
        #expect(result.errors.hasPrefix("migrate: error: extract "))
    }
}
