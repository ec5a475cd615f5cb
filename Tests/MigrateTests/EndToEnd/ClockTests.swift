import Foundation
import TestSupport
import Testing

/// Runs commands while the clock on the wall is set an hour forth and back, at every look at it.
@Suite(.scratchDirectory)
struct ClockTests {
    private static let source = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../Fixtures/JumpingClock/clock.c").standardizedFileURL.path

    /// Runs a script in which `$jumping` begins a command that is ended where it hangs.
    private func run(_ script: String, in place: Workplace) throws -> MigrateCommand.Result {
        // The Swift toolchain links with this compiler.
        let compiled = try place.shell("clang -shared -fPIC -o clock.so '\(Self.source)' -ldl")
        try #require(compiled.exitCode == 0, "\(compiled.errors)")
        return try place.shell(
            """
            jumping="timeout -s KILL 600 env LD_PRELOAD=$PWD/clock.so $migrate"
            \(script)
            """
        )
    }

    @Test func `exports and imports`() throws {
        let place = try Workplace()
        try place.makeContainer()
        let result = try run(
            """
            $jumping export --container source --out archive &&
            $jumping import archive --container app && $migrate diff archive --container app
            """,
            in: place
        )
        #expect(result.exitCode == 0, "\(result.errors)")
    }

    /// Years before the first, and of five digits.
    @Test(arguments: [-69_430_000_000, 300_000_000_000])
    func `writes a status that can be read, whatever the clock says`(_ offset: Int) throws {
        let place = try Workplace()
        try place.makeContainer()
        try place.export()
        let result = try run(
            """
            export CLOCK_OFFSET=\(offset)
            $jumping import archive --container app >&2 && $jumping status --container app &&
            $migrate status --container app && $migrate status --container app --json
            """,
            in: place
        )
        #expect(result.exitCode == 0, "\(result.errors)")
        #expect(result.output.split(separator: "\n").filter { $0 == "success" }.count == 2)
        #expect(result.output.contains(offset < 0 ? "\"0001-01-01T" : "\"9999-12-31T"))
    }

    @Test(arguments: [("sleep 300", 40, 0), ("sleep-on 30000", 1, 1)])
    func `ends an extension that hangs, and no other`(
        _ command: String,
        _ limit: Int,
        _ code: Int32
    ) throws {
        let stage = try ExtensionStage()
        try stage.script("append Documents\n\(command)")
        let result = try run(
            """
            $jumping export --container source --out archive --hang-timeout \(limit) \
                --extension '\(ExtensionStage.program)' --entitlements entitlements
            """,
            in: stage.place
        )
        #expect(result.exitCode == code, "\(result.errors)")
        #expect(result.errors.contains("hung: ") == (code != 0), "\(result.errors)")
    }
}
