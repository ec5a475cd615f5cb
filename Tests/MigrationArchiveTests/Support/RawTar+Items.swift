import TestSupport

@testable import MigrationArchive

extension RawTar {
    /// The entries that the foreign reader finds in the bytes, ended with two blocks of zeros.
    func items(endBlocks: Int = 2) throws -> [Item] { try Self.items(in: ended(endBlocks)) }

    /// The entries that the foreign reader finds in `bytes`.
    static func items(in bytes: [UInt8]) throws -> [Item] {
        try items(from: MemorySource(bytes))
    }

    static func items(from source: some ChunkSource) throws -> [Item] {
        let reader = ForeignTarReader(reading: TarStream(source))
        var items: [Item] = []
        while let entry = try reader.next() {
            var item = Item(entry)
            item.content = try reader.content(of: entry)
            items.append(item)
        }
        return items
    }
}

extension EntryReader {
    /// The content of the current entry, zeros filled in.
    func content(of entry: ArchiveEntry) throws -> [UInt8] {
        try gather(entry.contentSize, readContent)
    }
}
