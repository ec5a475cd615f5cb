@testable import MigrationArchive

extension StoredFrame {
    /// A whole frame around `content`, as a file holds it.
    static func bytes(storing content: [UInt8]) -> [UInt8] {
        let buffer = FrameBuffer()
        buffer.append(content.span)
        return StoredFrame(of: buffer).withPieces { pieces in
            pieces.reduce(into: []) { $0 += $1 }
        }
    }
}
