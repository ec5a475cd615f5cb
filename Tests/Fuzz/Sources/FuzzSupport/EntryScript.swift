@testable internal import MigrationArchive
@testable internal import MigrationSystem

/// A tar stream as a short text, so that one mutation changes the meaning of an entry.
///
/// One line an entry or a record, with `|` between the fields:
///
///     f|path|size|mode|mtime    d|path|mode|mtime    l|path|target    h|path|target
///     a|name|value              an attribute of the next entry
///     x|keyword|value           a pax record before the next entry
public struct EntryScript {
    private static let contentLimit: UInt64 = 16 * 1024

    /// The headers and contents of the entries, without what begins and ends a stream.
    public private(set) var stream: [UInt8] = []

    private var attributes: [ExtendedAttribute] = []
    private var records = PaxRecords()

    /// Reads a script; skips lines that mean nothing.
    public init(_ text: some Collection<UInt8>) {
        for line in text.split(separator: UInt8(ascii: "\n")).prefix(200) {
            let fields = line.split(separator: UInt8(ascii: "|"), omittingEmptySubsequences: false)
                .map { [UInt8]($0) }
            guard fields.count > 1, let kind = fields[0].first else { continue }
            take(kind, [[UInt8]](fields.dropFirst()))
        }
    }

    private mutating func take(_ kind: UInt8, _ fields: [[UInt8]]) {
        let path = EntryPath(bytes: fields[0])
        let second = fields.count > 1 ? fields[1] : []
        switch kind {
        case UInt8(ascii: "f"):
            let size = PaxKey.number(second) ?? 0
            append(.file(size: size), at: path, [[UInt8]](fields.dropFirst(2)))
            let count = Int(min(size, Self.contentLimit))
            stream += repeatElement(UInt8(ascii: "c"), count: count)
            stream += repeatElement(0, count: TarFormat.padded(count) - count)
        case UInt8(ascii: "d"): append(.directory, at: path, [[UInt8]](fields.dropFirst()))
        case UInt8(ascii: "l"): append(.symbolicLink(target: second), at: path, [])
        case UInt8(ascii: "h"): append(.hardLink(target: EntryPath(bytes: second)), at: path, [])
        case UInt8(ascii: "a"): attributes.append(ExtendedAttribute(name: fields[0], value: second))
        case UInt8(ascii: "x"): records.append(key: fields[0], value: second)
        default: break
        }
    }

    private mutating func append(_ kind: ArchiveEntry.Kind, at path: EntryPath, _ fields: [[UInt8]])
    {
        let mode = fields.first.flatMap { UInt16(String(decoding: $0, as: UTF8.self), radix: 8) }
        let time = fields.count > 1 ? PaxTime.decode(fields[1]) : nil
        let entry = ArchiveEntry(
            path: path,
            kind: kind,
            permissions: (mode ?? 0o644) & 0o7777,
            modificationTime: time ?? FileTime(seconds: 1),
            extendedAttributes: attributes
        )
        attributes = []
        let encoder = TarEntryEncoder()
        if !records.isEmpty {
            encoder.encodeExtended(records, typeFlag: TypeFlag.extendedHeader, to: &stream)
        }
        do {
            try encoder.encode(entry, to: &stream)
        } catch {
            // An entry without a header does not count.
        }
        records = PaxRecords()
    }
}
