import Foundation
import MigrationSystem
import TestSupport
import Testing

@testable import MigrationArchive
@testable import MigrationCore

@Suite(.scratchDirectory)
struct ItemWindowTests {
    private func window(of items: [WindowItem]) -> ItemWindow {
        ItemWindow(items, AttributeReader(holding: [], isStrict: false))
    }

    /// A window of the files in `directory`.
    private func window(of directory: BytePath) throws -> ItemWindow {
        let opened = OpenFile(try FileDescriptor.open(directory, .directory))
        let listing = try DirectoryListing(of: opened.descriptor)
        let base = SourceBase(opened, at: [], as: [])
        let items = try (0..<listing.count).map { index in
            let status = try listing.status(at: index, in: opened.descriptor)
            return Self.item(EntryPath(bytes: listing[index]), status, base)
        }
        return window(of: items)
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

    /// What comes of reading each file: its content, or an error.
    private func outcomes(_ window: some EntryWindow) -> [String] {
        (0..<window.count).map { index in
            let count = Int(window.entry(at: index).contentSize)
            var bytes = [UInt8](repeating: UInt8(ascii: "-"), count: count + 2)
            do {
                let part = ContentPart(offset: 0, range: 1..<count + 1, isFirst: true)
                _ = try window.read(part, ofEntryAt: index, into: &bytes)
            } catch let error as ArchiveError {
                return "\(error.code)"
            } catch {
                return "\(type(of: error))"
            }
            return String(decoding: bytes, as: UTF8.self)
        }
    }

    @Test func `reads a part of a file to its place`() throws {
        let directory = try BytePath.scratch
        try (directory / "a").write("0123456789")
        let window = try window(of: directory)
        var bytes = [UInt8](utf8: "------")
        let part = ContentPart(offset: 3, range: 1..<5, isFirst: false)
        #expect(try window.read(part, ofEntryAt: 0, into: &bytes).isEmpty)
        #expect(String(decoding: bytes, as: UTF8.self) == "-3456-")
    }

    @Test func `finds files in any directory, and through links that stay in the source`() throws {
        let directory = try BytePath.scratch
        try (directory / "a").makeDirectory()
        try (directory / "b").makeDirectory()
        try (directory / "link").makeSymbolicLink(to: "b")
        let places: [(source: BytePath, archived: String)] = [
            ("a/1", "a/1"), ("b/3", "b/3"), ("a/5", "x/5"), ("link/6", "x/6"), ("7", "8"),
        ]
        let root = OpenFile(try FileDescriptor.open(directory, .directory))
        let items = try places.map { source, archived in
            try (directory / source).write(archived)
            let base = SourceBase(root, at: source.bytes, as: [UInt8](archived.utf8))
            let file = OpenFile(try FileDescriptor.open(directory / source, .reading))
            return Self.item(EntryPath(archived), try file.descriptor.status(), base)
        }
        #expect(outcomes(window(of: items)) == places.map { "-\($0.archived)-" })
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
        let made = try directory.descriptor.open([0x66], .creating(permissions: 0o600))
        try made.writeAll([UInt8](utf8: "deep").span, at: 0)
        let base = SourceBase(root, at: [], as: [])
        let item = Self.item(EntryPath(bytes: path + [0x66]), try made.status(), base)
        #expect(outcomes(window(of: [item])) == ["-deep-"])
    }

    @Test func `refuses what is not what it was when it was listed`() throws {
        let directory = try BytePath.scratch
        for name: BytePath in ["a", "b", "c", "d", "e", "f"] {
            try (directory / name).write("file")
        }
        let window = try window(of: directory)
        try (directory / "a").write("elif")
        try (directory / "b").write("longer")
        try (directory / "c").write("")
        for name: BytePath in ["d", "e"] { try (directory / name).removeFile() }
        try (directory / "d").makeFIFO()
        let expected =
            [String](repeating: "sourceChanged", count: 5) + ["-file-"]
        #expect(outcomes(window) == expected)
    }

    @Test func `knows the attributes of the files that it was told to ask`() throws {
        let directory = try BytePath.scratch
        for name: BytePath in ["a", "b", "c"] {
            try (directory / name).write("file")
            guard try (directory / name).setAttribute("user.x", [1, 2]) else { return }
        }
        let window = try window(of: directory)
        #expect(outcomes(window) == [String](repeating: "UnexpectedAttributes", count: 3))
        let asked = try window.readingAttributes(from: 1)
        #expect((0..<3).map { asked.entry(at: $0).extendedAttributes.count } == [0, 1, 1])
        #expect(outcomes(asked) == ["-file-", "-file-", "-file-"])
    }
}
