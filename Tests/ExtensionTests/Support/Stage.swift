import Foundation
import MigrationArchive
import MigrationHosting
import ScriptedExtension
import Synchronization
import TestSupport
import Testing

/// Where a scripted extension runs.
enum Hosting: CaseIterable, Sendable {
    case inProcess
    case ownProcess
}

/// The containers and the archive of a test, and an extension that follows a script.
struct Stage {
    let root: BytePath
    let source: BytePath
    let archive: BytePath
    let destination: BytePath
    let entitlements: BytePath

    static let identifier = "com.example.scripted"

    /// The program of the scripted extension, beside the tests'.
    static var program: URL {
        URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
            .deletingLastPathComponent().appending(path: "scripted-extension")
    }

    /// Makes a container with `script` to export by, in a directory of the name `place` where given.
    init(
        _ script: String = "",
        beneath place: BytePath? = nil,
        named name: BytePath = "source"
    ) throws {
        let scratch = try BytePath.scratch
        root = place.map { scratch / $0 } ?? scratch
        if place != nil { try root.makeDirectory() }
        source = root / name
        archive = root / "app.tar.zst"
        destination = root / "destination"
        entitlements = root / "entitlements"
        try source.makeDirectory()
        for name in ["Documents", "settings", "Library"] {
            try (source / "\(name)").makeDirectory()
        }
        try (source / "script").write(script)
        try writeEntitlements("<array><string>\(Self.identifier)</string></array>")
    }

    /// Writes the extension's entitlements, with `value` as that for the data container.
    func writeEntitlements(_ value: String?, groups: String? = nil) throws {
        let container = value.map {
            "<key>com.apple.developer.app-migration.data-container-access</key>\($0)"
        }
        let declared = groups.map { "<key>com.apple.security.application-groups</key>\($0)" }
        let entry = (container ?? "") + (declared ?? "")
        let text = """
            <?xml version="1.0" encoding="UTF-8"?>
            <plist version="1.0"><dict>\(entry)</dict></plist>
            """
        try? FileManager.default.removeItem(at: entitlements.url)
        try entitlements.write(text)
    }

    /// Makes an empty app group `shared` that the entitlements declare, and returns its directory.
    func makeGroup() throws -> BytePath {
        let group = root / "group"
        try group.makeDirectory()
        try declareGroups(["shared"])
        return group
    }

    /// Writes entitlements for the container and for app groups.
    func declareGroups(_ identifiers: [String]) throws {
        let strings = identifiers.map { "<string>\($0)</string>" }.joined()
        try writeEntitlements(
            "<array><string>\(Self.identifier)</string></array>",
            groups: "<array>\(strings)</array>"
        )
    }

    /// The extension, hosted as `hosting` says.
    func scripted(_ hosting: Hosting = .ownProcess) -> MigrationExtension {
        var scripted: MigrationExtension
        switch hosting {
        case .inProcess: scripted = .inProcess(ScriptedMigration())
        case .ownProcess: scripted = .executable(at: Self.program)
        }
        scripted.entitlements = entitlements.url
        // All tests may run at once, so only tests of hangs set a short limit.
        scripted.hangTimeout = .seconds(600)
        return scripted
    }

    /// An extension that is the shell program `script`.
    func shell(_ script: String) throws -> MigrationExtension {
        let program = root / "program"
        try program.write("#!/bin/sh\n\(script)\n")
        try program.setMode(0o755)
        var shell = MigrationExtension.executable(at: program.url)
        shell.entitlements = entitlements.url
        return shell
    }

    /// Exports the source by its script.
    @discardableResult
    func export(
        _ scripted: MigrationExtension,
        options: ExportOptions = ExportOptions(),
        progress: Progress? = nil
    ) async throws -> ExportReport {
        try await MigrationHost().export(
            MigrationDataContainer(atPath: source),
            to: .file(path: archive, replacesExisting: true),
            using: scripted,
            options: options,
            progress: progress
        )
    }

    /// Exports, and returns the error that it must end with.
    func failure(of scripted: MigrationExtension) async throws -> MigrationError {
        let error = await #expect(throws: MigrationError.self) { try await export(scripted) }
        return try #require(error)
    }

    /// Makes a document, so that the progress of an export moves once its directory is appended.
    func makeDocument() throws {
        try (source / "Documents/page").write("text")
    }

    /// The start of a script, which appends a file that can't wait: it counts at once.
    static let appendingAtOnce = "write tmp:now text\nappend tmp:now as now\n"

    /// Waits until the extension has appended something that `progress` counts, as
    /// ``appendingAtOnce`` does.
    ///
    /// The limit is long because all tests may run at once; it only matters if the event never
    /// comes.
    func waitForAppend(_ progress: Progress) async throws {
        let end = ContinuousClock.now.advanced(by: .seconds(1800))
        while progress.completedUnitCount == 0 {
            try #require(ContinuousClock.now < end, "nothing is appended")
            try await Task.sleep(for: .milliseconds(5))
        }
    }

    /// Makes an archive of `files`, which an import gets, with `script` to import by.
    func makeArchive(_ script: String, files: [String: String] = [:]) async throws {
        let content = root / "content"
        try content.makeDirectory()
        try (content / "script").write(script)
        for (name, text) in files { try (content / "\(name)").write(text) }
        _ = try await MigrationHost().export(
            MigrationDataContainer(
                atPath: content,
                bundleIdentifier: "com.example.android"
            ),
            to: .file(path: archive, replacesExisting: true)
        )
    }

    /// Imports the archive by its script.
    @discardableResult
    func importArchive(
        _ scripted: MigrationExtension,
        options: ImportOptions = ImportOptions(),
        progress: Progress? = nil
    ) async throws -> ImportReport {
        try await MigrationHost().import(
            .file(path: archive),
            into: MigrationDataContainer(atPath: destination),
            using: scripted,
            options: options,
            progress: progress
        )
    }

    /// The paths in the archive, in its order.
    func archivedPaths() async throws -> [String] {
        let paths = Mutex<[String]>([])
        _ = try await ArchiveSource.file(path: archive).forEachEntry { entry in
            paths.withLock { $0.append(entry.path.description) }
        }
        return paths.withLock { $0 }
    }

    /// The text of a file in the archive.
    func archivedText(_ path: String) async throws -> String {
        let place = root / "extracted-\(UUID().uuidString)"
        _ = try await ArchiveSource.file(path: archive)
            .extract(to: place.url, only: [EntryPath(path)])
        return try String(contentsOf: place.url.appending(path: path), encoding: .utf8)
    }

    /// The text of a file in the destination.
    func importedText(_ path: String) throws -> String {
        try String(contentsOf: destination.url.appending(path: path), encoding: .utf8)
    }

    /// The container at a path.
    func container(at path: BytePath) throws -> MigrationDataContainer {
        try MigrationDataContainer(atPath: path)
    }

    /// Files beside the test's own, which should not exist.
    func leftovers() throws -> [BytePath] {
        let own: Set<BytePath> = [
            "app.tar.zst", "content", "destination", "entitlements", "group", "source",
        ]
        return try root.names().filter { !own.contains($0) && !"\($0)".contains("extracted") }
    }
}
