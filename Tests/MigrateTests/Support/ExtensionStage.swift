import Foundation
import Testing

/// A container `source`, and the scripted extension with an entitlement for it.
struct ExtensionStage {
    /// The extension that was built beside the tests.
    static let program = Bundle.main.bundleURL.appending(path: "scripted-extension").path

    let place: Workplace

    /// The path of the container.
    let container: String

    init(container: String = "source") throws {
        self.container = container
        place = try Workplace()
        let result = try place.shell("mkdir -p '\(container)/settings' '\(container)/Documents'")
        try #require(result.exitCode == 0, "\(result.errors)")
        try write("a note\n", to: "Documents/note")
        try declareGroups([])
    }

    /// Writes the extension's entitlements, which declare the app groups `identifiers`.
    func declareGroups(_ identifiers: [String]) throws {
        let list = try PropertyListSerialization.data(
            fromPropertyList: [
                "com.apple.developer.app-migration.data-container-access": ["com.example.notes"],
                "com.apple.security.application-groups": identifiers,
            ],
            format: .xml,
            options: 0
        )
        try place.write([UInt8](list), to: "entitlements")
    }

    /// Writes a file of the container.
    func write(_ text: String, to name: String) throws {
        try place.write([UInt8](text.utf8), to: "\(container)/\(name)")
    }

    /// Sets the script of an export.
    func script(_ text: String) throws {
        try write(text, to: "script")
    }

    /// Runs a command with the extension, or with another program instead.
    func run(
        _ arguments: String...,
        container: String = "source",
        program: String = program
    ) throws -> MigrateCommand.Result {
        try start(arguments, container: container, program: program).wait()
    }

    func run(
        _ arguments: [String],
        container: String = "source"
    ) throws -> MigrateCommand.Result {
        try start(arguments, container: container).wait()
    }

    /// Starts a command with the extension.
    func start(
        _ arguments: [String],
        container: String = "source",
        program: String = program
    ) throws -> MigrateCommand {
        let terms = [
            "--container", place.path(container), "--extension", program, "--entitlements",
            place.path("entitlements"),
        ]
        return try MigrateCommand.start((arguments + terms).map { [UInt8]($0.utf8) })
    }
}

extension MigrateCommand {
    /// Whether standard error holds `text` so far.
    func hasPrinted(_ text: String) throws -> Bool {
        String(decoding: try errorsSoFar(), as: UTF8.self).contains(text)
    }

    /// The processes that the running process has started.
    func children() throws -> [pid_t] {
        let tasks = "/proc/\(process)/task"
        return try FileManager.default.contentsOfDirectory(atPath: tasks).flatMap { task in
            let list = try String(contentsOfFile: "\(tasks)/\(task)/children", encoding: .utf8)
            return list.split(separator: " ").compactMap { pid_t($0) }
        }
    }
}
