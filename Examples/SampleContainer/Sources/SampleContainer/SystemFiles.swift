internal import Foundation

/// The system's files in a container: settings, which are exported, and files that are not.
struct SystemFiles {
    private static let identifier = "com.example.notes"

    private struct Metadata: Codable {
        var MCMMetadataIdentifier: String
        var MCMMetadataUUID: UUID
        var MCMMetadataContentClass = 2
        var MCMMetadataSchemaVersion = 1
    }

    private struct Settings: Codable {
        var sortOrder = "modified"
        var fontSize = 15
        var showsPreview = true
        var recentSearches = ["bread", "ferry", "旅行"]
    }

    private var generator: SeededGenerator

    init(seed: UInt64) {
        generator = SeededGenerator(seed: seed, part: "system")
    }

    consuming func write(to container: inout ContainerWriter) throws {
        let encoder = PropertyListEncoder()
        encoder.outputFormat = .xml
        let metadata = Metadata(
            MCMMetadataIdentifier: Self.identifier,
            MCMMetadataUUID: .random(using: &generator)
        )
        try container.addFile(
            ".com.apple.mobile_container_manager.metadata.plist",
            Array(encoder.encode(metadata))
        )
        try container.addFile(
            "Library/Preferences/\(Self.identifier).plist",
            Array(encoder.encode(Settings()))
        )
        try addDisposableFiles(to: &container)
    }

    private mutating func addDisposableFiles(to container: inout ContainerWriter) throws {
        for number in 1...20 {
            try container.addFile(
                "Library/Caches/\(Self.identifier)/thumbnails/\(number).jpg",
                generator.bytes(count: generator.number(in: 20_000...60_000))
            )
        }
        try container.addFile("Library/Caches/\(Self.identifier)/Cache.db", [])
        try container.addFile("tmp/import-7F3A.partial", generator.bytes(count: 30_000))
        try container.addFile("SystemData/com.apple.chrono/state", Array("1".utf8))
    }
}
