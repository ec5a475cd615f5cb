package import MigrationSystem

/// The pieces of an archive file that hold only content of one entry.
package struct ContentPieces: Sendable {
    /// The numbers of the pieces in the archive.
    package let numbers: Range<Int>

    /// Where the content begins, counted from the first piece.
    private let start: UInt64
    private let size: UInt64
    private let index: ArchiveIndex

    /// Finds the pieces of content of `size` bytes that begins at `start`.
    init(from start: UInt64, size: UInt64, in index: ArchiveIndex) {
        let chunkSize = UInt64(FrameFormat.chunkSize)
        let size = min(size, ArchiveIndex.longestStream)
        let first = Int((start + chunkSize - 1) / chunkSize)
        // The very last piece also contains the end of the stream.
        let last = index.frames.count - 1
        let end = min(Int((start + TarFormat.padded(size)) / chunkSize), last)
        numbers = first..<max(first, end)
        (self.start, self.size, self.index) = (start, size, index)
    }

    package subscript(number: Int) -> ContentPiece {
        let chunkSize = UInt64(FrameFormat.chunkSize)
        let offset = UInt64(number) * chunkSize - start
        return ContentPiece(
            offset: offset,
            count: Int(min(chunkSize, size - offset)),
            digest: index.digest(of: number)
        )
    }
}

/// A piece of an archive file that holds only content of one entry.
package struct ContentPiece: Sendable {
    /// Where in the content the piece begins.
    package let offset: UInt64

    /// How much content is in it; padding follows if that is less than a piece.
    package let count: Int

    fileprivate let digest: ArraySlice<UInt8>

    private static let padding = [UInt8](repeating: 0, count: TarFormat.blockSize)

    /// Whether `file` has the same content at the same offset, by the hash of the piece; `buffer`
    /// holds a part of it at a time.
    package func holds(
        contentOf file: borrowing FileDescriptor,
        through buffer: inout [UInt8]
    ) throws(SystemError) -> Bool {
        var hasher = SHA256Hasher()
        var done = 0
        while done < count {
            let part = min(buffer.count, count - done)
            let read = try file.read(at: offset + UInt64(done), into: &buffer, count: part)
            guard read > 0 else { return false }
            hasher.update(buffer.span.extracting(..<read))
            done += read
        }
        hasher.update(Self.padding.span.extracting(..<(FrameFormat.chunkSize - count)))
        return hasher.finish()[...] == digest
    }
}
