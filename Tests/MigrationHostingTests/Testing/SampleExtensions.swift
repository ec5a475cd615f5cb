import ExtensionFoundation
import Foundation
import MigrationHosting

/// The common parts of these tests' extensions: they export the documents and count to 10.
protocol SampleExporting: ResourcesExportingWithOptions {}

extension SampleExporting {
    var resourcesSizeEstimate: Int { 1_000 }
    var resourcesVersion: String { "5" }
    var resourcesCompressible: Bool { true }

    func exportResources(
        to archiver: sending ResourcesArchiver,
        request: MigrationRequestWithOptions<OptionsType>
    ) async throws {
        try await archiver.appendItem(at: appContainer.documentsDirectory)
    }
}

/// Only exports, and asks for no compression.
struct StoringExporter: SampleExporting, ResourcesExporting {
    var resourcesCompressible: Bool { false }
}

/// Only exports.
struct PhotoExporter: SampleExporting, ResourcesExporting {}

/// Takes no part: the base protocol alone means nothing.
struct IdleExtension: AppMigrationExtension {}

/// The options that a destination may have for pictures.
enum PictureOption: String, CaseIterable {
    case format
    case quality
}

/// Options of another destination.
enum SoundOption: String, CaseIterable {
    case rate
}

/// Exports its request as text.
struct PictureExporter: SampleExporting {
    typealias OptionsType = PictureOption

    func exportResources(
        to archiver: sending ResourcesArchiver,
        request: MigrationRequestWithOptions<PictureOption>
    ) async throws {
        let options = request.options.map {
            "\($0.key)=\(String(decoding: $0.value, as: UTF8.self))"
        }
        let lines = [request.destinationPlatform.rawValue] + options.sorted()
        let file = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try Data(lines.joined(separator: "\n").utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        try await archiver.appendItem(at: file, pathInArchive: "request.txt")
    }
}

/// Continues when it is cancelled.
struct SwallowingExporter: SampleExporting, ResourcesExporting {
    func exportResources(
        to archiver: sending ResourcesArchiver,
        request: MigrationRequest
    ) async throws {
        try? await archiver.appendItem(at: appContainer.documentsDirectory)
    }
}

/// Writes half of its files and fails.
struct FailingImporter: ResourcesImporting {
    struct Failure: CustomNSError, LocalizedError {
        static let errorDomain = "Notes"
        var errorCode: Int { 7 }
        var errorDescription: String? { "The notes are too old." }
    }

    let resourcesImportProgress = Progress(totalUnitCount: 10)

    func importResources(at url: URL, request: ResourcesImportRequest) async throws {
        try Data("half".utf8).write(to: appContainer.documentsDirectory.appending(path: "half.txt"))
        throw Failure()
    }
}

/// Remembers the version that it got, and never moves its progress.
struct VersionImporter: ResourcesImporting {
    let resourcesImportProgress = Progress(totalUnitCount: 0)

    func importResources(at url: URL, request: ResourcesImportRequest) async throws {
        let place = appContainer.documentsDirectory.appending(path: "version.txt")
        try Data(request.sourceVersion.utf8).write(to: place)
    }
}
