import Foundation
import MigrationArchive
import MigrationSystem
import TestSupport
import Testing

@testable import MigrationCore

@Suite(.scratchDirectory)
struct FileRunTests {
    /// A run of `count` files; the one at `index` has `index` bytes.
    private func run(of count: Int) throws -> FileRun {
        let directory = try BytePath.scratch
        for index in 0..<count {
            try (directory / "\(index + 10_000)").write(Data(count: index))
        }
        let opened = OpenFile(try FileDescriptor.open(directory, .directory))
        let listing = try DirectoryListing(of: opened.descriptor)
        return FileRun(
            directory: opened,
            status: try opened.descriptor.status(),
            path: [],
            listing: listing,
            range: 0..<listing.count
        )
    }

    private func operation(
        _ threadCount: Int,
        _ cancellation: CancellationFlag = CancellationFlag()
    ) -> MigrationOperation {
        MigrationOperation(threadCount: threadCount, cancellation: cancellation)
    }

    private func sizes(
        _ run: FileRun,
        known: [FileStatus]? = nil,
        on operation: MigrationOperation
    ) throws -> [(index: Int, size: UInt64)] {
        var sizes: [(index: Int, size: UInt64)] = []
        try run.forEachStatus(known: known, on: operation) { sizes.append(($0, $1.size)) }
        return sizes
    }

    private func statuses(_ run: FileRun) throws -> [FileStatus] {
        var statuses: [FileStatus] = []
        try run.forEachStatus(known: nil, on: operation(1)) { statuses.append($1) }
        return statuses
    }

    @Test(arguments: [1, 2, 4], [0, 1, 255, 256, 257, 1500])
    func `reads each file of a run in order`(_ threads: Int, _ count: Int) throws {
        let run = try run(of: count)
        let operation = operation(threads)
        for _ in 0..<2 {
            let sizes = try sizes(run, on: operation)
            #expect(sizes.map(\.index) == Array(0..<count))
            #expect(sizes.map(\.size) == (0..<UInt64(count)).map { $0 })
        }
    }

    @Test(arguments: [1, 4], [0, 127, 128, 700, 999])
    func `names the file whose status can't be read, after all before it`(
        _ threads: Int,
        _ missing: Int
    ) throws {
        let run = try run(of: 1000)
        let operation = operation(threads)
        let file = try BytePath.scratch / "\(missing + 10_000)"
        try file.removeFile()
        var count = 0
        let error = #expect(throws: ArchiveError.self) {
            try run.forEachStatus(known: nil, on: operation) { _, _ in count += 1 }
        }
        #expect(count == missing)
        #expect(error?.entry?.description == "\(missing + 10_000)")
        try file.write(Data(count: missing))
        #expect(try sizes(run, on: operation).count == 1000)
    }

    @Test func `stops where the caller does, and reads the next run from its start`() throws {
        struct Stop: Error {}
        let run = try run(of: 1000)
        let operation = operation(3)
        #expect(throws: Stop.self) {
            try run.forEachStatus(known: nil, on: operation) { index, _ in
                if index == 300 { throw Stop() }
            }
        }
        #expect(try sizes(run, on: operation).map(\.index) == Array(0..<1000))
    }

    @Test func `ends when the operation is cancelled`() throws {
        let cancellation = CancellationFlag()
        let run = try run(of: 1000)
        let operation = operation(3, cancellation)
        cancellation.cancel()
        #expect(throws: CancellationError.self) { try sizes(run, on: operation) }
    }

    @Test func `asks only once for files whose directory stays as it is`() throws {
        let run = try run(of: 10)
        let known = KnownStatuses()
        #expect(known.take(run) == nil)
        let seen = try statuses(run)
        known.note(seen, of: run)
        // That changes nothing in the directory itself.
        try (BytePath.scratch / "10003").write("longer than before")
        let taken = try #require(known.take(run))
        let sizes = try sizes(run, known: taken, on: operation(1))
        #expect(sizes.map(\.size) == (0..<10).map { UInt64($0) })
        #expect(known.take(run) == nil)
    }

    @Test func `asks again where a directory has changed, and where there is no room`() throws {
        let run = try run(of: 10)
        let seen = try statuses(run)
        let known = KnownStatuses()
        known.note(seen, of: run)
        try (BytePath.scratch / "10003").removeFile()
        let later = FileRun(
            directory: run.directory,
            status: try run.directory.descriptor.status(),
            path: run.path,
            listing: run.listing,
            range: run.range
        )
        #expect(known.take(later) == nil)
        known.note([FileStatus](repeating: seen[0], count: 1 << 17), of: run)
        #expect(known.take(run) == nil)
    }
}
