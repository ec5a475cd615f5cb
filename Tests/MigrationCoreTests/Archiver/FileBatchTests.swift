import Foundation
import MigrationSystem
import TestSupport
import Testing

@testable import MigrationCore

@Suite(.scratchDirectory)
struct FileBatchTests {
    private func run(over directory: BytePath) throws -> FileRun {
        let opened = OpenFile(try FileDescriptor.open(directory.bytes, .directory))
        let listing = try DirectoryListing(of: opened.descriptor)
        return FileRun(directory: opened, path: [], listing: listing, range: 0..<listing.count)
    }

    private func batch(
        of run: FileRun,
        leavingOut reason: (ByteString, Bool) -> Omission.Reason? = { _, _ in nil }
    ) -> FileBatch {
        let batch = FileBatch()
        var next = 0
        batch.fill(from: run, at: &next, leavingOut: reason)
        return batch
    }

    /// What became of each file: its content, or a word.
    private func outcomes(_ batch: FileBatch) -> [String] {
        batch.files.map { file in
            switch file.reading {
            case .none: "none"
            case .changed: "changed"
            case .opened(_, let status): "opened \(status.size)"
            case .read(_, _, let range): String(decoding: batch.content(range), as: UTF8.self)
            }
        }
    }

    @Test func `reads small files and opens large ones`() throws {
        let directory = try BytePath.scratch
        try (directory / "a").write("first")
        try (directory / "b").write("")
        try (directory / "c").write(Data(repeating: 7, count: FileBatch.largestFile + 1))
        try (directory / "d").write("last")
        let batch = batch(of: try run(over: directory))
        batch.read(CancellationFlag())
        #expect(outcomes(batch) == ["first", "", "opened \(FileBatch.largestFile + 1)", "last"])
    }

    @Test func `leaves what is no file any more to who archives it`() throws {
        let directory = try BytePath.scratch
        for name: BytePath in ["a", "b", "c", "d"] { try (directory / name).write("file") }
        let batch = batch(of: try run(over: directory))
        for name: BytePath in ["a", "b", "c"] { try (directory / name).removeFile() }
        try (directory / "a").makeSymbolicLink(to: "d")
        try (directory / "b").makeFIFO()
        batch.read(CancellationFlag())
        #expect(outcomes(batch) == ["none", "none", "none", "file"])
    }

    @Test func `opens nothing that is left out`() throws {
        let directory = try BytePath.scratch
        for name: BytePath in ["a", "b"] { try (directory / name).write("file") }
        let batch = batch(of: try run(over: directory)) { path, _ in
            path == [UInt8(ascii: "a")] ? .excluded : nil
        }
        batch.read(CancellationFlag())
        #expect(outcomes(batch) == ["none", "file"])
    }

    @Test func `takes as many files as it has room for`() throws {
        let directory = try BytePath.scratch
        let count = FileBatch.fileLimit + 3
        for number in 0..<count {
            let content = Data(repeating: 7, count: FileBatch.largestFile)
            try (directory / "\(number + 100)").write(content)
        }
        let batch = FileBatch()
        let run = try run(over: directory)
        var next = 0
        batch.fill(from: run, at: &next) { _, _ in nil }
        batch.read(CancellationFlag())
        #expect(outcomes(batch).allSatisfy { $0.utf8.count == FileBatch.largestFile })
        #expect(next == FileBatch.fileLimit)
        batch.fill(from: run, at: &next) { _, _ in nil }
        #expect(batch.files.count == 3)
    }
}
