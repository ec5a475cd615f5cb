public import AppMigrationKit
public import Foundation
internal import Glibc
internal import Synchronization

/// An option of a destination, as an extension declares its own.
public enum ScriptedOption: String, CaseIterable, Sendable {
    case account
    case theme
}

/// An extension that follows a script, for tests of its host.
///
/// An export runs `script` at the container's root, an import `script` at the root of the import
/// directory. Each line is a command, as ``ScriptRun`` reads it.
public struct ScriptedMigration: ResourcesExportingWithOptions, ResourcesImporting {
    /// The options of the destination.
    public typealias OptionsType = ScriptedOption

    private let progress = Progress(totalUnitCount: 10)
    private let state = ScriptState()

    /// Makes an extension that follows scripts.
    public nonisolated init() {}

    /// The setting `estimate`, or else 0.
    public var resourcesSizeEstimate: Int {
        get async { Int(setting("estimate") ?? "") ?? 0 }
    }

    /// The setting `version`, or else 1.0.
    public var resourcesVersion: String { setting("version") ?? "1.0" }

    /// Whether there is no setting `stored`.
    public var resourcesCompressible: Bool { setting("stored") == nil }

    /// One object, unless the script says otherwise.
    public var resourcesImportProgress: Progress {
        switch state.progressForm {
        case .kept: return progress
        case .new: return Progress(totalUnitCount: 10)
        case .copied:
            let copy = Progress(totalUnitCount: progress.totalUnitCount)
            copy.completedUnitCount = progress.completedUnitCount
            return copy
        }
    }

    /// Follows the container's script.
    public func exportResources(
        to archiver: sending ResourcesArchiver,
        request: MigrationRequestWithOptions<ScriptedOption>
    ) async throws {
        var run = ScriptRun(container: appContainer, progress: progress, state: state)
        try run.begin()
        defer { run.end() }
        run.note("platform \(request.destinationPlatform.rawValue)")
        for option in ScriptedOption.allCases {
            guard let value = request.options[option] else { continue }
            run.note("option \(option.rawValue) \(String(decoding: value, as: UTF8.self))")
        }
        for command in try Self.commands(in: appContainer.containerRootDirectory) {
            if command[0] == "append-on" {
                try await Self.appendOn(archiver, appContainer.documentsDirectory)
            } else if command[0] == "reject-on" {
                for _ in 0..<20_000 {
                    try? await archiver.appendItem(at: URL(filePath: "/nowhere"))
                    usleep(1_000)
                }
            } else if command[0] == "append-until-caught" {
                try? await Self.appendOn(archiver, appContainer.documentsDirectory)
            } else if let append = try await run.perform(command) {
                do {
                    try await archiver.appendItem(at: append.url, pathInArchive: append.name)
                } catch {
                    guard append.isCaught else { throw error }
                    run.note("caught \(type(of: error)) \(error)")
                }
            }
        }
    }

    /// Follows the script in the import directory.
    public func importResources(at url: URL, request: ResourcesImportRequest) async throws {
        var run = ScriptRun(
            container: appContainer,
            progress: progress,
            state: state,
            resources: url
        )
        try run.begin()
        defer { run.end() }
        let source = request.sourceAppIdentifier
        run.note("source \(source.bundleIdentifier) \(source.platform.rawValue)")
        run.note("store \(source.storeIdentifier.rawValue) version \(request.sourceVersion)")
        for command in try Self.commands(in: url) {
            if command[0] == "refuse-all-but" {
                guard command[1...].contains(request.sourceVersion) else {
                    throw ScriptError("the version \(request.sourceVersion) is not known")
                }
                continue
            }
            guard try await run.perform(command) == nil else {
                throw ScriptError("an import appends nothing")
            }
        }
    }

    /// Appends something again and again, for longer than any test takes.
    private static func appendOn(_ archiver: ResourcesArchiver, _ item: URL) async throws {
        for number in 0..<10_000 {
            try await archiver.appendItem(at: item, pathInArchive: "\(number)")
            usleep(10_000)
        }
    }

    private static func commands(in directory: URL) throws -> [[String]] {
        let script = try String(contentsOf: directory.appending(path: "script"), encoding: .utf8)
        return script.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
    }

    /// A property of the extension, by a file of its name in the container's `settings`.
    private func setting(_ name: String) -> String? {
        let root = appContainer.containerRootDirectory
        return try? String(contentsOf: root.appending(path: "settings/\(name)"), encoding: .utf8)
    }
}

/// The changes that a script makes to its extension.
final class ScriptState: Sendable {
    /// The object that a reading of the progress returns.
    enum ProgressForm {
        case kept
        /// A new object that shows nothing.
        case new
        /// A new object with the values of the kept one.
        case copied
    }

    private let form = Mutex(ProgressForm.kept)

    var progressForm: ProgressForm {
        get { form.withLock { $0 } }
        set { form.withLock { $0 = newValue } }
    }
}

/// A script that can't be followed.
public struct ScriptError: Error, CustomStringConvertible {
    /// What is wrong with it.
    public let description: String

    init(_ description: String) {
        self.description = description
    }
}
