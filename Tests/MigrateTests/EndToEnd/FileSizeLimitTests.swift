import Foundation
import TestSupport
import Testing

/// Commands whose files may not become larger than a limit, which `ulimit -f` sets.
@Suite(.scratchDirectory)
struct FileSizeLimitTests {
    /// Lets the signal of such a write end a program, as in a shell, whatever these tests
    /// inherited.
    ///
    /// A profile of the coverage would be larger than the limit.
    private static let limited =
        "env --default-signal=XFSZ LLVM_PROFILE_FILE=/dev/null prlimit --fsize=4096"

    private func makePlace() throws -> Workplace {
        let place = try Workplace()
        try place.makeContainer(megabytes: 1)
        try place.export()
        try place.shell("mkdir -p target/Documents && echo old > target/Documents/old")
        return place
    }

    @Test(arguments: [
        "export --container source --out new", "import archive --container new",
        "import archive --container target --replace", "extract archive --to new",
        "report archive --out new", "export --container source --out - >stream",
    ])
    func `fail with the reason, and leave nothing half done`(_ words: String) throws {
        let place = try makePlace()
        let before = try place.tree("target")
        let result = try place.shell("\(Self.limited) $migrate \(words)")
        result.expectFailure(73)
        #expect(result.errors.contains("File too large"), "\(result.errors)")
        #expect(try place.tree("target") == before)
        #expect(try place.names().filter { $0 != "stream" } == ["archive", "source", "target"])
    }

    @Test func `leave the signal to the programs that a command starts`() throws {
        let place = try makePlace()
        let app = try place.shell(
            "\(Self.limited) $migrate run -c source -- sh -c 'head -c 9999 /dev/zero >big'; echo $?"
        )
        #expect(app.output == "153\n", "\(app.errors)")
        let sink = try place.shell(
            "\(Self.limited) $migrate export -c source --out-command 'cat >big; echo $? >code; false'"
        )
        #expect(sink.exitCode == 74, "\(sink.errors)")
        #expect(try place.bytes(of: "code") == Array("153\n".utf8))
    }
}
