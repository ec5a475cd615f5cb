public import AppMigrationKit
internal import Foundation

/// An extension that appends every file of `Documents` by itself, named by numbers from 0.
public struct AppendingExtension: ResourcesExporting {
    /// Makes the extension.
    public nonisolated init() {}

    /// The number of files times 100, the bytes of each.
    public var resourcesSizeEstimate: Int { count * 100 }

    /// The first version.
    public var resourcesVersion: String { "1.0" }

    /// Whether to compress, which it is.
    public var resourcesCompressible: Bool { true }

    /// Appends the files in the order of their numbers.
    public func exportResources(
        to archiver: sending ResourcesArchiver,
        request: MigrationRequest
    ) async throws {
        let documents = appContainer.documentsDirectory
        for number in 0..<count {
            let url = documents.appending(path: "\(number)", directoryHint: .notDirectory)
            try await archiver.appendItem(at: url)
        }
    }

    private var count: Int {
        let url = appContainer.containerRootDirectory.appending(path: "count")
        let text = try? String(contentsOf: url, encoding: .utf8)
        return text.flatMap { Int($0) } ?? 0
    }
}
