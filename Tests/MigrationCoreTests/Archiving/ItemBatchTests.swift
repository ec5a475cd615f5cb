import Foundation
import MigrationArchive
import MigrationSystem
import TestSupport
import Testing

@testable import MigrationCore

@Suite(.scratchDirectory)
struct ItemBatchTests {
    private func batch(of directory: BytePath) throws -> ItemBatch {
        let opened = OpenFile(try FileDescriptor.open(directory, .directory))
        let listing = try DirectoryListing(of: opened.descriptor)
        let batch = ItemBatch()
        for index in 0..<listing.count where !batch.isFull {
            let path = EntryPath(bytes: listing[index])
            batch.append(.file(SourceFile(path: path, directory: opened, name: path.bytes[...])))
        }
        return batch
    }

    /// What became of each file: its content, or a word.
    private func outcomes(_ batch: ItemBatch) -> [String] {
        batch.elements.map { file in
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
        try (directory / "c").write(Data(repeating: 7, count: ItemBatch.largestFile + 1))
        try (directory / "d").write("last")
        let batch = try batch(of: directory)
        batch.read(CancellationFlag())
        #expect(outcomes(batch) == ["first", "", "opened \(ItemBatch.largestFile + 1)", "last"])
    }

    @Test func `leaves what is no file any more to who archives it`() throws {
        let directory = try BytePath.scratch
        for name: BytePath in ["a", "b", "c", "d"] { try (directory / name).write("file") }
        let batch = try batch(of: directory)
        for name: BytePath in ["a", "b", "c"] { try (directory / name).removeFile() }
        try (directory / "a").makeSymbolicLink(to: "d")
        try (directory / "b").makeFIFO()
        batch.read(CancellationFlag())
        #expect(outcomes(batch) == ["none", "none", "none", "file"])
    }

    @Test func `takes as much content as it has room for`() throws {
        let directory = try BytePath.scratch
        let count = ItemBatch.contentLimit / ItemBatch.largestFile
        for number in 0...count {
            let content = Data(repeating: 7, count: ItemBatch.largestFile)
            try (directory / "\(number + 100)").write(content)
        }
        let batch = try batch(of: directory)
        batch.read(CancellationFlag())
        let outcomes = outcomes(batch)
        #expect(outcomes.dropLast().allSatisfy { $0.utf8.count == ItemBatch.largestFile })
        #expect(outcomes.last == "opened \(ItemBatch.largestFile)")
    }

    @Test func `holds few items and few directories`() throws {
        let directory = OpenFile(try FileDescriptor.open(BytePath.scratch, .directory))
        let path = EntryPath("file")
        let batch = ItemBatch()
        while !batch.isFull {
            batch.append(.file(SourceFile(path: path, directory: directory, name: path.bytes[...])))
        }
        #expect(batch.elements.count == ItemBatch.itemLimit)
        batch.clear()
        while !batch.isFull {
            let other = OpenFile(try directory.descriptor.duplicate())
            batch.append(.file(SourceFile(path: path, directory: other, name: path.bytes[...])))
        }
        #expect(batch.elements.count < ItemBatch.itemLimit)
    }
}
