import Foundation
import MigrationHosting
import MigrationSystem
import TestSupport
import Testing

/// The app groups that the entitlements declare, and those that a session is given.
@Suite(.scratchDirectory)
struct GroupTests {
    /// The person's settings for the groups `shared` and `other`, which the entitlements declare.
    struct Given: Sendable, CustomTestStringConvertible {
        let mapped: [String]
        let omitted: Set<String>
        let code: ExtensionFinding.Code
        /// A word of the message, or the groups to map.
        var named = ""
        var unmapped: [String] = []

        var testDescription: String { "\(mapped) \(omitted.sorted())" }
    }

    private static let refusals = [
        Given(mapped: [], omitted: [], code: .groupNotMapped, unmapped: ["other", "shared"]),
        Given(mapped: ["shared"], omitted: [], code: .groupNotMapped, unmapped: ["other"]),
        Given(mapped: [], omitted: ["other"], code: .groupNotMapped, unmapped: ["shared"]),
        Given(mapped: ["shared", "othr"], omitted: [], code: .groupNotDeclared, named: "othr"),
        Given(
            mapped: ["shared"],
            omitted: ["other", "third"],
            code: .groupNotDeclared,
            named: "third"
        ),
    ]

    @Test func `takes files that an import moves into it, from wherever they are`() async throws {
        let stage = try Stage()
        try await stage.makeArchive(
            """
            move in:file group:shared/file
            write tmp:made made
            move tmp:made group:shared/made
            """,
            files: ["file": "text"]
        )
        let group = try stage.makeGroup()
        var scripted = stage.scripted()
        scripted.applicationGroups = ["shared": group.url]
        try await stage.importArchive(scripted)
        #expect(try (group / "file").contents() == Data("text".utf8))
        #expect(try (group / "made").contents() == Data("made".utf8))
        #expect(try group.names() == ["file", "made"])
    }

    @Test(arguments: refusals)
    func `a group that is not in order refuses the session before the extension starts`(
        _ given: Given
    ) async throws {
        let stage = try Stage("append Documents as a")
        try await stage.makeArchive("progress 10 10")
        let archive = try stage.archive.contents()
        try stage.declareGroups(["shared", "other"])
        // A program that doesn't exist can't be started, so nothing was.
        let hosted = try Self.extensionWithoutProgram(stage, given)
        for failure in [
            await #expect(throws: MigrationError.self) { try await stage.export(hosted) },
            await #expect(throws: MigrationError.self) { try await stage.importArchive(hosted) },
        ] {
            let error = try #require(failure)
            #expect(error.code == .entitlementInvalid)
            let isNamed = error.message.contains(given.named)
            #expect(given.unmapped.isEmpty ? isNamed : error.remedy == .mapGroups(given.unmapped))
        }
        #expect(try stage.archive.contents() == archive)
        #expect(!stage.destination.exists)
        let preflight = try await MigrationHost().preflight(
            stage.container(at: stage.source),
            using: hosted
        )
        #expect(preflight.findings.map(\.code) == [given.code])
        #expect(preflight.exports == nil)
        #expect(Set(preflight.groups.map(\.identifier)).isSuperset(of: ["shared", "other"]))
    }

    @Test(arguments: ["<string>shared</string>", "<array><integer>1</integer></array>", "<true/>"])
    func `a declaration that is no list of groups refuses the session`(
        _ value: String
    ) async throws {
        let stage = try Stage("append Documents as a")
        let container = "<array><string>\(Stage.identifier)</string></array>"
        try stage.writeEntitlements(container, groups: value)
        let error = try await stage.failure(of: stage.scripted())
        #expect(error.code == .entitlementInvalid)
        #expect(error.message.contains("com.apple.security.application-groups"))
    }

    @Test(arguments: Hosting.allCases)
    func `a group that is left out on purpose is an omission of the report`(
        _ hosting: Hosting
    ) async throws {
        let stage = try Stage("append Documents as a\nappend group:shared/file as file")
        let group = try stage.makeGroup()
        try (group / "file").write("shared")
        try stage.declareGroups(["shared", "other"])
        var scripted = stage.scripted(hosting)
        scripted.applicationGroups = ["shared": group.url]
        scripted.omittedGroups = ["other"]
        let preflight = try await MigrationHost().preflight(
            stage.container(at: stage.source),
            using: scripted
        )
        #expect(preflight.findings == [])
        #expect(preflight.groups.map(\.identifier) == ["other", "shared"])
        #expect(preflight.groups.map(\.isLeftOut) == [true, false])
        #expect(preflight.groups.map { $0.directory != nil } == [false, true])
        let exported = try await stage.export(scripted)
        #expect(exported.omissions.items.map(\.path) == ["other"])
        #expect(exported.omissions.items.map(\.reason) == [.applicationGroup])
        #expect(try await stage.archivedText("file") == "shared")
        try await stage.makeArchive("progress 10 10")
        let imported = try await stage.importArchive(scripted)
        #expect(imported.omissions.items.map(\.reason) == [.applicationGroup])
    }

    @Test func `a group can't have a directory and be left out`() async throws {
        let stage = try Stage("append Documents as a")
        let group = try stage.makeGroup()
        var scripted = stage.scripted()
        scripted.applicationGroups = ["shared": group.url]
        scripted.omittedGroups = ["shared"]
        #expect(try await stage.failure(of: scripted).code == .invalidOption)
    }

    private static func extensionWithoutProgram(
        _ stage: Stage,
        _ given: Given
    ) throws -> MigrationExtension {
        let group = stage.root / "group"
        try group.makeDirectory()
        var missing = MigrationExtension.executable(at: URL(filePath: "/nonexistent/program"))
        missing.entitlements = stage.entitlements.url
        for identifier in given.mapped { missing.applicationGroups[identifier] = group.url }
        missing.omittedGroups = given.omitted
        return missing
    }
}
