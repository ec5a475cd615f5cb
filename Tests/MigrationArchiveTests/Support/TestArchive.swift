import Foundation
import MigrationSystem
import TestSupport
import Testing

@testable import MigrationArchive

/// An entry with its content.
struct Item: Equatable {
    let entry: ArchiveEntry
    var content: [UInt8] = []

    init(_ entry: ArchiveEntry) {
        self.entry = entry
    }

    /// A file that holds `content`.
    init(_ path: String, _ content: [UInt8]) {
        entry = .file(path, size: content.count)
        self.content = content
    }
}

/// A window of items.
private final class ItemWindow: EntryWindow {
    private let items: [Item]

    init(_ items: [Item]) { self.items = items }

    var count: Int { items.count }
    func entry(at index: Int) -> ArchiveEntry { items[index].entry }
    func isRead(at index: Int) -> Bool { !items[index].content.isEmpty }

    func read(
        _ part: ContentPart,
        ofEntryAt index: Int,
        into bytes: inout [UInt8]
    ) throws -> [[UInt8]] {
        let start = Int(part.offset)
        let content = items[index].content[start..<start + part.range.count]
        bytes.replaceSubrange(part.range, with: content)
        return []
    }

    func checkDirectory(at index: Int) {}
    func report(_ attributes: [[UInt8]], ofEntryAt index: Int) {}
    func readingAttributes(from index: Int) -> any EntryWindow { self }
}

/// The bytes of a migration archive.
struct TestArchive {
    /// How an archive reaches its reader.
    enum Route: CaseIterable {
        case wholeFile, selectiveFile, listedFile, comparedFile, pipe
    }

    let bytes: [UInt8]
    private(set) var summary: ArchiveWriter.Summary?

    /// Uses `bytes` as an archive, whatever they are.
    init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// Writes an archive of `items`, each in a window of its own unless they are to lie in one.
    init(
        _ items: [Item],
        inOneWindow: Bool = false,
        header: ArchiveHeader = .sample,
        threadCount: Int = 2,
        level: Int = 3
    ) throws {
        let path = try Scratch.newPath()
        let operation = MigrationOperation(threadCount: threadCount)
        let output = try ArchiveOutput(
            writing: FileDescriptor.open(path, .creating(permissions: 0o600)),
            on: operation
        )
        let writer = try ArchiveWriter(
            writingTo: output,
            header: header,
            level: level,
            on: operation
        )
        if inOneWindow { try writer.append(ItemWindow(items)) }
        for item in inOneWindow ? [] : items {
            if item.content.isEmpty {
                try writer.append(item.entry)
            } else {
                try writer.append(item.entry, contentFrom: Scratch.file(holding: item.content))
            }
        }
        summary = try writer.finish()
        let file = URL(filePath: path.text)
        bytes = [UInt8](try Data(contentsOf: file))
    }

    /// The archive, as it comes by `route`.
    func input(_ route: Route, threadCount: Int = 2) throws -> ArchiveInput {
        let descriptor =
            try route == .pipe ? Scratch.pipe(holding: bytes) : Scratch.file(holding: bytes)
        return try ArchiveInput(
            reading: descriptor,
            on: MigrationOperation(threadCount: threadCount)
        )
    }

    /// Opens the archive by `route`.
    func reader(_ route: Route, threadCount: Int = 2) throws -> ArchiveReader {
        let access: ArchiveReader.Access =
            switch route {
            case .selectiveFile: .selective
            case .listedFile: .listing
            case .comparedFile: .comparing
            case .wholeFile, .pipe: .whole
            }
        return try ArchiveReader(input(route, threadCount: threadCount), access: access)
    }

    /// Everything in the archive.
    func items(_ route: Route, threadCount: Int = 2) throws -> [Item] {
        try reader(route, threadCount: threadCount).items()
    }

    /// Checks the archive as `migrate verify` does.
    func verify(_ route: Route = .wholeFile) throws -> ArchiveInspection {
        let hashes = Result {
            try ArchiveVerifier.verify(input(route), scope: .hashes) { _ in }
        }
        let scope = ArchiveVerifier.Scope.everything(ArchiveExtractor.Options())
        let result = try ArchiveVerifier.verify(input(route), scope: scope) { _ in }
        // A sound archive has the right hashes.
        #expect(try hashes.get().fingerprint == result.fingerprint)
        return result
    }

    /// The positions of the archive's parts, from its end.
    var index: ArchiveIndex {
        get throws {
            let input = try input(.wholeFile)
            guard case .migration(let frame) = try ArchiveFormat.detect(in: input) else {
                throw ArchiveError(.notAnArchive, "not an archive")
            }
            return try #require(try input.readIndex(after: frame))
        }
    }

    /// The index of entries as it is in the archive.
    var entryIndex: [UInt8] {
        get throws {
            let index = try index
            let end = Int(index.compressedBytes)
            return [UInt8](bytes[end - Int(index.entryIndexSize)..<end])
        }
    }

    /// The archive with `entries` as its index of entries, and with matching hashes.
    func replacingEntryIndex(_ entries: [UInt8]) throws -> TestArchive {
        var index = try index
        let parts = try parts
        let frames = parts.header + parts.frames.flatMap(\.self)
        index.append(entryIndex: entries)
        return TestArchive(bytes: frames + entries + index.encoded)
    }

    /// The archive with `marks` behind the frame of `piece`, and with matching hashes.
    func replacingMarks(ofPiece piece: Int, with marks: [EntryMark]) throws -> TestArchive {
        try replacingMarks(ofPiece: piece, withFrame: marks.encoded) { $0.marks = marks }
    }

    /// The archive with `frame` if the marks of `piece` are, and with the hash of the piece that `change`
    /// makes of it.
    func replacingMarks(
        ofPiece piece: Int,
        withFrame frame: [UInt8],
        _ change: (FrameBuffer) -> Void = { _ in }
    ) throws -> TestArchive {
        let known = try index
        var changed = ArchiveIndex(after: try .sample)
        changed.totals = known.totals
        var (header, frames, _) = try parts
        for (number, listing) in known.frames.enumerated() {
            var digest = [UInt8](known.digest(of: number))
            if number == piece {
                let (sealed, content) = (FrameBuffer(), FrameBuffer())
                let bytes = frames[number]
                sealed.append(bytes.span)
                var decompressor = try FrameDecompressor()
                let size = Int(listing.size)
                _ = try decompressor.open(sealed, into: content, contentSize: size)
                change(content)
                digest = SHA256Digest.hash(ofPiece: content)
                frames[number] = frames[number].prefix(sealed.count) + frame + content.table
            }
            let size = UInt32(frames[number].count)
            changed.append(.init(compressedSize: size, size: listing.size), digest: digest)
            header += frames[number]
        }
        let entries = try entryIndex
        changed.append(entryIndex: entries)
        return TestArchive(bytes: header + entries + changed.encoded)
    }

    /// Where each frame of a piece lies in the archive.
    var framePlaces: [Range<Int>] {
        get throws {
            let index = try index
            let pieces = index.frames.reduce(0) { $0 + Int($1.compressedSize) }
            var start = Int(index.compressedBytes) - Int(index.entryIndexSize) - pieces
            return index.frames.map { frame in
                defer { start += Int(frame.compressedSize) }
                return start..<start + Int(frame.compressedSize)
            }
        }
    }

    /// The frame of the archive's header, those of its pieces, and the archive's end.
    var parts: (header: [UInt8], frames: [[UInt8]], end: [UInt8]) {
        get throws {
            let places = try framePlaces
            let (start, end) = (places[0].lowerBound, places[places.count - 1].upperBound)
            let frames = places.map { [UInt8](bytes[$0]) }
            return ([UInt8](bytes[..<start]), frames, [UInt8](bytes[end...]))
        }
    }
}

extension ArchiveReader {
    /// Everything that is still unread.
    func items() throws -> [Item] {
        var items: [Item] = []
        while let entry = try next() {
            var item = Item(entry)
            item.content = try content(of: entry)
            items.append(item)
        }
        return items
    }

    /// The content of the current entry, zeros filled in.
    func content(of entry: ArchiveEntry) throws -> [UInt8] {
        try gather(entry.contentSize, readContent)
    }
}

/// Joins the pieces that `read` passes on to `size` bytes, with zeros between them.
func gather(
    _ size: UInt64,
    _ read: ((UInt64, Span<UInt8>) throws -> Void) throws -> Void
) throws -> [UInt8] {
    var content: [UInt8] = []
    try read { offset, piece in
        try #require(Int(offset) >= content.count, "pieces overlap")
        content.append(contentsOf: repeatElement(0, count: Int(offset) - content.count))
        piece.withUnsafeBytes { content.append(contentsOf: $0) }
    }
    try #require(content.count <= Int(size), "more content than there is")
    content.append(contentsOf: repeatElement(0, count: Int(size) - content.count))
    return content
}
