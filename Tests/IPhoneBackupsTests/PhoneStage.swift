import Foundation
import IPhoneBackups
import MigrationArchive
import MigrationCore
import MigrationSystem
import TestSupport
import Testing

/// A place for backups that Python writes, and for their conversions.
struct PhoneStage {
    /// The files that the generator put into the app's container.
    struct Entry: Decodable {
        let path: String
        let kind: String
        let mode: UInt16
        let time: Int64
        let target: String?
        let content: Data
        let attributes: [String: Data]
    }

    static let app = "com.example.notes"
    static let password = "secret"
    static let forms = [
        "plain", "encrypted", "ios10.1", "ios10.0", "mbdb", "mbdb-encrypted",
    ]

    let directory: URL

    init() throws {
        directory = try #require(ScratchDirectory.current)
    }

    func url(_ name: String) -> URL { directory.appending(path: name) }

    func path(_ name: String) -> BytePath {
        BytePath(url(name).path)
    }

    private static let generator = URL(filePath: #filePath)
        .deletingLastPathComponent()
        .deletingLastPathComponent()
        .appending(path: "Fixtures/make_iphone_backup.py")

    /// Makes a backup; returns the contents of its app's container.
    @discardableResult
    func make(
        _ form: String,
        as name: String = "backup",
        flaws: [String] = []
    ) throws -> [Entry] {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["python3", Self.generator.path, form, url(name).path] + flaws
        let output = url("\(name.replacing("/", with: "-")).json")
        try FileManager.default.createDirectory(
            at: url(name).deletingLastPathComponent(),
            withIntermediateDirectories: true
        )
        _ = FileManager.default.createFile(atPath: output.path, contents: nil)
        process.standardOutput = try FileHandle(forWritingTo: output)
        try process.run()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0)
        return try JSONDecoder().decode([Entry].self, from: Data(contentsOf: output))
    }

    /// How a backup is read with a password.
    static func options(password: String? = password) -> IPhoneBackup.Options {
        var options = IPhoneBackup.Options()
        options.password = {
            password.map { text in
                var bytes = [UInt8](text.utf8)
                return Secret(wiping: &bytes)
            }
        }
        return options
    }

    /// Takes the container of the app into the archive `out`.
    func convert(
        _ name: String = "backup",
        of domain: Domain = Domain(.app, app),
        keepsGoing: Bool = false,
        password: String? = password
    ) async throws -> ContainerReport {
        var options = ContainerConversion.Options()
        options.keepsGoing = keepsGoing
        options.threadCount = 1
        return try await IPhoneBackupOperations.convert(
            domain,
            in: path(name),
            reading: Self.options(password: password),
            options: options,
            to: .file(url("out"))
        )
    }

    /// Imports the archive `out` into the container `new`.
    func importArchive() async throws {
        var options = ImportOptions()
        options.externalLinks = .keep
        _ = try await MigrationHost().import(
            .file(url("out")),
            into: MigrationDataContainer(at: url("new"), bundleIdentifier: Self.app),
            options: options
        )
    }

    /// Checks that the container `new` holds the files that the generator put into the backup.
    func checkTree(_ entries: [Entry], sourceLocation: SourceLocation = #_sourceLocation) throws {
        // An import of an app's data from iOS makes the directories that no export holds.
        let tree = try TreeSnapshot(
            of: BytePath(url("new").path),
            excluding: [".migration", "Library/Caches", "SystemData", "tmp"].map { BytePath($0) }
        )
        let links = [
            "Library/WebKit/v0": "../../Library/WebKit", "Library/WebKit/root": "../..",
        ]
        // Rows for these are missing, and for this one a database makes a new one.
        let added = ["Library/no-parent", "Library/no-parent/row"]
        let left = ["Library/cache.db-shm"]
        let expected = entries.filter { !left.contains($0.path) }
        let paths = Set(expected.map { [UInt8]($0.path.utf8) } + added.map { [UInt8]($0.utf8) })
        #expect(Set(tree.nodes.keys.map(\.bytes)) == paths, sourceLocation: sourceLocation)
        for entry in expected {
            let path = BytePath([UInt8](entry.path.utf8))
            let node = try #require(tree.nodes[path], "\(entry.path)")
            let target = (links[entry.path] ?? entry.target).map { [UInt8]($0.utf8) }
            if let target { #expect(node.target == target, sourceLocation: sourceLocation) }
            #expect(Int64(node.seconds) == entry.time, "\(entry.path)")
            if entry.kind != "link" {
                #expect(node.mode & 0o777 == mode_t(entry.mode) & 0o777, "\(entry.path)")
                let attributes = entry.attributes.map { ("user." + $0.key, [UInt8]($0.value)) }
                #expect(
                    node.attributes == Dictionary(uniqueKeysWithValues: attributes),
                    "\(entry.path)"
                )
            }
            if entry.kind == "file" {
                #expect(node.content == Content(entry.content), "\(entry.path)")
            }
        }
        #expect(tree.nodes["Documents/same-2"]?.firstName == "Documents/same-1")
        #expect(tree.nodes["Documents/reused"]?.firstName == "Documents/reused")
    }
}
