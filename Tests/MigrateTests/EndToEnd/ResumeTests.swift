import Foundation
import TestSupport
import Testing

/// `migrate export --resume` continues an archive that was cut.
@Suite(.scratchDirectory)
struct ResumeTests {
    private let place: Workplace
    private let whole: [UInt8]

    init() throws {
        place = try Workplace()
        try place.makeContainer(megabytes: 10)
        let more = try place.shell(
            "for n in 1 2 3; do seq $((n * 300000)) > source/Documents/$n.log; done"
        )
        try #require(more.exitCode == 0, "\(more.errors)")
        whole = try place.export()
    }

    private func resume(_ flags: String = "", out: String = "resumed") throws
        -> MigrateCommand.Result
    {
        try place.shell(
            "\"$migrate\" export --container source --out \(out) --resume --json \(flags)"
        )
    }

    private func resumedBytes(_ result: MigrateCommand.Result) throws -> Int {
        try #require(result.exitCode == 0, "\(result.errors)")
        let answer = try JSONSerialization.jsonObject(with: Data(result.output.utf8))
        return try #require((answer as? [String: Any])?["resumedBytes"] as? Int)
    }

    private var boundaries: [Int] { FrameBoundaries.of(whole) }

    @Test func `writes the same archive wherever it was cut, and no proved frame again`() throws {
        let boundaries = boundaries
        try #require(boundaries.count > 4)
        let cuts = boundaries.flatMap { [$0 - 1, $0, $0 + 7, $0 + 8, $0 + 9000] } + [0, 5, 300]
        for cut in cuts where cut <= whole.count {
            try place.write([UInt8](whole[..<cut]), to: "resumed.partial")
            let kept = try resumedBytes(resume("--force"))
            #expect(try place.bytes(of: "resumed") == whole, "cut at \(cut)")
            // A frame is proved once the next one, or a table after it, shows that nothing more belongs to it.
            let proved = [cut - 8, cut].map { end in boundaries.last { $0 <= end } ?? boundaries[0]
            }
            #expect(proved.contains(kept + boundaries[0]), "cut at \(cut)")
            #expect(!place.exists("resumed.partial"))
        }
    }

    @Test func `takes a cut archive that has the archive's own name, and no whole one`() throws {
        try place.write([UInt8](whole.dropLast(100)), to: "resumed")
        #expect(try resumedBytes(resume()) > 0)
        #expect(try place.bytes(of: "resumed") == whole)
        #expect(try resume().exitCode == 73)
        #expect(try place.bytes(of: "resumed") == whole)
    }

    private static let changes = [
        "echo more >> noise", "echo more >> 1.log", "echo more >> new.zzz", "rm noise",
        // Neither its size nor its time shows the change.
        "cp -p noise ../old && printf x | dd of=noise conv=notrunc 2>/dev/null && touch -r ../old noise",
    ]

    @Test(arguments: changes, [1, 8])
    func `archives the container as it is now`(_ change: String, _ threads: Int) throws {
        try place.write([UInt8](whole.dropLast(100)), to: "resumed.partial")
        let changed = try place.shell("cd source/Documents && \(change) && rm -f ../old")
        try #require(changed.exitCode == 0, "\(changed.errors)")
        _ = try resumedBytes(resume("--threads \(threads)"))
        let fresh = try place.shell(
            """
            "$migrate" export --container source --out fresh --quiet && cmp fresh resumed &&
            "$migrate" verify resumed
            """
        )
        #expect(fresh.exitCode == 0, "\(fresh.output)\(fresh.errors)")
    }

    @Test func `drops damage and what follows it`() throws {
        let boundaries = boundaries
        for place in [boundaries[1] + 100, boundaries[2] - 1] {
            var damaged = whole
            damaged[place] ^= 0x40
            try self.place.write(damaged, to: "resumed.partial")
            let kept = try resumedBytes(resume("--force"))
            #expect(kept == (place < boundaries[1] ? 0 : boundaries[1] - boundaries[0]))
            #expect(try self.place.bytes(of: "resumed") == whole)
        }
    }

    @Test func `goes on after kill -9, and leaves what is written when it fails`() throws {
        let killed = try place.shell(
            """
            "$migrate" export --container source --out resumed --resume --level 19 --threads 1 &
            while [ "$(stat -c %s resumed.partial 2>/dev/null || echo 0)" -lt 4300000 ]; do
                kill -0 $! 2>/dev/null || break; sleep 0.01
            done
            kill -9 $!; wait $!; test -e resumed.partial && test ! -e resumed
            """
        )
        try #require(killed.exitCode == 0, "\(killed.errors)")
        let fifo = try place.shell("mkfifo source/Documents/pipe")
        try #require(fifo.exitCode == 0)
        #expect(try resume("--strict").exitCode == 1)
        #expect(place.exists("resumed.partial"))
        _ = try place.shell("rm source/Documents/pipe")
        #expect(try resumedBytes(resume()) > 0)
        let verified = try place.migrate("verify", place.path("resumed"))
        #expect(verified.exitCode == 0, "\(verified.errors)")
    }

    @Test(arguments: [
        ("--dry-run", "--dry-run"), ("--passphrase", "encrypted"),
        ("--if-exists keep", "--if-exists"),
    ])
    func `refuses what can't be resumed`(_ flags: String, _ word: String) throws {
        let refused = try resume(flags)
        #expect(refused.exitCode == 64)
        #expect(refused.errors.contains(word))
        let stream = try resume(out: "-")
        #expect(stream.exitCode == 64)
        #expect(stream.errors.contains("which '--out' must name"))
    }

    @Test func `leaves a file alone that is no beginning of an archive`() throws {
        for bytes in [[UInt8]("hello".utf8), [UInt8]("age-encryption.org/v1\n".utf8)] {
            try place.write(bytes, to: "resumed.partial")
            let refused = try resume()
            #expect(refused.exitCode == 73)
            #expect(refused.errors.contains("can't be resumed"))
            #expect(try place.bytes(of: "resumed.partial") == bytes)
        }
    }
}
