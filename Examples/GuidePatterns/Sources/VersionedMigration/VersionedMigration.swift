import AppMigrationKit
import Foundation

/// Data in several formats: exported as it is, and converted to the current format when imported.
@main
struct VersionedMigration: ResourcesExporting, ResourcesImporting {
    enum Failure: Error {
        case unknownVersion(String)
    }

    let resourcesImportProgress = Progress(totalUnitCount: 1)

    var resourcesVersion: String {
        FileManager.default.fileExists(atPath: entries.path()) ? "2.0" : "1.0"
    }

    var resourcesCompressible: Bool { true }

    var resourcesSizeEstimate: Int {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: entries.path())) ?? []
        let files = names.map { entries.appending(path: $0) } + [list]
        return files.reduce(0) { sum, file in
            let attributes = try? FileManager.default.attributesOfItem(atPath: file.path())
            return sum + ((attributes?[.size] as? NSNumber)?.intValue ?? 0)
        }
    }

    func exportResources(
        to archiver: sending ResourcesArchiver,
        request: MigrationRequest
    ) async throws {
        let source = resourcesVersion == "2.0" ? entries : list
        try await archiver.appendItem(at: source)
    }

    func importResources(at url: URL, request: ResourcesImportRequest) async throws {
        switch request.sourceVersion {
        case "1.0": try importList(url.appending(path: "entries.txt"))
        case "2.0":
            try FileManager.default.moveItem(at: url.appending(path: "entries"), to: entries)
        case let version: throw Failure.unknownVersion(version)
        }
        resourcesImportProgress.completedUnitCount = 1
    }

    /// Makes a file for each line, in the current format.
    private func importList(_ file: URL) throws {
        try FileManager.default.createDirectory(at: entries, withIntermediateDirectories: true)
        let lines = try String(contentsOfFile: file.path(), encoding: .utf8).split(separator: "\n")
        for (number, line) in lines.enumerated() {
            let entry = entries.appending(path: "entry-\(number).txt")
            try Data(line.utf8).write(to: entry)
        }
    }

    private var entries: URL { appContainer.documentsDirectory.appending(path: "entries") }

    private var list: URL { appContainer.documentsDirectory.appending(path: "entries.txt") }
}
