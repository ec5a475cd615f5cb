import Foundation
import Testing

/// The app's data on a device with Android, and its way to iOS by the command `migrate`.
struct AndroidDevice {
    /// The exit code and the output of a program.
    struct Run {
        let status: Int32
        let output: String
        let errors: String
    }

    static let package = "com.example.tasks"

    private static let project = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../Android", directoryHint: .isDirectory).standardized

    /// The `migrate` that `MIGRATE` names, or else the one that was built beside the tests.
    private static let program =
        ProcessInfo.processInfo.environment["MIGRATE"]
        .map { URL(filePath: $0) } ?? Bundle.main.bundleURL.appending(path: "migrate")

    let directory: URL
    let data: URL
    let rules: URL

    /// The stream that the emulator keeps.
    var stream: URL { directory.appending(path: "files/1/_full/\(Self.package)") }

    /// The archive that a conversion makes.
    var archive: URL { directory.appending(path: "tasks.tar.zst") }

    /// Makes a device in an empty directory, with the app's data and its rules.
    init(in directory: URL) throws {
        self.directory = directory
        data = directory.appending(path: "data")
        rules = directory.appending(path: "data_extraction_rules.xml")
        let source = Self.project.appending(path: "data/\(Self.package)")
        for path in try source.files.keys {
            let copy = data.appending(path: path)
            try FileManager.default.createDirectory(
                at: copy.deletingLastPathComponent(),
                withIntermediateDirectories: true
            )
            try FileManager.default.copyItem(at: source.appending(path: path), to: copy)
        }
        try FileManager.default.copyItem(
            at: Self.project.appending(path: "res/xml/data_extraction_rules.xml"),
            to: rules
        )
    }

    /// Edits the rules.
    func replaceInRules(_ text: String, with other: String) throws {
        let content = try String(contentsOf: rules, encoding: .utf8)
        try #require(content.contains(text))
        try Data(content.replacing(text, with: other).utf8).write(to: rules)
    }

    /// Backs the app up as an emulator does.
    @discardableResult
    func backUp() throws -> Run {
        try Self.run(
            URL(filePath: "/usr/bin/env"),
            [
                "python3", Self.project.appending(path: "emulate-backup.py").path, data.path,
                rules.path, Self.package, directory.appending(path: "files").path,
            ]
        )
    }

    /// Lints the rules with the app's data.
    func lint() throws -> Run {
        try migrate(["android", "lint", rules.path, "--data", data.path] + manifest)
    }

    /// Previews what an app on iOS receives.
    func preview() throws -> Preview {
        let words = ["android", "preview", rules.path, "--data", data.path, "--json"]
        let run = try migrate(words + manifest)
        return try JSONDecoder().decode(Preview.self, from: Data(run.output.utf8))
    }

    /// Converts the stream into an archive for an app on iOS.
    @discardableResult
    func convert(for app: String = "ABCDE12345.com.example.tasks") throws -> Run {
        try migrate([
            "android", "convert", stream.path, "--out", archive.path, "--app-id", app,
        ])
    }

    /// Extracts the archive into the directory that an importer on iOS gets.
    func extract() throws -> URL {
        let resources = directory.appending(path: "resources")
        let run = try migrate(["extract", archive.path, "--to", resources.path])
        try #require(run.status == 0, "\(run.errors)")
        return resources
    }

    /// Backs up, converts and extracts.
    func resources() throws -> URL {
        let backup = try backUp()
        try #require(backup.status == 0, "\(backup.errors)")
        let conversion = try convert()
        try #require(conversion.status == 0, "\(conversion.errors)")
        return try extract()
    }

    func migrate(_ arguments: [String]) throws -> Run {
        try Self.run(Self.program, arguments)
    }

    private var manifest: [String] {
        ["--manifest", Self.project.appending(path: "AndroidManifest.xml").path]
    }

    private static func run(_ program: URL, _ arguments: [String]) throws -> Run {
        let process = Process()
        let (output, errors) = (Pipe(), Pipe())
        process.executableURL = program
        process.arguments = arguments
        process.standardOutput = output
        process.standardError = errors
        try process.run()
        let text = try output.fileHandleForReading.readToEnd() ?? Data()
        let errorText = try errors.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return Run(
            status: process.terminationStatus,
            output: String(decoding: text, as: UTF8.self),
            errors: String(decoding: errorText, as: UTF8.self)
        )
    }
}

/// The answer of `migrate android preview --json`.
struct Preview: Decodable {
    struct Item: Decodable {
        let iosPath: String
        let bytes: Int
    }

    let eligible: Bool
    let reasons: [String]
    let included: [Item]
}

/// Runs `body` with a device of its own, which is removed afterwards.
func withAndroidDevice<Result>(_ body: (AndroidDevice) async throws -> Result) async throws
    -> Result
{
    let directory = FileManager.default.temporaryDirectory
        .appending(path: "tasks-\(UUID().uuidString)", directoryHint: .isDirectory)
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: false)
    defer { try? FileManager.default.removeItem(at: directory) }
    return try await body(AndroidDevice(in: directory))
}

extension URL {
    /// The content of each file below the directory, by path, without files of the system.
    var files: [String: Data] {
        get throws {
            let paths = try FileManager.default.subpathsOfDirectory(atPath: path)
                .filter { !$0.hasPrefix(".migration") }
            return try paths.reduce(into: [:]) { files, path in
                let file = appending(path: path)
                var isDirectory: ObjCBool = false
                if FileManager.default.fileExists(atPath: file.path, isDirectory: &isDirectory),
                    !isDirectory.boolValue
                {
                    files[path] = try Data(contentsOf: file)
                }
            }
        }
    }
}
