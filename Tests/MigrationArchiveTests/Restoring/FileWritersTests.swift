import MigrationSystem
import TestSupport
import Testing

@testable import MigrationArchive

/// Files made by several threads, which must be those that one thread makes.
@Suite(.scratchDirectory)
struct FileWritersTests {
    /// Files in many directories, some larger than a chunk of the stream, with further names between.
    private static func varied(_ count: Int) -> [Item] {
        var items: [Item] = []
        for number in 0..<count {
            let directory = "d\(number / 3)"
            if number % 3 == 0 { items.append(Item(.directory(directory))) }
            items.append(Item("\(directory)/f\(number)", text(number * 7 % 5000)))
            if number % 50 == 0 {
                let link = "\(directory)/h\(number)"
                items.append(Item(.hardLink(link, to: "\(directory)/f\(number)")))
            }
            if number == 200 { items.append(Item("\(directory)/large", noise(5 << 20))) }
        }
        return items
    }

    private func extract(
        _ archive: TestArchive,
        threadCount: Int,
        cancellation: CancellationFlag = CancellationFlag(),
        onProgress: (UInt64) -> Void = { _ in }
    ) throws -> FileDescriptor {
        let path = try Scratch.newPath()
        let parent = try FileDescriptor.open(Scratch.path("."), .directory)
        let name = path.lastComponent[...]
        try parent.makeDirectory([UInt8](name), permissions: 0o700)
        let input = try ArchiveInput(
            reading: Scratch.file(holding: archive.bytes),
            on: MigrationOperation(threadCount: threadCount, cancellation: cancellation)
        )
        let reader = try ArchiveReader(input, access: .whole)
        let root = try FileDescriptor.open(path, .directory)
        let extractor = ArchiveExtractor(
            root: try root.duplicate(),
            options: ArchiveExtractor.Options()
        )
        try extractor.extract(from: reader, onProgress: onProgress)
        return root
    }

    @Test(arguments: [1, 2, 3, 8])
    func `makes the same files with any number of threads`(_ threadCount: Int) throws {
        let items = Self.varied(400)
        let root = try extract(TestArchive(items), threadCount: threadCount)
        let cursor = DirectoryCursor(root: OpenFile(try root.duplicate()))
        for item in items {
            let path = item.entry.path
            let directory = try cursor.directory(at: path.components.dropLast())
            let name = [UInt8](path.lastComponent)
            let status = try directory.descriptor.status(of: name)
            guard case .file = item.entry.kind else { continue }
            #expect(status.permissions == item.entry.permissions)
            #expect(status.modificationTime == item.entry.modificationTime)
            let content = try directory.descriptor.open(name, .reading)
                .readAll(limit: 8 << 20)
            #expect(content == item.content)
        }
    }

    @Test(arguments: [1, 2, 8])
    func `writes the parts of a file on any number of threads`(_ threadCount: Int) throws {
        let piece = FrameFormat.chunkSize
        var content = noise(3 * piece + 5000)
        for zeros in [piece - 9000..<piece + 9000, 2 * piece..<content.count] {
            content.replaceSubrange(zeros, with: repeatElement(0, count: zeros.count))
        }
        let item = Item("d/large", content)
        let archive = try TestArchive([Item("d/small", [1]), item, Item(.directory("d"))])
        let root = try extract(archive, threadCount: threadCount)
        let directory = try root.open([UInt8](utf8: "d"), .directory)
        let file = try directory.open([UInt8](utf8: "large"), .reading)
        #expect(try file.readAll(limit: 16 << 20) == content)
        let status = try file.status()
        #expect(status.permissions == item.entry.permissions)
        #expect(status.modificationTime == item.entry.modificationTime)
    }

    @Test(arguments: 0..<8)
    func `reports the first of several failures`(_ round: Int) throws {
        let taken = 50 + round * 10
        var items = (0..<200).map { Item("f\($0)", text(100)) }
        // From here on every path comes a second time, and the error must name the first of them.
        items += (taken..<200).map { Item("f\($0)", text(100)) }
        let archive = try TestArchive(items)
        let error = #expect(throws: ArchiveError.self) {
            _ = try extract(archive, threadCount: 4)
        }
        #expect(error?.code == .entryExists)
        #expect(error?.entry == EntryPath("f\(taken)"))
    }

    @Test func `refuses the second of two files even if another thread could make it`() throws {
        let piece = FrameFormat.chunkSize
        // Looking for zeros in it takes long. It fills the first piece, but for one small file.
        var large = [UInt8](repeating: 1, count: piece - 3 * TarFormat.blockSize)
        for page in stride(from: 0, to: large.count, by: 4096) { large[page] = 0 }
        let archive = try TestArchive([
            Item("large", large), Item("f", [1]), Item("f", [2]),
            Item("next", [UInt8](repeating: 1, count: piece)),
        ])
        let error = #expect(throws: ArchiveError.self) {
            _ = try extract(archive, threadCount: 3)
        }
        #expect(error?.code == .entryExists)
        #expect(error?.entry == EntryPath("f"))
        #expect(error?.offset ?? 0 > UInt64(piece))
    }

    @Test func `reports a file's failure rather than what comes after it`() throws {
        let files = (0..<100).map { Item("f\($0)", text(100)) }
        let archive = try TestArchive(files + [Item("f7", [1]), Item("missing/f", [1])])
        let error = #expect(throws: ArchiveError.self) {
            _ = try extract(archive, threadCount: 2)
        }
        #expect(error?.entry == EntryPath("f7"))
    }

    @Test(arguments: [false, true])
    func `says of a file with something below it that it is no directory`(
        _ inOneWindow: Bool
    ) throws {
        for _ in 0..<20 {
            let items = [Item("a", [1]), Item("a/b", [1])]
            let archive = try TestArchive(items, inOneWindow: inOneWindow)
            let error = #expect(throws: ArchiveError.self) {
                _ = try extract(archive, threadCount: 2)
            }
            #expect(error?.message == "a part of the path is a link or a file, not a directory")
        }
    }

    @Test func `ends when it is cancelled, with files still to be made`() throws {
        let archive = try TestArchive((0..<2000).map { Item("f\($0)", text(2000)) })
        let cancellation = CancellationFlag()
        var entries = 0
        #expect(throws: CancellationError.self) {
            _ = try extract(archive, threadCount: 2, cancellation: cancellation) { _ in
                entries += 1
                if entries == 1000 { cancellation.cancel() }
            }
        }
        #expect(entries < 1500)
    }
}
