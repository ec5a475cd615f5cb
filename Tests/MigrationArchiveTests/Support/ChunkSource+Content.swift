@testable import MigrationArchive

extension ChunkSource {
    /// Reads what is left of the stream, giving back each chunk before the next one is made.
    func content() throws -> [UInt8] {
        var content: [UInt8] = []
        while let chunk = try nextChunk() {
            content += chunk.bytes[..<chunk.count]
            recycle(chunk)
        }
        return content
    }
}
