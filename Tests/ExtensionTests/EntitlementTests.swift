import Foundation
import MigrationCore
import TestSupport
import Testing

/// The entitlement for the data container (reference 1.6).
@Suite(.scratchDirectory)
struct EntitlementTests {
    @Test(arguments: [
        (nil, ExtensionFinding.Code.entitlementMissing),
        ("<string>com.example.scripted</string>", .entitlementMissing),
        ("<array><integer>1</integer></array>", .entitlementMissing),
        ("<array/>", .entitlementEmpty),
        ("<array><string>a</string><string>b</string></array>", .entitlementPlural),
        ("<array><string>com.example.other</string></array>", .entitlementMismatched),
    ])
    func `a wrong one refuses the session before the extension starts`(
        _ value: String?,
        _ code: ExtensionFinding.Code
    ) async throws {
        let stage = try Stage("append Documents as a")
        try stage.writeEntitlements(value)
        // Nothing can be started that isn't there: so nothing was.
        var missing = MigrationExtension.executable(at: URL(filePath: "/nonexistent/program"))
        missing.entitlements = stage.entitlements.url
        let container = try MigrationDataContainer(
            atPath: stage.source.bytes,
            bundleIdentifier: Stage.identifier
        )
        let hosted = missing
        let error = await #expect(throws: MigrationError.self) {
            try await MigrationHost().exportContainer(
                container,
                to: .file(path: stage.archive.bytes, replacingExisting: false),
                using: hosted
            )
        }
        #expect(error?.code == .entitlementInvalid)
        let preflight = try await MigrationHost().preflight(container, using: hosted)
        #expect(preflight.findings.map(\.code) == [code])
        #expect(preflight.entitlement == nil)
        #expect(preflight.exports == nil)
    }

    @Test func `refuses an import before the container is touched`() async throws {
        let stage = try Stage()
        try await stage.makeArchive("write Documents/a a")
        try stage.writeEntitlements(nil)
        let error = await #expect(throws: MigrationError.self) {
            try await stage.importArchive(stage.scripted())
        }
        #expect(error?.code == .entitlementInvalid)
        #expect(!stage.destination.exists)
    }

    @Test func `lies beside the executable unless another file is named`() async throws {
        let stage = try Stage("append Documents as a")
        let program = stage.root / "program"
        try FileManager.default.copyItem(at: Stage.program, to: program.url)
        let error = try await stage.failure(of: .executable(at: program.url))
        #expect(error.code == .entitlementInvalid)
        #expect(error.message.contains("program.entitlements"))
        try FileManager.default.copyItem(
            at: stage.entitlements.url,
            to: (stage.root / "program.entitlements").url
        )
        let report = try await stage.export(.executable(at: program.url))
        #expect(report.header.bundleIdentifier == Stage.identifier)
    }

    @Test func `says whose a container is that does not say it itself`() async throws {
        let stage = try Stage("append Documents as a")
        let report = try await stage.export(stage.scripted(.inProcess))
        #expect(report.header.bundleIdentifier == Stage.identifier)
    }
}
