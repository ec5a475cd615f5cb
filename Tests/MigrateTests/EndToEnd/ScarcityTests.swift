import Foundation
import TestSupport
import Testing

/// Runs commands with too few resources: an error names the missing one, and nothing hangs.
@Suite(.scratchDirectory)
struct ScarcityTests {
    private static let source = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../Fixtures/FewThreads/threads.c").standardizedFileURL.path

    /// Every command that works on archives, on copies of its own.
    private static let commands = """
        export --container source --out again
        import archive --container target
        verify archive
        list archive
        extract archive --to out
        diff archive --container source
        status --container source
        """

    private func makePlace() throws -> Workplace {
        let place = try Workplace()
        try place.makeContainer(megabytes: 1)
        try place.export()
        return place
    }

    /// Expects of each line `command code: errors` a success, or a failure that says `reason`.
    private func expect(_ result: MigrateCommand.Result, _ limit: Int, reasons: [String]) -> Int {
        let lines = result.output.split(separator: "\n")
        #expect(lines.count == Self.commands.split(separator: "\n").count, "\(result.output)")
        var successes = 0
        for line in lines {
            let words = line.split(separator: " ", maxSplits: 2).map(String.init)
            guard words.count > 1, let code = Int(words[1]) else {
                Issue.record("\(limit): \(line)")
                continue
            }
            // 5 is the status of a container into which nothing was imported.
            if code == 0 || (words[0] == "status" && code == 5) {
                successes += 1
            } else {
                let failures = [words[0] == "diff" ? 2 : 1, 71, 73]
                #expect(failures.contains(code), "\(limit): \(line)")
                #expect(reasons.contains { line.contains($0) }, "\(limit): \(line)")
            }
        }
        return successes
    }

    /// Runs all commands after `preparation`; a command that hangs is ended.
    private func run(
        _ place: Workplace,
        _ preparation: String,
        prefix: String = ""
    ) throws -> MigrateCommand.Result {
        try place.shell(
            """
            cat > all <<'END'
            \(Self.commands)
            END
            cat > run.sh <<'END'
            while read -r line; do
                errors=$(timeout -s KILL 1200 \(prefix) $migrate $line 2>&1 >/dev/null </dev/null)
                echo "${line%% *} $? $(echo "$errors" | head -n 1)"
                rm -rf again target out
            done < all
            END
            \(preparation)
            """
        )
    }

    @Test(arguments: [0, 1, 3, 5, 6, 7, 8, 9, 10, 12, 14, 40])
    func `fails clearly where there are no threads to be had, or takes fewer`(
        _ limit: Int
    ) throws {
        let place = try makePlace()
        // The Swift toolchain links with this compiler.
        let compiled = try place.shell("clang -shared -fPIC -o threads.so '\(Self.source)' -ldl")
        try #require(compiled.exitCode == 0, "\(compiled.errors)")
        let result = try run(
            place,
            "sh run.sh",
            prefix: "env LD_PRELOAD=$PWD/threads.so THREAD_LIMIT=\(limit)"
        )
        let successes = expect(result, limit, reasons: ["thread"])
        if limit < 3 { #expect(successes == 0) }
        if limit == 40 { #expect(successes == 7, "\(result.output)") }
    }

    /// The check at the start takes four threads, and signals and the operation one each; no library starts any.
    @Test func `list, diff and verify need no further threads`() throws {
        let place = try Workplace()
        try place.makeContainer(megabytes: 20)
        try place.export()
        let compiled = try place.shell("clang -shared -fPIC -o threads.so '\(Self.source)' -ldl")
        try #require(compiled.exitCode == 0, "\(compiled.errors)")
        let listing = try place.migrate("list", place.path("archive"))
        let program = "$migrate"
        for limit in 6...8 {
            let few = "env LD_PRELOAD=$PWD/threads.so THREAD_STARTS=\(limit) \(program)"
            let listed = try place.shell("\(few) list archive")
            #expect(listed.output == listing.output, "\(limit): \(listed.errors)")
            let compared = try place.shell("\(few) diff archive --container source")
            #expect(compared.exitCode == 0, "\(limit): \(compared.errors)")
            let verified = try place.shell("\(few) verify archive")
            #expect(verified.exitCode == 0, "\(limit): \(verified.errors)")
        }
    }

    @Test(
        .enabled(if: Machine.isRoot, "needs root to become a user who has no other process"),
        arguments: [1, 4, 8, 64]
    )
    func `fails clearly where a user may have few processes`(_ limit: Int) throws {
        let place = try makePlace()
        let user = 60_000 + Int(getpid()) % 5000
        let become = "setpriv --reuid \(user) --regid \(user) --clear-groups"
        let result = try run(
            place,
            """
            chown -R \(user):\(user) .
            \(become) $migrate --version >/dev/null 2>&1 || exit 99
            sh run.sh
            """,
            prefix: "\(become) prlimit --nproc=\(limit)"
        )
        if result.exitCode == 99 { try Test.cancel("another user can't run the program") }
        let successes = expect(result, limit, reasons: ["thread"])
        if limit == 1 { #expect(successes == 0) }
        if limit == 64 { #expect(successes == 7, "\(result.output)") }
    }

    /// Descriptors that this process has open for other tests don't count.
    @Test(.enabled(if: Machine.has("bash"), "needs bash"), arguments: Array(4...24) + [64])
    func `fails clearly where few files may be open`(_ limit: Int) throws {
        let place = try makePlace()
        let result = try run(
            place,
            Self.closingOtherFiles(". ./run.sh"),
            prefix: "bash -c 'ulimit -n \(limit) && exec \"$@\"' -"
        )
        let successes = expect(result, limit, reasons: ["Too many open files"])
        if limit < 8 { #expect(successes == 0) }
        if limit == 64 { #expect(successes == 7, "\(result.output)") }
    }

    @Test(.enabled(if: Machine.has("bash"), "needs bash"), arguments: [1, 2, 16, 64])
    func `exports many directories where few files may be open`(_ threads: Int) throws {
        let place = try Workplace()
        try place.shell(
            """
            for i in $(seq 300); do mkdir -p source/Documents/$i; touch source/Documents/$i/f; done
            """
        )
        let export = "$migrate export --container source --out archive --threads \(threads)"
        let result = try place.shell(Self.closingOtherFiles("ulimit -n 64; \(export)"))
        #expect(result.exitCode == 0, "\(result.errors)")
    }

    /// A script that runs `script` with no open files but the first three.
    private static func closingOtherFiles(_ script: String) -> String {
        """
        exec bash -c '
            for file in /proc/$$/fd/*; do
                number=${file##*/}
                if [ $number -gt 2 ]; then eval "exec $number>&-"; fi
            done
            \(script)'
        """
    }

    /// Every processor may have a thread, whose stack takes addresses too.
    @Test(
        .enabled(if: !Machine.isSanitized, "a sanitizer's shadow covers much of the address space"),
        arguments: [100, 150, 200, 260, 300, 350, 400, 600, 1000]
    )
    func `fails clearly, or does its work, where few addresses may be used`(
        _ limit: Int
    ) throws {
        let place = try makePlace()
        let result = try run(place, "sh run.sh", prefix: "prlimit --as=\(limit << 20)")
        let successes = expect(result, limit, reasons: ["too little memory", "thread"])
        let least = 192 + 16 * ProcessInfo.processInfo.processorCount
        if limit < least { #expect(successes == 0) }
        if limit >= least + 32 { #expect(successes == 7, "\(result.output)") }
    }

    @Test func `says that the system's own files are missing`() throws {
        let place = try makePlace()
        let result = try place.shell(
            """
            unshare -rm true 2>/dev/null || exit 99
            unshare -rm sh -c 'mount -t tmpfs none /proc && $migrate list archive'
            """
        )
        if result.exitCode == 99 { try Test.cancel("there are no namespaces here") }
        result.expectFailure(71)
        #expect(result.errors.contains("/proc is missing"))
    }
}
