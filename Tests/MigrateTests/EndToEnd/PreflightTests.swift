import Foundation
import TestSupport
import Testing

/// The answers of `migrate preflight`.
@Suite(.scratchDirectory)
struct PreflightTests {
    private let stage: ExtensionStage

    init() throws {
        stage = try ExtensionStage()
    }

    @Test func `says what the extension can do`() throws {
        try stage.write("84200000", to: "settings/estimate")
        let result = try stage.run("preflight", "--no-sandbox")
        #expect(result.exitCode == 0, "\(result.errors)")
        #expect(result.errors.isEmpty)
        try Snapshot(name: "preflight").expect(
            result.output.replacing(#/[0-9.]+ [A-Za-z]+ free/#, with: "N free")
                .replacing(#/runs as  [^\n]*/#, with: "runs as  N")
                // The other limits depend on the system.
                .replacing(#/( *[0-9]+ [^\n]*\(cgroup\)\n)+$/#, with: "")
        )
        let answer = try stage.run("preflight", "--no-sandbox", "--json")
        try Snapshot(name: "preflight-json").expect(
            answer.output.replacing(#/"availableSpace" : [0-9]+/#, with: "\"availableSpace\" : 0")
                .replacing(#/"user" : "[^"]*"/#, with: "\"user\" : \"N\"")
                .replacing(#/,\n *"[0-9]+ [^"]*\(cgroup\)"/#, with: "")
        )
        #expect(try stage.place.names() == ["entitlements", "source"])
        #expect(!stage.place.exists("source/.migration"))
    }

    @Test(arguments: [("append Documents/note", 0), ("try-append Documents/note", 1)])
    func `rehearses a cancellation`(_ script: String, _ code: Int32) throws {
        try stage.script(script)
        let result = try stage.run("preflight", "--rehearse-cancellation")
        #expect(result.exitCode == code, "\(result.errors)")
        #expect(result.output.contains("\nfinding: cancellationSwallowed: ") == (code == 1))
        #expect(try stage.place.names() == ["entitlements", "source"])
    }

    @Test(arguments: [("progress 10 10", 1), ("refuse-all-but 1.0", 0)])
    func `rehearses a version`(_ script: String, _ code: Int32) throws {
        try stage.script("append Documents\nappend import as script")
        try stage.write(script, to: "import")
        let result = try stage.run("preflight", "--rehearse-version", "99")
        #expect(result.exitCode == code, "\(result.errors)")
        #expect(result.output.contains("\nfinding: versionIgnored: ") == (code == 1))
        let row = code == 1 ? "version 99: imported anyway\n" : "version 99: refused: "
        #expect(result.output.contains(row), "\(result.output)")
        #expect(try stage.place.names() == ["entitlements", "source"])
        let answer = try stage.run("preflight", "--rehearse-version", "99", "--json").output
        #expect(answer.contains("\"isRefused\" : \(code == 0)"), "\(answer)")
    }

    @Test func `says of another app's entitlement that it is one`() throws {
        let result = try stage.run("preflight", "--bundle-id", "com.example.other")
        #expect(result.exitCode == 1)
        #expect(result.output.contains("\nfinding: entitlementMismatched: "))
    }
}
