import Foundation
import MigrationHosting
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
        ("<array><string></string></array>", .entitlementUnusable),
        ("<array><string>*</string></array>", .entitlementUnusable),
        ("<array><string>com.example.*</string></array>", .entitlementUnusable),
        ("<array><string>A1B2C3D4E5.com.example.scripted</string></array>", .entitlementUnusable),
        ("<array><string>TEAMID.com.example.scripted</string></array>", .entitlementUnusable),
        ("<array><string>$(AppIdentifierPrefix)com.a.b</string></array>", .entitlementUnusable),
        ("<array><string>scripted</string></array>", .entitlementUnusable),
        ("<array><string>com..scripted</string></array>", .entitlementUnusable),
        ("<array><string>com.example.scripted </string></array>", .entitlementUnusable),
        ("<array><string>com.example.other</string></array>", .entitlementMismatched),
    ])
    func `a wrong one refuses the session before the extension starts`(
        _ value: String?,
        _ code: ExtensionFinding.Code
    ) async throws {
        let stage = try Stage("append Documents as a")
        try stage.writeEntitlements(value)
        // A program that doesn't exist can't be started, so nothing was.
        var missing = MigrationExtension.executable(at: URL(filePath: "/nonexistent/program"))
        missing.entitlements = stage.entitlements.url
        let container = try MigrationDataContainer(
            atPath: stage.source,
            bundleIdentifier: Stage.identifier
        )
        let hosted = missing
        let error = await #expect(throws: MigrationError.self) {
            try await MigrationHost().export(
                container,
                to: .file(path: stage.archive, replacesExisting: false),
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

    @Test func `a mismatch advises to change the entitlement along with the identifier`()
        async throws
    {
        let stage = try Stage("append Documents as a")
        try stage.writeEntitlements("<array><string>com.example.old</string></array>")
        let report = try await MigrationHost().preflight(
            MigrationDataContainer(
                atPath: stage.source,
                bundleIdentifier: Stage.identifier
            ),
            using: stage.scripted()
        )
        let finding = try #require(report.findings.first)
        #expect(finding.code == .entitlementMismatched)
        #expect(finding.message.contains("com.example.old"))
        let advice = "if an app's bundle identifier changes, change this entitlement"
        #expect(finding.fix.contains(advice))
    }

    @Test(
        arguments: Hosting.allCases,
        [
            ("com.example.other", true), (Stage.identifier, false), ("container", false),
            ("D1F7C2B0-6A54-4C57-9F3B-000000000000", false),
        ]
    )
    func `a directory's name that contradicts it gives a warning and no error`(
        _ hosting: Hosting,
        _ directory: (name: String, contradicts: Bool)
    ) async throws {
        let stage = try Stage("append Documents as a")
        try await stage.makeArchive("progress 10 10")
        let root = stage.root / "\(directory.name)"
        try FileManager.default.moveItem(at: stage.source.url, to: root.url)
        let host = MigrationHost()
        let scripted = stage.scripted(hosting)
        let container = try stage.container(at: root)
        let preflight = try await host.preflight(container, using: scripted)
        let exported = try await host.export(
            container,
            to: .file(path: stage.root / "other", replacesExisting: false),
            using: scripted
        )
        #expect(exported.header.bundleIdentifier == Stage.identifier)
        var options = ImportOptions()
        options.replacesExisting = true
        let imported = try await host.import(
            .file(path: stage.archive),
            into: container,
            using: scripted,
            options: options
        )
        #expect(preflight.findings == [])
        for warnings in [
            preflight.warnings, exported.appExtension?.warnings, imported.appExtension?.warnings,
        ] {
            let warnings = try #require(warnings)
            #expect(warnings.count == (directory.contradicts ? 1 : 0))
            for warning in warnings {
                #expect(warning.contains(Stage.identifier) && warning.contains(directory.name))
            }
        }
    }

    @Test func `says whose a container is that does not say it itself`() async throws {
        let stage = try Stage("append Documents as a")
        let report = try await stage.export(stage.scripted(.inProcess))
        #expect(report.header.bundleIdentifier == Stage.identifier)
    }
}
