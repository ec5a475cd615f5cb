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
        let base = SourceBase(opened, at: [], as: [])
        let batch = ItemBatch()
        for index in 0..<listing.count where !batch.isFull {
            let status = try listing.status(at: index, in: opened.descriptor)
            batch.append(Self.item(EntryPath(bytes: listing[index]), status, base), .further)
        }
        return batch
    }

    private static func item(
        _ path: EntryPath,
        _ status: FileStatus,
        _ base: SourceBase
    ) -> WindowItem {
        let entry = ArchiveEntry(
            path: path,
            kind: .file(size: status.size),
            permissions: status.permissions,
            modificationTime: status.modificationTime
        )
        return WindowItem(entry: entry, source: WindowItem.Source(base: base, status: status))
    }

    /// The result for each file: its content, or a word.
    private func outcomes(_ batch: ItemBatch) -> [String] {
        batch.elements.map { file in
            switch file.reading {
            case .none: "none"
            case .changed: "changed"
            case .opened: "opened \(file.item.entry.contentSize)"
            case .read(_, let range): String(decoding: batch.content(range), as: UTF8.self)
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
        batch.read(holding: [], CancellationFlag())
        #expect(outcomes(batch) == ["first", "", "opened \(ItemBatch.largestFile + 1)", "last"])
    }

    @Test func `leaves what is no file any more to who archives it`() throws {
        let directory = try BytePath.scratch
        for name: BytePath in ["a", "b", "c", "d"] { try (directory / name).write("file") }
        let batch = try batch(of: directory)
        for name: BytePath in ["a", "b", "c"] { try (directory / name).removeFile() }
        try (directory / "a").makeSymbolicLink(to: "d")
        try (directory / "b").makeFIFO()
        batch.read(holding: [], CancellationFlag())
        #expect(outcomes(batch) == ["none", "changed", "none", "file"])
    }

    @Test func `finds files in any directory, and through links that stay in the source`() throws {
        let directory = try BytePath.scratch
        try (directory / "a").makeDirectory()
        try (directory / "b").makeDirectory()
        try (directory / "link").makeSymbolicLink(to: "b")
        let places: [(source: BytePath, archived: String)] = [
            ("a/1", "a/1"), ("a/2", "a/2"), ("b/3", "b/3"), ("a/4", "a/4"), ("a/5", "x/5"),
            ("link/6", "x/6"), ("7", "8"),
        ]
        let root = OpenFile(try FileDescriptor.open(directory, .directory))
        let batch = ItemBatch()
        for (source, archived) in places {
            try (directory / source).write(archived)
            let base = SourceBase(root, at: source.bytes, as: [UInt8](archived.utf8))
            let file = OpenFile(try FileDescriptor.open(directory / source, .reading))
            let status = try file.descriptor.status()
            batch.append(Self.item(EntryPath(archived), status, base), .further)
        }
        batch.read(holding: [], CancellationFlag())
        #expect(outcomes(batch) == places.map(\.archived))
    }

    @Test func `opens files by paths of any length`() throws {
        let root = OpenFile(try FileDescriptor.open(BytePath.scratch, .directory))
        let name = [UInt8](repeating: 0x6E, count: 200)
        var directory = root
        var path: [UInt8] = []
        for _ in 0..<50 {
            try directory.descriptor.makeDirectory(name, permissions: 0o755)
            directory = OpenFile(try directory.descriptor.open(name, .directory))
            path += name + [UInt8(ascii: "/")]
        }
        let batch = ItemBatch()
        for file in ["first", "second"] {
            let bytes = [UInt8](file.utf8)
            let made = try directory.descriptor.open(bytes, .creating(permissions: 0o600))
            try made.writeAll(bytes.span, at: 0)
            let base = SourceBase(root, at: [], as: [])
            let entry = EntryPath(bytes: path + bytes)
            batch.append(Self.item(entry, try made.status(), base), .further)
        }
        batch.read(holding: [], CancellationFlag())
        #expect(outcomes(batch) == ["first", "second"])
    }

    @Test func `takes as much content as it has room for`() throws {
        let directory = try BytePath.scratch
        let count = ItemBatch.contentLimit / ItemBatch.largestFile
        for number in 0...count {
            let content = Data(repeating: 7, count: ItemBatch.largestFile)
            try (directory / "\(number + 100)").write(content)
        }
        let batch = try batch(of: directory)
        #expect(batch.isFull)
        batch.read(holding: [], CancellationFlag())
        let outcomes = outcomes(batch)
        #expect(outcomes.count == count)
        #expect(outcomes.allSatisfy { $0.utf8.count == ItemBatch.largestFile })
    }

    @Test func `refuses a file that is not what it was when it was listed`() throws {
        let directory = try BytePath.scratch
        for name: BytePath in ["a", "b", "c"] { try (directory / name).write("file") }
        let batch = try batch(of: directory)
        try (directory / "a").write("elif")
        try (directory / "b").write(Data(repeating: 7, count: ItemBatch.largestFile + 1))
        batch.read(holding: [], CancellationFlag())
        #expect(outcomes(batch) == ["changed", "changed", "file"])
    }

    @Test func `holds few items`() throws {
        let directory = try BytePath.scratch
        for number in 0...ItemBatch.itemLimit { try (directory / "\(number)").write("") }
        #expect(try batch(of: directory).elements.count == ItemBatch.itemLimit)
    }
}
