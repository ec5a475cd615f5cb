@testable import MigrationArchive

extension ChunkSource {
    /// Reads the rest of the stream, and returns each chunk before the next one is made.
    func content() throws -> [UInt8] {
        var content: [UInt8] = []
        while let chunk = try nextChunk() {
            content += chunk.bytes[..<chunk.count]
            recycle(chunk)
        }
        return content
    }
}
