internal import Foundation

/// The pax global header that a migration archive begins with: `comment=migration/1 {json}`.
enum GlobalHeader {
    private static let key = [UInt8]("comment".utf8)
    private static let mark = [UInt8]("migration/1 ".utf8)
    private static let markOfAnyVersion = [UInt8]("migration/".utf8)

    /// The bytes that the header's records may take.
    static let limit = 64 * 1024

    /// The one record that says what `header` says, always in the same bytes.
    static func records(of header: ArchiveHeader) throws -> PaxRecords {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let json = [UInt8](try encoder.encode(header))
        guard json.count + 64 <= limit else {
            throw ArchiveError(.unrepresentable, "the archive's description is longer than 64 KiB")
        }
        var records = PaxRecords()
        records.append(key: key, value: mark + json)
        return records
    }

    /// Reads the header in `records`; `nil` where the archive is not of this project.
    static func parse(_ records: PaxRecords) throws(ArchiveError) -> ArchiveHeader? {
        guard let record = records.records.first, record.key == key,
            record.value.starts(with: markOfAnyVersion)
        else { return nil }
        guard record.value.starts(with: mark) else {
            throw ArchiveError(.unsupported, "the archive is of a version that is newer than this")
        }
        let json = Data(record.value.dropFirst(mark.count))
        guard records.records.count == 1,
            let header = try? JSONDecoder().decode(ArchiveHeader.self, from: json)
        else {
            throw ArchiveError(.damaged, "the archive's header can't be read", offset: 0)
        }
        return header
    }
}
