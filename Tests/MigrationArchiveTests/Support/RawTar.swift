@testable import MigrationArchive

/// Tar bytes made by hand, as other programs write them or as an attacker would.
struct RawTar {
    private(set) var bytes: [UInt8] = []

    /// How the header's magic looks.
    enum Magic {
        case v7, ustar, gnu

        fileprivate var bytes: [UInt8] {
            switch self {
            case .v7: [UInt8](repeating: 0, count: 8)
            case .ustar: [UInt8]("ustar\u{0}00".utf8)
            case .gnu: [UInt8]("ustar  \0".utf8)
            }
        }
    }

    /// Appends a header block and its content, padded to whole blocks.
    mutating func add(
        _ name: String,
        type: String = "0",
        content: [UInt8] = [],
        size: [UInt8]? = nil,
        mode: String = "0000644",
        time: [UInt8] = [UInt8]("14524770400".utf8),
        link: String = "",
        magic: Magic = .ustar,
        fields: [(at: Int, bytes: [UInt8])] = []
    ) {
        var block = [UInt8](repeating: 0, count: 512)
        func put(_ value: some Collection<UInt8>, at start: Int) {
            block.replaceSubrange(start..<start + value.count, with: value)
        }
        put(name.utf8, at: 0)
        put(mode.utf8, at: 100)
        let octal = String(content.count, radix: 8)
        put(
            size ?? [UInt8]((String(repeating: "0", count: 11 - octal.count) + octal).utf8),
            at: 124
        )
        put(time, at: 136)
        put(type.utf8, at: 156)
        put(link.utf8, at: 157)
        put(magic.bytes, at: 257)
        for field in fields { put(field.bytes, at: field.at) }
        block.fixChecksum()
        bytes += block + content
        bytes += [UInt8](repeating: 0, count: (512 - content.count % 512) % 512)
    }

    /// Appends an extended header of `records`, their lengths put before them.
    mutating func addRecords(_ records: [(String, String)], type: String = "x") {
        var pax = PaxRecords()
        for (key, value) in records { pax.append(key, [UInt8](value.utf8)) }
        var body: [UInt8] = []
        pax.encode(to: &body)
        add("PaxHeaders/x", type: type, content: body)
    }

    mutating func append(_ more: [UInt8]) { bytes += more }

    /// The bytes with `blocks` blocks of zeros behind them.
    func ended(_ blocks: Int = 2) -> [UInt8] {
        bytes + [UInt8](repeating: 0, count: blocks * 512)
    }

    /// What the foreign reader finds in the bytes, ended with two blocks of zeros.
    func items(endBlocks: Int = 2) throws -> [Item] { try Self.items(in: ended(endBlocks)) }

    /// What the foreign reader finds in `bytes`.
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

    /// A block's number in base 256 over 12 bytes.
    static func base256(_ value: Int64) -> [UInt8] {
        var bytes = (0..<12).map { index -> UInt8 in
            let shift = 8 * (11 - index)
            return shift >= 64 ? (value < 0 ? 0xFF : 0) : UInt8(truncatingIfNeeded: value >> shift)
        }
        bytes[0] |= 0x80
        return bytes
    }
}

extension EntryReader {
    /// The content of the current entry, zeros filled in.
    func content(of entry: ArchiveEntry) throws -> [UInt8] {
        try gather(entry.contentSize, readContent)
    }
}
