import Foundation
import MigrationHosting
import Testing

/// The patterns of guides, moved from one container to another in odd directories.
@Suite struct GuidePatternsTests {
    /// The directories that hold the containers; most names differ in a URL.
    static let directories = ["plain", "with space", "jürgen", "a#b?c", "per%41cent", "📦"]

    @Test(arguments: Pattern.all, directories)
    func `every file arrives`(_ pattern: Pattern, _ name: String) async throws {
        let place = try Place(named: name)
        defer { place.remove() }
        let report = try await place.move(pattern)
        let files = try place.importedFiles()
        #expect(!pattern.imported.isEmpty)
        #expect(files.count == pattern.imported.count)
        #expect(files == pattern.imported, "\(files.keys.sorted())")
        #expect((report.appExtension?.paths == .unchanged) == (name == "plain"))
        #expect(report.appExtension?.findings.map(\.code) == pattern.findings.imported)
    }

    @Test(arguments: directories)
    func `an import of nothing fails where something is expected`(_ name: String) async throws {
        let place = try Place(named: name)
        defer { place.remove() }
        let nothing = place.directory.appending(path: "nothing")
        try FileManager.default.createDirectory(at: nothing, withIntermediateDirectories: false)
        let archive = place.directory.appending(path: "nothing.tar.zst")
        let identifier = "com.example.guide"
        _ = try await MigrationHost().export(
            MigrationDataContainer(at: nothing, bundleIdentifier: identifier),
            to: .file(archive)
        )
        let defensive = try place.extension("DefensiveMigration")
        try FileManager.default.createDirectory(
            at: place.destination,
            withIntermediateDirectories: false
        )
        let error = await #expect(throws: MigrationError.self) {
            _ = try await MigrationHost().import(
                .file(archive),
                into: MigrationDataContainer(at: place.destination, bundleIdentifier: identifier),
                using: defensive
            )
        }
        #expect(error?.code == .extensionFailed)
        #expect(try place.importedFiles() == [:])
    }
}

/// The containers and the app group of one test.
struct Place {
    let directory: URL
    let destination: URL
    private let scratch: URL
    private let source: URL
    private let oldGroup: URL
    private let newGroup: URL
    private let entitlements: URL

    init(named name: String) throws {
        scratch = FileManager.default.temporaryDirectory
            .appending(path: "guide-\(UUID().uuidString)")
        directory = scratch.appending(path: name)
        source = directory.appending(path: "old")
        destination = directory.appending(path: "new")
        oldGroup = directory.appending(path: "old-group")
        newGroup = directory.appending(path: "new-group")
        entitlements = directory.appending(path: "entitlements")
        for directory in [source, oldGroup, newGroup] {
            try FileManager.default.createDirectory(
                at: directory,
                withIntermediateDirectories: true
            )
        }
    }

    func remove() {
        try? FileManager.default.removeItem(at: scratch)
    }

    /// The extension that was built as `program` beside the tests.
    func `extension`(_ program: String, group: URL? = nil) throws -> MigrationExtension {
        var list: [String: [String]] = [
            "com.apple.developer.app-migration.data-container-access": ["com.example.guide"]
        ]
        if group != nil {
            list["com.apple.security.application-groups"] = ["group.com.example.guide"]
        }
        try PropertyListSerialization
            .data(fromPropertyList: list, format: .xml, options: 0)
            .write(to: entitlements)
        let built = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
            .deletingLastPathComponent()
        var hosted = MigrationExtension.executable(at: built.appending(path: program))
        hosted.entitlements = entitlements
        // Other tests may keep the machine busy.
        hosted.hangTimeout = .seconds(600)
        if let group { hosted.applicationGroups = ["group.com.example.guide": group] }
        return hosted
    }

    /// Exports the data of the old device, and imports it on the new one.
    func move(_ pattern: Pattern) async throws -> ImportReport {
        for (path, data) in pattern.files {
            let file = url(of: path, in: source, oldGroup)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(),
                withIntermediateDirectories: true
            )
            try data.write(to: file)
        }
        let usesGroup = pattern.program == "GroupMigration"
        if usesGroup { try Data("old".utf8).write(to: newGroup.appending(path: "stale.json")) }
        let archive = directory.appending(path: "archive.tar.zst")
        let identifier = "com.example.guide"
        var options = ExportOptions()
        options.destinationOptions = pattern.options
        let exported = try await MigrationHost().export(
            MigrationDataContainer(at: source, bundleIdentifier: identifier),
            to: .file(archive),
            using: self.extension(pattern.program, group: usesGroup ? oldGroup : nil),
            options: options
        )
        #expect(exported.appExtension?.findings.map(\.code) == pattern.findings.exported)
        var imported = ImportOptions()
        imported.source.platform = .android
        return try await MigrationHost().import(
            .file(archive),
            into: MigrationDataContainer(at: destination, bundleIdentifier: identifier),
            using: self.extension(pattern.program, group: usesGroup ? newGroup : nil),
            options: imported
        )
    }

    /// The imported files, without those that stay with a container.
    func importedFiles() throws -> [String: Data] {
        var files = try contents(of: destination).filter { !$0.key.hasPrefix(".migration") }
        for (path, data) in try contents(of: newGroup) {
            files["group/" + path] = data
        }
        return files
    }

    private func contents(of directory: URL) throws -> [String: Data] {
        var files: [String: Data] = [:]
        for path in try FileManager.default.subpathsOfDirectory(atPath: directory.path) {
            let file = directory.appending(path: path)
            var isDirectory: ObjCBool = false
            _ = FileManager.default.fileExists(atPath: file.path, isDirectory: &isDirectory)
            if !isDirectory.boolValue { files[path] = try Data(contentsOf: file) }
        }
        return files
    }

    private func url(of path: String, in container: URL, _ group: URL) -> URL {
        guard path.hasPrefix("group/") else { return container.appending(path: path) }
        return group.appending(path: String(path.dropFirst("group/".count)))
    }
}
