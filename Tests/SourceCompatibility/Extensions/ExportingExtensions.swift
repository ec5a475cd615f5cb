import AppMigrationKit
import Foundation

/// Witnesses as the interface of iOS 26.2 has them.
struct SendingExporter: ResourcesExporting {
    var resourcesSizeEstimate: Int { get async { await Measure().bytes } }
    var resourcesVersion: String { "2.0" }
    var resourcesCompressible: Bool { false }

    func exportResources(
        to archiver: sending ResourcesArchiver,
        request: MigrationRequestWithOptions<MigrationDefaultSupportedOptions>
    ) async throws {
        try await archiver.appendItem(at: appContainer.documentsDirectory)
        try await archiver.appendItem(at: appContainer.applicationSupportDirectory)
    }

    private actor Measure {
        private(set) var bytes = 4096
    }
}

/// Witnesses as the interface of iOS 26.1 had them, and stored ones.
struct StoringExporter: ResourcesExporting {
    let resourcesSizeEstimate = 8192
    let resourcesVersion = "1.0"
    let resourcesCompressible = true

    func exportResources(to archiver: ResourcesArchiver, request: MigrationRequest) async throws {
        guard request.destinationPlatform == .android else { return }
        let files = try FileManager.default.contentsOfDirectory(
            at: appContainer.documentsDirectory,
            includingPropertiesForKeys: nil
        )
        for file in files {
            try await archiver.appendItem(at: file, pathInArchive: nil)
            try await archiver.appendItem(at: file, pathInArchive: "copy/\(file.lastPathComponent)")
        }
    }
}

/// The options of a destination.
enum NotesOption: String, CaseIterable {
    case account
    case language
}

/// An extension that knows the options of its destination, by inference.
struct OptionExporter: ResourcesExportingWithOptions {
    var resourcesSizeEstimate: Int { 0 }
    var resourcesVersion: String { "1.0" }
    var resourcesCompressible: Bool { true }

    func exportResources(
        to archiver: sending ResourcesArchiver,
        request: MigrationRequestWithOptions<NotesOption>
    ) async throws {
        for (option, value) in request.options {
            let file = FileManager.default.temporaryDirectory.appending(path: option.rawValue)
            try value.write(to: file)
            try await archiver.appendItem(at: file)
        }
    }
}

/// An extension that names its type of options, which is a structure.
struct NamedOptionExporter: ResourcesExportingWithOptions {
    struct Option: RawRepresentable, CaseIterable, Hashable, Sendable {
        static let allCases = [Option(rawValue: "quality")]
        let rawValue: String
    }

    typealias OptionsType = Option

    var resourcesSizeEstimate: Int { 0 }
    var resourcesVersion: String { "1.0" }
    var resourcesCompressible: Bool { true }

    func exportResources(
        to archiver: ResourcesArchiver,
        request: MigrationRequestWithOptions<Option>
    ) async throws {}
}

/// An extension that hands its archiver on, once, to a task or to an actor.
struct DelegatingExporter: ResourcesExporting {
    var resourcesSizeEstimate: Int { 0 }
    var resourcesVersion: String { "1.0" }
    var resourcesCompressible: Bool { true }

    func exportResources(
        to archiver: sending ResourcesArchiver,
        request: MigrationRequest
    ) async throws {
        let root = appContainer.containerRootDirectory
        if request.destinationPlatform == .android {
            try await Task { try await archiver.appendItem(at: root) }.value
        } else {
            try await Worker().append(root, to: archiver)
        }
    }

    private actor Worker {
        func append(_ url: URL, to archiver: sending ResourcesArchiver) async throws {
            try await archiver.appendItem(at: url)
        }
    }
}
