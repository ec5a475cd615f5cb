import Foundation
import Glibc
import TestSupport
import Testing

/// Whether this process, and so the command beside it, is built with a sanitizer's own memory.
private let isSanitized =
    dlsym(nil, "__asan_init") != nil || dlsym(nil, "__tsan_init") != nil

@Suite(.scratchDirectory, .enabled(if: !isSanitized, "a sanitizer takes memory of its own"))
struct MemoryTests {
    /// What is promised, in KiB: it depends on the number of threads, which is that of the processors.
    private static let bound =
        (44 + 10 * ProcessInfo.processInfo.activeProcessorCount) * 1024

    /// Runs `migrate` with `words` and returns the most memory that it held at a time, in KiB.
    private func peak(of words: String, in place: Workplace) throws -> Int {
        let result = try place.shell(
            """
            "$migrate" \(words) >/dev/null & process=$!
            while now=$(sed -n 's/^VmHWM:[^0-9]*\\([0-9]*\\).*/\\1/p' /proc/$process/status) &&
                [ -n "$now" ]; do peak=$now; sleep 0.01; done 2>/dev/null
            wait $process && echo $peak
            """
        )
        try #require(result.exitCode == 0, "\(result.errors)")
        return try #require(Int(result.output.trimmingSuffix { $0.isNewline }))
    }

    @Test(arguments: [3, 9])
    func `stays in its bounds whatever the size of the container`(_ level: Int) throws {
        let place = try Workplace()
        let made = try place.shell(
            """
            mkdir -p source/many && head -c 32000000 /dev/urandom >source/dense &&
            seq 400000 >source/text && truncate -s 32M source/holes &&
            (cd source/many && seq 5000 | xargs touch)
            """
        )
        try #require(made.exitCode == 0, "\(made.errors)")
        let export = "export --container source --out archive --level \(level)"
        #expect(try peak(of: export, in: place) < Self.bound)
        #expect(try peak(of: "verify archive", in: place) < Self.bound)
        #expect(try peak(of: "import archive --container copy", in: place) < Self.bound)
        #expect(try peak(of: "diff archive --container copy", in: place) < Self.bound)
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
        #expect(try peak(of: "import bomb.tar.zst --container copy", in: place) < Self.bound)
    }

    @Test func `stays in its bounds however deep a name is that an extension gives`() throws {
        let stage = try ExtensionStage()
        let source = stage.place.path("source/Documents/note")
        let levels = 10_000
        let description =
            #"{"version":3,"name":"X","imports":false,"exports":{"sizeEstimate":0,"#
            + #""resourcesVersion":"1","isCompressible":true,"options":[]}}"#
        let summary =
            #"{"wasCancelled":false,"progress":"#
            + #"{"isNewPerRead":false,"hasMoved":false,"completed":0,"total":0}}"#
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
        #expect(try peak(of: export, in: stage.place) < Self.bound)
    }

    /// A number as messages have it, in the shell's notation.
    private func bytes(_ number: Int) -> String {
        (0..<4).map { "\\" + String(number >> ($0 * 8) & 0xFF, radix: 8) }.joined()
    }
}

extension String {
    /// The string without the characters at its end that `isTrimmed` picks.
    fileprivate func trimmingSuffix(_ isTrimmed: (Character) -> Bool) -> Substring {
        var rest = self[...]
        while let last = rest.last, isTrimmed(last) { rest = rest.dropLast() }
        return rest
    }
}
