import CZstd
@testable import MigrationArchive
import TestSupport
import Testing

struct StoredFrameTests {
    private static let blockSize = 128 * 1024

    @Test(arguments: [1, blockSize - 1, blockSize, blockSize + 1, FrameFormat.chunkSize])
    func `zstd finds the content in it`(_ size: Int) {
        let content = noise(size)
        let frame = StoredFrame.bytes(storing: content)
        var found = [UInt8](repeating: 0, count: size)
        #expect(ZSTD_decompress(&found, size, frame, frame.count) == size)
        #expect(found == content)
    }

    @Test func `zstd notices a changed byte of the content`() {
        var frame = StoredFrame.bytes(storing: noise(1000))
        frame[500] ^= 1
        var found = [UInt8](repeating: 0, count: 1000)
        #expect(ZSTD_isError(ZSTD_decompress(&found, 1000, frame, frame.count)) != 0)
    }

    @Test func `says the size of the whole frame`() {
        let buffer = FrameBuffer()
        buffer.append(noise(300_000).span)
        let bytes = StoredFrame.bytes(storing: noise(300_000))
        #expect(StoredFrame(of: buffer).size == bytes.count)
    }
}
