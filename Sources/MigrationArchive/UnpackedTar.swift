/// The content of a compressed tar file of another program, for readers in other modules.
package struct UnpackedTar {
    private let source: any ChunkSource

    /// Opens `input`; `nil` if it isn't compressed with gzip or zstd, or is a migration archive.
    package init?(_ input: ArchiveInput) throws {
        switch try ArchiveFormat.detect(in: input) {
        case .compressedTar: source = try ZstdStreamSource(reading: input)
        case .gzippedTar: source = try GzipStreamSource(reading: input)
        case .migration, .plainTar: return nil
        }
    }

    /// Passes the content to `body`, piece by piece; returns the damage that ended the reading, if
    /// any.
    package func forEachPiece(_ body: (ArraySlice<UInt8>) throws -> Void) throws -> ArchiveError? {
        while true {
            let chunk: FrameBuffer
            do {
                guard let next = try source.nextChunk() else { return nil }
                chunk = next
            } catch let error as ArchiveError where error.isOfArchive {
                return error
            }
            try body(chunk.bytes[..<chunk.count])
            source.recycle(chunk)
        }
    }
}
