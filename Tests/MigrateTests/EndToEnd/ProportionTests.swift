import Foundation
import TestSupport
import Testing

/// Commands on input from a stranger: twice the input may take twice the work.
///
/// The work is counted in allocated and copied bytes and in calls for files; no time is measured.
/// Making a path for every level of a tree would alone exceed the limits of these tests.
@Suite(
    .scratchDirectory,
    .enabled(if: !Machine.isSanitized, "a sanitizer allocates memory its own way")
)
struct ProportionTests {
    private static let source = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../Fixtures/WorkCount/count.c").standardizedFileURL.path

    /// How many levels, rules or entries the smaller and the larger input have.
    private static let sizes = [2_000, 16_000]

    /// The bytes that each further one may take, if more than 8 KiB: the listing of a directory has
    /// a buffer of 32 KiB, and each look far ahead in a backup may copy its window of 256 KiB.
    private static let limits = [
        "diff deep --container app": 49_152, "android lint rules.xml": 12_288,
        "android convert covering --out out --salvage": 1 << 20,
    ]

    /// The calls that each further one may take.
    private static let callLimit = 8

    private static let makeInput = """
        import io, sys, tarfile
        size = int(sys.argv[1])
        with tarfile.open('deep', 'w', format=tarfile.PAX_FORMAT) as tar:
            entry = tarfile.TarInfo('d/' * size + 'f'); entry.size = 1; entry.mtime = 1
            tar.addfile(entry, io.BytesIO(b'x'))
        with open('rules.xml', 'w') as file:
            file.write('<full-backup-content>\\n' + '<include/>\\n' * size + '</full-backup-content>\\n')
        with open('covering', 'wb') as file:
            manifest = b'1\\ncom.x\\n7\\n36\\n\\n0\\n0\\n'
            for number in range(size):
                entry = tarfile.TarInfo('apps/com.x/f/%d' % number if number else 'apps/com.x/_manifest')
                entry.size = (size - 1 - number) * 512 if number else len(manifest)
                file.write(entry.tobuf(tarfile.USTAR_FORMAT))
                if not number: file.write(manifest.ljust(512, b'\\0'))
            file.write(bytes(1024))
        """

    /// Runs `command` after `preparation` on an input of each size; returns the bytes and calls
    /// that it needed.
    private func work(_ command: String, after preparation: String) throws -> [[Int]] {
        let place = try Workplace()
        let compiled = try place.shell(
            // The Swift toolchain links with this compiler.
            "clang -O1 -fno-builtin -shared -fPIC -o count.so '\(Self.source)' -ldl"
        )
        try #require(compiled.exitCode == 0, "\(compiled.errors)")
        return try Self.sizes.map { size in
            let result = try place.shell(
                """
                rm -rf made; mkdir made; cd made; cat > make.py <<'END'
                \(Self.makeInput)
                END
                python3 make.py \(size) && { \(preparation); } >/dev/null || exit 99
                env LD_PRELOAD=$PWD/../count.so WORK_COUNT=$PWD/work $migrate \(command) >/dev/null
                code=$?; cat work; exit $code
                """
            )
            #expect([0, 1].contains(result.exitCode), "\(result.errors.prefix(1000))")
            let numbers = result.output.split { !$0.isNumber }.compactMap { Int($0) }
            try #require(numbers.count == 2, "\(result.errors.prefix(1000))")
            return numbers
        }
    }

    private func expectProportion(_ command: String, after preparation: String = ":") throws {
        let work = try work(command, after: preparation)
        let more = Self.sizes[1] - Self.sizes[0]
        #expect((work[1][0] - work[0][0]) / more <= Self.limits[command] ?? 8_192, "\(work)")
        #expect((work[1][1] - work[0][1]) / more <= Self.callLimit, "\(work)")
    }

    @Test(arguments: [
        "inspect deep", "list deep", "list deep --ncdu", "list deep --json-lines", "verify deep",
        "report deep --out page", "extract deep --to out", "import deep --container app",
        "diff deep deep", "android lint rules.xml",
        "android convert covering --out out --salvage",
    ])
    func `do work in proportion to their input`(_ command: String) throws {
        try expectProportion(command)
    }

    @Test(arguments: ["diff deep --container app", "status --container app"])
    func `do work in proportion to a container`(_ command: String) throws {
        try expectProportion(command, after: "$migrate import deep --container app")
    }

    @Test func `find no difference in the directories of a file that has no entries for them`()
        throws
    {
        let place = try Workplace()
        let result = try place.shell(
            """
            mkdir -p a/b/c && touch -d @1 a/b/c/f && tar -cf tar a/b/c/f && mkdir app && cp -a a app/ &&
            $migrate diff tar --container app && mkdir -p app/a/other && touch app/a/b/c/more &&
            $migrate diff tar --container app
            """
        )
        #expect(result.exitCode == 1, "\(result.errors)")
        let lines = result.output.split(separator: "\n")
        #expect(
            lines.count == 2 && lines.allSatisfy { $0.contains("only in the container") },
            "\(lines)"
        )
    }
}
