import Foundation
import Testing

/// The names that `import AppMigrationKit` brings into a client's source.
@Suite(
    .enabled(if: Toolchain.compiler != nil, "there is no swiftc in the search path"),
    .enabled(if: Toolchain.graphExtractor != nil, "there is no swift-symbolgraph-extract"),
    .enabled(if: Toolchain.hasModules, "the modules beside the tests can't be used by this user")
)
struct NameTests {
    /// The names of Apple's module.
    private static let ofApple: Set = [
        "AppMigrationExtension", "AppMigrationTester", "MigrationAppIdentifier",
        "MigrationDataContainer", "MigrationDefaultSupportedOptions", "MigrationPlatform",
        "MigrationRequest", "MigrationRequestWithOptions", "MigrationStatus", "ResourcesArchiver",
        "ResourcesExporting", "ResourcesExportingWithOptions", "ResourcesImporting",
        "ResourcesImportRequest",
    ]

    /// The additions that can't be reached in another way.
    private static let added: Set = [
        "GrantedResource", "ResumeActivity", "ResumeActivityExporting",
    ]

    @Test(arguments: [[], ["-enable-upcoming-feature", "MemberImportVisibility"]])
    func `an app's other module may declare names of this project`(_ options: [String]) throws {
        let directory = try Self.makeDirectory()
        defer { try? FileManager.default.removeItem(at: directory) }
        let sources = Toolchain.fixtures.appending(path: "TwoModules")
        let model = sources.appending(path: "NotesModel.swift")
        let made = try Toolchain.makeModule(of: model, in: directory)
        #expect(made.exitCode == 0, "\(made.output)")
        let client = sources.appending(path: "NotesMigration.swift")
        let run = try Toolchain.compile(client, options + ["-I", directory.path])
        #expect(run.exitCode == 0, "\(run.output)")
        #expect(run.output.isEmpty, "\(run.output)")
    }

    @Test func `shows Apple's names and the listed additions only`() throws {
        var names: Set<String> = []
        for module in ["MigrationHosting", "MigrationArchive", "MigrationSystem"] {
            names.formUnion(try SymbolGraph.extract(from: module).topLevelNames)
        }
        let expected = Self.ofApple.union(Self.added)
        #expect(names.isSuperset(of: expected))
        #expect(names.contains("ImportRecord"))
        let directory = try Self.makeDirectory()
        defer { try? FileManager.default.removeItem(at: directory) }
        let source = directory.appending(path: "Names.swift")
        let lines = names.sorted().enumerated().map { "typealias Name\($0) = \($1)" }
        try ("import AppMigrationKit\n" + lines.joined(separator: "\n"))
            .write(to: source, atomically: true, encoding: .utf8)
        let errors = try Toolchain.compile(source).output.split(separator: "\n")
        let hidden = names.filter { name in
            errors.contains { $0.contains("error: cannot find type '\(name)' in scope") }
        }
        #expect(names.subtracting(hidden) == expected)
    }

    private static func makeDirectory() throws -> URL {
        let directory = FileManager.default.temporaryDirectory
            .appending(path: "migration-names-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        return directory
    }
}
