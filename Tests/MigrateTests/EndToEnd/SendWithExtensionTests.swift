import Foundation
import TestSupport
import Testing

/// `migrate send` of an app's own extension's appends.
@Suite(.scratchDirectory)
struct SendWithExtensionTests {
    private let stage: SendStage

    private static let appends = ["noise", "1.log", "2.log", "3.log"].map {
        "append Documents/\($0)"
    }

    private static var flags: String {
        "--extension '\(ExtensionStage.program)' --entitlements entitlements"
    }

    init() throws {
        stage = try SendStage()
        let list = try PropertyListSerialization.data(
            fromPropertyList: [
                "com.apple.developer.app-migration.data-container-access": ["com.example.notes"]
            ],
            format: .xml,
            options: 0
        )
        try stage.place.write([UInt8](list), to: "entitlements")
        try script(Self.appends)
    }

    private func script(_ lines: [String]) throws {
        try stage.place.write([UInt8](lines.joined(separator: "\n").utf8), to: "source/script")
    }

    /// The archive of the extension's current appends.
    private func export(as name: String) throws -> [UInt8] {
        let result = try stage.place.shell(
            "\"$migrate\" export --container source --out \(name) \(Self.flags)"
        )
        try #require(result.exitCode == 0, "\(result.errors)")
        return try stage.place.bytes(of: name)
    }

    @Test func `goes on where the extension appends the same, and sends no proved frame again`()
        throws
    {
        let whole = try export(as: "whole")
        let boundaries = FrameBoundaries.of(whole)
        try #require(boundaries.count > 4)
        for boundary in boundaries.dropFirst() {
            try stage.place.shell("rm -f there there.partial")
            #expect(try stage.send(Self.flags, cutAt: 1 + boundary + 100).exitCode == 74)
            #expect(!stage.place.exists("there"))
            let kept = try stage.keptBytes(stage.send(Self.flags + " --json"))
            #expect(kept == boundary - boundaries[0])
            #expect(try stage.sentBytes == stage.expectedBytes(of: whole, keeping: kept))
            #expect(try stage.place.bytes(of: "there") == whole)
        }
    }

    @Test func `sends anew what the extension appends under other names, and says so`() throws {
        let cut = FrameBoundaries.of(try export(as: "whole")).last ?? 0
        #expect(try stage.send(Self.flags, cutAt: cut + 100).exitCode == 74)
        try script(Self.appends.map { $0 + " as moved/" + $0.suffix(5) })
        let result = try stage.send(Self.flags)
        try #require(result.exitCode == 0, "\(result.errors)")
        #expect(result.output.contains(": sent anew, though"), "\(result.output)")
        let other = try export(as: "other")
        #expect(try stage.sentBytes == stage.expectedBytes(of: other, keeping: 0))
        #expect(try stage.place.bytes(of: "there") == other)
    }

    @Test func `keeps the pieces that come before the first difference`() throws {
        let cut = FrameBoundaries.of(try export(as: "whole")).last ?? 0
        #expect(try stage.send(Self.flags, cutAt: cut + 100).exitCode == 74)
        try script(Self.appends.dropLast() + ["append Documents/numbers"])
        let other = try export(as: "other")
        let result = try stage.send(Self.flags + " --json")
        let kept = try stage.keptBytes(result)
        #expect(FrameBoundaries.of(other).contains(kept + FrameBoundaries.of(other)[0]))
        #expect(kept > 4_000_000)
        #expect(try stage.sentBytes == stage.expectedBytes(of: other, keeping: kept))
        #expect(try stage.place.bytes(of: "there") == other)
    }
}
