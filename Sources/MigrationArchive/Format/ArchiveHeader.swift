internal import Foundation

/// The description of an archive, which it begins with.
public struct ArchiveHeader: Hashable, Sendable, Codable {
    /// The bundle identifier of the app whose data this is.
    public let bundleIdentifier: String

    /// The platform that the data comes from, such as `iOS` or `linux`.
    public let platform: String

    /// The version of the data's format, by which an importing app tells formats apart.
    public let resourcesVersion: String

    /// The estimate of the content's bytes that was made before the export.
    public let sizeEstimate: UInt64

    /// Whether the exporter expects compression to be worthwhile.
    public let isCompressible: Bool

    /// The program that wrote the archive, with its version.
    public let creator: String

    /// The apps on another platform that may import the data, each as `TEAM.bundle`; `nil` where the
    /// exporting app names none.
    public let importers: [String]?

    /// Makes a header.
    ///
    /// - Parameters:
    ///   - bundleIdentifier: The bundle identifier of the app whose data this is.
    ///   - platform: The platform that the data comes from.
    ///   - resourcesVersion: The version of the data's format.
    ///   - sizeEstimate: The estimate of the content's bytes.
    ///   - isCompressible: Whether compression is expected to be worthwhile.
    ///   - creator: The program that writes the archive, with its version.
    ///   - importers: The apps on another platform that may import the data, each as `TEAM.bundle`.
    public init(
        bundleIdentifier: String,
        platform: String,
        resourcesVersion: String,
        sizeEstimate: UInt64,
        isCompressible: Bool,
        creator: String,
        importers: [String]? = nil
    ) {
        self.bundleIdentifier = bundleIdentifier
        self.platform = platform
        self.resourcesVersion = resourcesVersion
        self.sizeEstimate = sizeEstimate
        self.isCompressible = isCompressible
        self.creator = creator
        self.importers = importers
    }

    private enum CodingKeys: String, CodingKey {
        case bundleIdentifier
        case platform
        case resourcesVersion
        case sizeEstimate
        case isCompressible = "compressible"
        case creator
        case importers
    }
}

// MARK: - Encoding

/// The pax global header that a migration archive begins with: `comment=migration/1 {json}`.
enum GlobalHeader {
    private static let key = [UInt8]("comment".utf8)
    private static let mark = [UInt8]("migration/1 ".utf8)
    private static let markOfAnyVersion = [UInt8]("migration/".utf8)

    /// The bytes that the header's records may take.
    static let limit = 64 * 1024

    /// The one record that holds `header`, always in the same bytes.
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
            throw ArchiveError(.unsupported, "the archive was made by a newer version")
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
