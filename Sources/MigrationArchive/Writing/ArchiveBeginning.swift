package import MigrationSystem

/// The beginning of a truncated archive, up to where it is proved intact.
///
/// An export that resumes from it hashes all pieces again, and compresses and writes only those
/// that differ or are missing. A piece counts only if all its frames are present, and its content
/// matches zstd's own checksum.
package struct ArchiveBeginning: Sendable {
    /// One proved piece.
    struct Piece: Equatable, Sendable {
        /// The piece's frame and the frames that follow it.
        let listing: ArchiveIndex.Frame
        let digest: [UInt8]
        /// The hash of the marks and the table of large files after the frame.
        let extraFramesDigest: [UInt8]
    }

    /// The size of the archive's first frame; 0 if not even that is complete.
    package let headerSize: Int

    /// The pieces that follow it without a gap.
    private(set) var pieces: [Piece] = []

    /// The size of the proved part of the file.
    package var provedBytes: UInt64 {
        pieces.reduce(UInt64(headerSize)) { $0 + UInt64($1.listing.compressedSize) }
    }

    /// Whether the header or a piece ends at `offset` of the file.
    package func hasBoundary(at offset: UInt64) -> Bool {
        var end = UInt64(headerSize)
        for piece in pieces where end < offset { end += UInt64(piece.listing.compressedSize) }
        return end == offset
    }

    /// Whether the file in `descriptor` is an archive of this project without its end.
    package static func isCut(
        _ descriptor: consuming FileDescriptor,
        _ operation: MigrationOperation
    ) -> Bool {
        do {
            let input = try ArchiveInput(reading: descriptor, on: operation)
            guard case .migration(let frame) = try ArchiveFormat.detect(in: input) else {
                return false
            }
            _ = try input.readIndex(after: frame)
            return false
        } catch {
            return (error as? ArchiveError)?.code == .truncated
        }
    }

    /// The pieces that an archive with the header `frame` may keep: all of them if the file's first
    /// frame has the same size, whatever it holds.
    func pieces(behind frame: HeaderFrame) -> [Piece] {
        headerSize == frame.bytes.count ? pieces : []
    }

    /// Reads the file in `descriptor` from its start, for as long as it is the beginning of an
    /// archive.
    ///
    /// - Throws: ``ArchiveError`` of code `keyMissing` if it is encrypted, of code `notAnArchive`
    ///   if it is something else, of code `unsupported` if another version wrote it, and of code
    ///   `inputFailed`; `CancellationError`.
    package init(
        proving descriptor: consuming FileDescriptor,
        on operation: MigrationOperation
    ) throws {
        let input = try ArchiveInput(reading: descriptor, on: operation)
        _ = try input.lookAhead(Self.start.count)
        guard Self.begins(input.ahead) else {
            throw ArchiveError(.notAnArchive, "not the beginning of a migration archive")
        }
        let header: HeaderFrame
        do {
            guard try input.lookAhead(4) >= 4,
                case .migration(let frame) = try ArchiveFormat.detect(in: input)
            else {
                headerSize = 0
                return
            }
            try input.pass(frame)
            header = frame
            headerSize = frame.bytes.count
        } catch let error as ArchiveError where error.isDamage {
            headerSize = 0
            return
        }
        do {
            try provePieces(of: FrameSource(reading: input, after: header), on: operation)
        } catch let error as ArchiveError where error.isOfArchive {
            // Only the pieces proved before the cut count.
        }
    }

    private mutating func provePieces(
        of source: FrameSource,
        on operation: MigrationOperation
    ) throws {
        let (sealed, content) = (FrameBuffer(), FrameBuffer())
        var decompressor = try FrameDecompressor()
        while let size = try source.nextFrame(into: sealed) {
            try operation.check()
            let compressedSize = UInt32(sealed.count)
            let end = try FrameWalk.end(of: sealed, contentSize: size)
            let extraFrames = [UInt8](sealed.bytes[end..<sealed.count])
            let digest = try decompressor.open(sealed, into: content, contentSize: size)
            let piece = Piece(
                listing: ArchiveIndex.Frame(compressedSize: compressedSize, size: UInt32(size)),
                digest: digest,
                extraFramesDigest: SHA256Digest.hash(of: extraFrames)
            )
            pieces.append(piece)
        }
    }

    /// The start of every header's frame (RFC 8878) up to the name of a pax global header.
    ///
    /// Zeros stand for the size of the frame and of its first block.
    private static let start: [UInt8] =
        [0x28, 0xB5, 0x2F, 0xFD, 0xA4, 0, 0, 0, 0, 0, 0, 0] + "pax_global_header".utf8

    /// Whether `bytes` match the start of a header's frame, as far as they go.
    private static func begins(_ bytes: ArraySlice<UInt8>) -> Bool {
        zip(bytes, start).allSatisfy { $0 == $1 || $1 == 0 }
    }
}

// MARK: - For another host

extension ArchiveBeginning {
    private static let encodedPieceSize = 4 + 4 + 2 * SHA256Digest.size

    /// The sizes and hashes, for the other end of a transfer, which has the container.
    ///
    /// The size of the header's frame and the number of pieces come first. For each piece follow
    /// the total size of its frame and those after it, the size of its content, the hash of its
    /// content, and the hash of the frames after it. Numbers are little-endian, of 4 bytes each.
    package var encoded: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(8 + pieces.count * Self.encodedPieceSize)
        bytes.appendLittleEndian(UInt32(headerSize))
        bytes.appendLittleEndian(UInt32(pieces.count))
        for piece in pieces {
            bytes.appendLittleEndian(piece.listing.compressedSize)
            bytes.appendLittleEndian(piece.listing.size)
            bytes += piece.digest + piece.extraFramesDigest
        }
        return bytes
    }

    /// Reads what ``encoded`` gives.
    ///
    /// - Parameter read: Returns the next bytes, exactly as many as requested.
    /// - Throws: ``ArchiveError`` of code `damaged` if no archive can begin like that, and the errors of `read`.
    package init(reading read: (Int) throws -> [UInt8]) throws {
        let head = try read(8)
        headerSize = Int(head.littleEndian(at: 0, as: UInt32.self))
        let count = Int(head.littleEndian(at: 4, as: UInt32.self))
        guard count <= ArchiveIndex.frameLimit else {
            throw ArchiveError(.damaged, "a beginning has more pieces than an archive can have")
        }
        for _ in 0..<count {
            let bytes = try read(Self.encodedPieceSize)
            let piece = Piece(
                listing: ArchiveIndex.Frame(
                    compressedSize: bytes.littleEndian(at: 0),
                    size: bytes.littleEndian(at: 4)
                ),
                digest: [UInt8](bytes[8..<8 + SHA256Digest.size]),
                extraFramesDigest: [UInt8](bytes[(8 + SHA256Digest.size)...])
            )
            pieces.append(piece)
        }
    }
}
