import MigrationSystem
import TestSupport
import Testing

@testable import MigrationArchive

@Suite(.scratchDirectory)
struct FrameSourceTests {
    /// A pipe shows the number of its frames only at its end; empty ones cost almost nothing to
    /// send.
    @Test func `refuses more frames in a pipe than an archive can have`() throws {
        let frames = repeatElement(StoredFrame.bytes(storing: []), count: 4).flatMap(\.self)
        let input = try TestArchive(bytes: frames).input(.pipe)
        let source = try FrameSource(reading: input, after: .sample, frameLimit: 3)
        let buffer = FrameBuffer()
        for _ in 0..<3 { #expect(try source.nextFrame(into: buffer) == 0) }
        let error = #expect(throws: ArchiveError.self) { try source.nextFrame(into: buffer) }
        #expect(error?.code == .damaged)
    }

    @Test func `doesn't take a window that is too large for a size`() throws {
        let head: [UInt8] = [0x28, 0xB5, 0x2F, 0xFD, 0x84, 0xB0, 10, 0, 0, 0]
        let input = try TestArchive(bytes: head + [UInt8](repeating: 0, count: 20)).input(.pipe)
        let source = try FrameSource(reading: input, after: .sample, frameLimit: 3)
        let error = #expect(throws: ArchiveError.self) {
            try source.nextFrame(into: FrameBuffer())
        }
        #expect(error?.message == "a frame is not in the form that archives use")
    }
}
