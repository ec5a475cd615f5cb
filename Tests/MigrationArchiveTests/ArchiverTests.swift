import Foundation
import MigrationArchive
import MigrationSystem
import TestSupport
import Testing

/// Archives as a client of the library writes and reads them, with no container.
@Suite(.scratchDirectory)
struct ArchiverTests {
    private static let header = ArchiveHeader(
        bundleIdentifier: "org.example.photos",
        platform: "linux",
        resourcesVersion: "1",
        sizeEstimate: 0,
        isCompressible: true,
        creator: "archiver"
    )

    private var directory: URL {
        get throws { try #require(ScratchDirectory.current) }
    }

    private var archive: URL {
        get throws { try directory.appending(path: "photos.tar.zst") }
    }

    private static func entry(
        _ path: String,
        _ kind: ArchiveEntry.Kind,
        nanoseconds: UInt32 = 5
    ) -> ArchiveEntry {
        ArchiveEntry(
            path: EntryPath(path),
            kind: kind,
            permissions: kind == .directory ? 0o755 : 0o644,
            modificationTime: FileTime(seconds: 1_700_000_000, nanoseconds: nanoseconds)
        )
    }

    private static let content = [UInt8]("a text that is archived from memory".utf8)

    /// Entries with their content, in tree order.
    private static let items: [(entry: ArchiveEntry, content: [UInt8])] = [
        (entry("d", .directory), []),
        (entry("d/empty", .file(size: 0)), []),
        (entry("d/text", .file(size: UInt64(content.count))), content),
        (entry("d link", .symbolicLink(target: [UInt8]("d/text".utf8))), []),
        (entry("hard", .hardLink(target: EntryPath("d/text")), nanoseconds: 0), []),
    ]

    @discardableResult
    private func write(
        _ options: ArchiveWriter.Options = .init()
    ) throws -> ArchiveWriter.Summary {
        let writer = try ArchiveWriter(creating: archive, header: Self.header, options: options)
        for (entry, content) in Self.items {
            if content.isEmpty {
                try writer.append(entry)
            } else {
                try writer.append(entry, content: content.span)
            }
        }
        return try writer.finish()
    }

    /// The entries and contents that `reader` has left.
    private func read(_ reader: ArchiveReader) throws -> [(entry: ArchiveEntry, content: [UInt8])] {
        var items: [(entry: ArchiveEntry, content: [UInt8])] = []
        while let entry = try reader.next() {
            var content = [UInt8](repeating: 0, count: Int(entry.contentSize))
            try reader.readContent { offset, piece in
                for index in piece.indices { content[Int(offset) + index] = piece[index] }
            }
            items.append((entry, content))
        }
        return items
    }

    /// Checks that `items` are complete, and that each directory comes after its contents.
    private func expectAll(_ items: [(entry: ArchiveEntry, content: [UInt8])]) {
        let expected = [1, 2, 0, 3, 4].map { Self.items[$0] }
        #expect(items.map(\.entry) == expected.map(\.entry))
        #expect(items.map(\.content) == expected.map(\.content))
    }

    @Test func `reads what it wrote, and knows it by its fingerprint`() throws {
        let summary = try write()
        let reader = try ArchiveReader(archive)
        #expect(reader.header == Self.header)
        expectAll(try read(reader))
        #expect(reader.fingerprint == summary.fingerprint)
        #expect(reader.totals == summary.totals)
        #expect(summary.totals.entries == 5)
        #expect(try reader.next() == nil)
    }

    @Test(arguments: [1, 2, 5])
    func `writes the same archive with any number of threads`(_ count: Int) throws {
        let expected = try write()
        var options = ArchiveWriter.Options()
        options.threadCount = count
        options.replacesExisting = true
        #expect(try write(options).fingerprint == expected.fingerprint)
    }

    @Test func `archives files, directories and links with what they carry`() throws {
        let folder = BytePath(try directory.path) / "folder"
        try folder.makeDirectory()
        let file = folder / "file"
        try file.write(Data(repeating: 7, count: 5_000_000))
        let hasAttributes = try file.setAttribute("user.note", [1, 2, 3])
        try file.setMode(0o640)
        try file.setModificationTime(1_600_000_000, 123_456_789)
        try (folder / "link").makeSymbolicLink(to: "file")
        let writer = try ArchiveWriter(creating: archive, header: Self.header)
        try writer.append(fileAt: folder.url, as: EntryPath("folder"))
        let entry = try writer.append(fileAt: file.url, as: EntryPath("folder/file"))
        try writer.append(fileAt: (folder / "link").url, as: EntryPath("folder/link"))
        _ = try writer.finish()
        let items = try read(try ArchiveReader(archive))
        let paths = items.map(\.entry.path.description)
        try #require(paths == ["folder/file", "folder/link", "folder"])
        #expect(items[0].entry == entry)
        let isWhole = items[0].content == [UInt8](repeating: 7, count: 5_000_000)
        #expect(isWhole)
        #expect(items[0].entry.permissions == 0o640)
        let time = FileTime(seconds: 1_600_000_000, nanoseconds: 123_456_789)
        #expect(items[0].entry.modificationTime == time)
        #expect(items[0].entry.extendedAttributes.count == (hasAttributes ? 1 : 0))
        #expect(items[1].entry.kind == .symbolicLink(target: [UInt8]("file".utf8)))
        #expect(items[2].entry.kind == .directory)
    }

    @Test func `refuses a FIFO, and a file that is not there`() throws {
        let fifo = BytePath(try directory.path) / "fifo"
        try fifo.makeFIFO()
        let writer = try ArchiveWriter(creating: archive, header: Self.header)
        let special = #expect(throws: ArchiveError.self) {
            try writer.append(fileAt: fifo.url, as: EntryPath("fifo"))
        }
        #expect(special?.code == .unrepresentable)
        let missing = #expect(throws: ArchiveError.self) {
            try writer.append(fileAt: directory.appending(path: "none"), as: EntryPath("none"))
        }
        #expect(missing?.code == .sourceUnreadable)
        // Nothing of either was written, so the archive can still be completed.
        try writer.append(Self.items[0].entry)
        #expect(try writer.finish().totals.entries == 1)
    }
}

// MARK: - Order

extension ArchiverTests {
    private func code(appending paths: [String]) throws -> ArchiveError.Code? {
        var options = ArchiveWriter.Options()
        options.replacesExisting = true
        let writer = try ArchiveWriter(creating: archive, header: Self.header, options: options)
        do {
            for path in paths {
                let isDirectory = path.hasSuffix("/")
                let name = isDirectory ? String(path.dropLast()) : path
                try writer.append(Self.entry(name, isDirectory ? .directory : .file(size: 0)))
            }
        } catch let error as ArchiveError {
            return error.code
        }
        _ = try writer.finish()
        return nil
    }

    @Test(
        arguments: [
            (["d/", "d/a", "d/e/", "d/e/f", "d/g", "d g"], nil),
            (["a", "b", "a"], .unrepresentable), (["d/", "d/a", "d/a"], .entryExists),
            (["d/a"], .unrepresentable), (["d/", "d g", "d/a"], .unrepresentable),
            (["a", "a/b"], .unrepresentable), (["/a"], .unrepresentable),
            (["d/", "d/../a"], .unrepresentable), ([""], .unrepresentable),
        ] as [([String], ArchiveError.Code?)]
    )
    func `takes entries in tree order only, each with its directory`(
        _ paths: [String],
        _ expected: ArchiveError.Code?
    ) throws {
        #expect(try code(appending: paths) == expected)
    }

    @Test func `goes on after an entry that it refused`() throws {
        let writer = try ArchiveWriter(creating: archive, header: Self.header)
        try writer.append(Self.entry("d", .directory))
        try writer.append(Self.entry("d/b", .file(size: 0)))
        for path in ["d/a", "e/f", "d/b"] {
            #expect(throws: ArchiveError.self) {
                try writer.append(Self.entry(path, .file(size: 0)))
            }
        }
        try writer.append(Self.entry("d/c", .file(size: 0)))
        #expect(try writer.finish().totals.files == 2)
    }

    @Test func `stops a program that appends to a finished archive`() async throws {
        let path = try archive.path
        await #expect(processExitsWith: .failure) { [path = path as String] in
            let writer = try ArchiveWriter(
                creating: URL(filePath: path),
                header: ArchiveHeader(
                    bundleIdentifier: "org.example.photos",
                    platform: "linux",
                    resourcesVersion: "1",
                    sizeEstimate: 0,
                    isCompressible: true,
                    creator: "archiver"
                )
            )
            _ = try writer.finish()
            _ = try writer.finish()
        }
    }
}

// MARK: - Failures

extension ArchiverTests {
    private var names: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: directory.path).sorted() }
    }

    @Test func `leaves nothing of an archive that is not finished`() throws {
        do {
            let writer = try ArchiveWriter(creating: archive, header: Self.header)
            try writer.append(Self.items[0].entry)
            #expect(try names == ["photos.tar.zst.partial"])
        }
        #expect(try names == [])
    }

    @Test func `keeps a file that it is not told to replace`() throws {
        try write()
        let before = try Data(contentsOf: archive)
        let error = #expect(throws: ArchiveError.self) { try write() }
        #expect(error?.code == .outputFailed)
        #expect(error?.description.contains("photos.tar.zst") == true)
        #expect(try Data(contentsOf: archive) == before)
    }

    @Test func `finds every truncation`() throws {
        try write()
        let bytes = try Data(contentsOf: archive)
        for count in stride(from: 0, to: bytes.count, by: 7) {
            try bytes.prefix(count).write(to: archive)
            #expect(throws: ArchiveError.self, "\(count) bytes") {
                _ = try read(try ArchiveReader(archive))
            }
        }
    }

    @Test func `writes to a descriptor and reads from one`() throws {
        let file = try FileHandle(forWritingTo: #require(Self.created(archive)))
        let writer = try ArchiveWriter(descriptor: file.fileDescriptor, header: Self.header)
        try writer.append(Self.items[0].entry)
        let summary = try writer.finish()
        let input = try FileHandle(forReadingFrom: archive)
        let reader = try ArchiveReader(descriptor: input.fileDescriptor)
        #expect(try read(reader).map(\.entry) == [Self.items[0].entry])
        #expect(reader.fingerprint == summary.fingerprint)
    }

    private static func created(_ url: URL) -> URL? {
        FileManager.default.createFile(atPath: url.path, contents: nil) ? url : nil
    }

    @Test func `reads another program's tar file only on request`() throws {
        var tar = RawTar()
        tar.add("d/", type: "5")
        tar.add("d/f", content: [1, 2, 3])
        try Data(tar.ended()).write(to: archive)
        let error = #expect(throws: ArchiveError.self) { try ArchiveReader(archive) }
        #expect(error?.code == .notAnArchive)
        var options = ArchiveReader.Options()
        options.allowsForeignArchives = true
        let reader = try ArchiveReader(archive, options: options)
        #expect(reader.header == nil)
        let items = try read(reader)
        #expect(items.map(\.entry.path.description) == ["d", "d/f"])
        #expect(items.last?.content == [1, 2, 3])
        #expect(reader.fingerprint == nil)
    }

    @Test func `encrypts, and opens with the passphrase alone`() throws {
        var passphrase = [UInt8]("correct horse".utf8)
        var options = ArchiveWriter.Options()
        options.encryption = try .passphrase(wiping: &passphrase)
        let summary = try write(options)
        let closed = #expect(throws: ArchiveError.self) { try ArchiveReader(archive) }
        #expect(closed?.code == .keyMissing)
        var decryption = ArchiveDecryption()
        passphrase = [UInt8]("correct horse".utf8)
        try decryption.usePassphrase(wiping: &passphrase)
        var reading = ArchiveReader.Options()
        reading.decryption = decryption
        let reader = try ArchiveReader(archive, options: reading)
        expectAll(try read(reader))
        #expect(reader.fingerprint == summary.fingerprint)
    }

    @Test func `ends when its task is cancelled, and leaves nothing`() async throws {
        let (archive, header) = (try archive, Self.header)
        let entry = Self.items[0].entry
        let task = Task {
            let writer = try ArchiveWriter(creating: archive, header: header)
            try writer.append(entry)
            withUnsafeCurrentTask { $0?.cancel() }
            #expect(throws: CancellationError.self) {
                try writer.append(Self.entry("e", .directory))
            }
            _ = try writer.finish()
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(try names == [])
    }

    @Test func `stops reading when its task is cancelled`() async throws {
        try write()
        let archive = try archive
        let task = Task {
            let reader = try ArchiveReader(archive)
            _ = try reader.next()
            withUnsafeCurrentTask { $0?.cancel() }
            #expect(throws: CancellationError.self) { try reader.next() }
            // Every later call throws the same error.
            try reader.readContent { _, _ in }
        }
        await #expect(throws: CancellationError.self) { try await task.value }
    }
}
