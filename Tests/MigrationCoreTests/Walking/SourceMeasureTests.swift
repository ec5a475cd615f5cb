import Foundation
import MigrationArchive
import MigrationSystem
import TestSupport
import Testing

@testable import MigrationCore

@Suite(.scratchDirectory)
struct SourceMeasureTests {
    /// Measures the scratch directory.
    private func measure(
        _ threadCount: Int,
        selecting selection: ContainerSelection? = nil,
        cancelledBy cancellation: CancellationFlag = CancellationFlag()
    ) throws -> SourceMeasure {
        try SourceMeasure.measure(
            OpenFile(try FileDescriptor.open(BytePath.scratch, .directory)),
            selecting: selection,
            on: MigrationOperation(threadCount: threadCount, cancellation: cancellation)
        )
    }

    /// Makes `count` directories of two files, of ten bytes and of one.
    private func makeDirectories(_ count: Int) throws {
        for index in 0..<count {
            let directory = try BytePath.scratch / "\(index + 10_000)"
            try directory.makeDirectory()
            try (directory / "ten").write(Data(count: 10))
            try (directory / "one").write(Data(count: 1))
        }
    }

    @Test(arguments: [(1, 100), (2, 100), (5, 100), (64, 1100)])
    func `counts all content, in more directories than may be open at a time`(
        _ threads: Int,
        _ count: Int
    ) throws {
        try makeDirectories(count)
        #expect(try measure(threads).contentBytes == UInt64(count) * 11)
    }

    @Test(arguments: [1, 2, 5])
    func `counts a file with several names once, in whichever directories they are`(
        _ threads: Int
    ) throws {
        try makeDirectories(100)
        let scratch = try #require(ScratchDirectory.current)
        let first = scratch.appending(path: "10000/ten")
        for index in 1..<100 {
            let name = scratch.appending(path: "\(index + 10_000)/link")
            try FileManager.default.linkItem(at: first, to: name)
        }
        #expect(try measure(threads).contentBytes == 100 * 11)
    }

    @Test(arguments: [1, 2])
    func `counts holes as content, but not as what the disk holds`(_ threads: Int) throws {
        try (BytePath.scratch / "holes").write(Data())
        let scratch = try #require(ScratchDirectory.current)
        let handle = try FileHandle(forWritingTo: scratch.appending(path: "holes"))
        try handle.truncate(atOffset: 1 << 30)
        try handle.close()
        let measure = try measure(threads)
        #expect(measure.contentBytes == 1 << 30)
        #expect(measure.allocatedBytes < 1 << 20)
    }

    @Test(arguments: [1, 2])
    func `leaves out what isn't exported`(_ threads: Int) throws {
        try makeDirectories(40)
        let selection = ContainerSelection(
            includesCaches: false,
            exclusions: try [PathPattern("ten"), PathPattern("10001")]
        )
        #expect(try measure(threads, selecting: selection).contentBytes == 39)
    }

    @Test func `ends when the operation is cancelled`() throws {
        try makeDirectories(3)
        let cancellation = CancellationFlag()
        cancellation.cancel()
        #expect(throws: CancellationError.self) { try measure(2, cancelledBy: cancellation) }
    }
}
