import Foundation
import Glibc
import TestSupport
import Testing

@Suite(.scratchDirectory, .enabled(if: !Machine.isSanitized, "a sanitizer takes memory of its own"))
struct MemoryTests {
    /// How many processors there are; by default there is a thread for each.
    private static let processors = ProcessInfo.processInfo.activeProcessorCount

    /// The memory of the installed program that imports an empty archive, in KiB.
    ///
    /// This build takes more: it maps more of Swift's libraries.
    private static let least = 25 * 1024

    /// The promised limit, in KiB.
    private func bound(in place: Workplace) throws -> Int {
        try place.makeContainer("none")
        _ = try place.export("none", as: "none.archive")
        let more = try peak(of: "import none.archive --container made", in: place) - Self.least
        return (32 + 10 * Self.processors) * 1024 + max(0, more)
    }

    /// Runs `migrate` with `words`, which must end with `code`, and returns its peak memory in KiB.
    private func peak(
        of words: String,
        endingWith code: Int = 0,
        in place: Workplace
    ) throws -> Int {
        let result = try place.shell(
            """
            python3 -c 'import resource, subprocess, sys
            ended = subprocess.run(sys.argv[2:], stdout=subprocess.DEVNULL)
            assert ended.returncode == int(sys.argv[1])
            print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)' \(code) "$migrate" \(words)
            """
        )
        try #require(result.exitCode == 0, "\(result.errors)")
        return try #require(Int(result.output.dropLast()))
    }

    @Test(arguments: [3, 9])
    func `stays in its bounds whatever the size of the container`(_ level: Int) throws {
        let place = try Workplace()
        let made = try place.shell(
            """
            mkdir -p source/many && head -c 32000000 /dev/urandom >source/dense &&
            seq 400000 >source/text && truncate -s 32M source/holes &&
            (cd source/many && seq 14000 | xargs touch) && mkdir source/documents && python3 -c '
            import random
            for number in range(4000):
                open(f"source/documents/{number}", "w").write(random.randbytes(12000).hex())'
            """
        )
        try #require(made.exitCode == 0, "\(made.errors)")
        let bound = try bound(in: place)
        let export = "export --container source --out archive --level \(level)"
        #expect(try peak(of: export, in: place) < bound)
        #expect(try peak(of: "verify archive", in: place) < bound)
        #expect(try peak(of: "import archive --container copy", in: place) < bound)
        #expect(try peak(of: "diff archive --container copy", in: place) < bound)
        let alone = "import archive --container another --threads 1"
        let boundAlone = bound - (Self.processors - 1) * 10 * 1024
        #expect(try peak(of: alone, in: place) < boundAlone)
    }

    @Test func `stays in its bounds however many large files differ`() throws {
        let place = try Workplace()
        let made = try place.shell(
            """
            mkdir source && for name in $(seq 16); do
                head -c 9000000 /dev/urandom >source/$name
            done
            """
        )
        try #require(made.exitCode == 0, "\(made.errors)")
        try place.export()
        // The byte lies in a piece that holds nothing else.
        let changed = try place.shell(
            """
            for name in source/*; do
                printf x | dd of=$name bs=1 seek=4500000 conv=notrunc 2>/dev/null
            done
            """
        )
        try #require(changed.exitCode == 0, "\(changed.errors)")
        let diff = "diff archive --container source"
        #expect(try peak(of: diff, endingWith: 1, in: place) < bound(in: place))
    }

    @Test func `stays in its bounds whatever an archive claims`() throws {
        let place = try Workplace()
        let made = try place.shell(
            """
            mkdir source && truncate -s 64M source/holes && echo text >source/text
            tar -C source -cf - . | zstd -q -19 -o bomb.tar.zst
            """
        )
        try #require(made.exitCode == 0, "\(made.errors)")
        let peak = try peak(of: "import bomb.tar.zst --container copy", in: place)
        #expect(try peak < bound(in: place))
    }

    @Test func `stays in its bounds however deep a name is that an extension gives`() throws {
        let stage = try ExtensionStage()
        let source = stage.place.path("source/Documents/note")
        let levels = 10_000
        let description =
            #"{"version":4,"name":"X","imports":false,"exports":{"sizeEstimate":0,"#
            + #""resourcesVersion":"1","isCompressible":true,"options":[]}}"#
        let summary =
            #"{"wasCancelled":false,"progress":"#
            + #"{"isNewPerRead":false,"hasMoved":false,"last":"#
            + #"{"completed":0,"total":0,"fraction":0}}}"#
        let program = """
            #!/bin/sh
            {
                printf '\(bytes(description.utf8.count + 1))!%s' '\(description)'
                printf '\(bytes(10 + source.utf8.count + 2 * levels + 1))"'
                printf '\(bytes(1))\\001\(bytes(source.utf8.count))%s' '\(source)'
                yes a/ | head -n \(levels) | tr -d '\\n'
                printf 'z\(bytes(summary.utf8.count + 1))$%s' '\(summary)'
            } >&3
            sleep 600
            """
        try stage.place.write([UInt8](program.utf8), to: "program")
        let made = try stage.place.shell("chmod +x program")
        try #require(made.exitCode == 0, "\(made.errors)")
        let export = """
            export --container source --out archive --extension "$PWD/program" \
            --entitlements entitlements
            """
        let (taken, bound) = (try peak(of: export, in: stage.place), try bound(in: stage.place))
        #expect(taken < bound)
    }

    /// A number as messages have it, in the shell's notation.
    private func bytes(_ number: Int) -> String {
        (0..<4).map { "\\" + String(number >> ($0 * 8) & 0xFF, radix: 8) }.joined()
    }

    @Test(arguments: ["icons", "icons binary-lists"])
    func `stays in its bounds however large the icons in a backup of an iPhone are`(
        _ flaws: String
    ) throws {
        let place = try Workplace()
        let generator = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../Fixtures/make_iphone_backup.py").standardized.path
        let made = try place.shell("python3 '\(generator)' plain backup \(flaws)")
        try #require(made.exitCode == 0, "\(made.errors)")
        #expect(try peak(of: "ios apps backup", in: place) < bound(in: place))
    }

    @Test func `stays in its bounds however deep a name is`() throws {
        let place = try Workplace()
        let tar =
            "import io, tarfile; t = tarfile.open('deep.tar', 'w', format=tarfile.PAX_FORMAT);"
            + "i = tarfile.TarInfo('a/' * 16000 + 'f'); i.size = 1; t.addfile(i, io.BytesIO(b'x'));"
            + "t.close()"
        try place.shell("python3 -c \"\(tar)\" && mkdir empty")
        let bound = try bound(in: place)
        for words in [
            "list deep.tar --ncdu", "report deep.tar", "report deep.tar --against empty",
            "verify deep.tar", "diff deep.tar --container empty",
        ] {
            let code = words.hasPrefix("diff") ? 1 : 0
            let peak = try peak(of: words, endingWith: code, in: place)
            #expect(peak < bound, "\(words)")
        }
    }
}
