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
