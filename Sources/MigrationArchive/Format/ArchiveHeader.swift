public import Foundation
internal import MigrationSystem

/// The description at the beginning of an archive.
public struct ArchiveHeader: Hashable, Sendable, Codable {
    /// The bundle identifier of the app whose data this is; `nil` if it is not known.
    public let bundleIdentifier: String?

    /// The platform that the data comes from, such as `iOS` or `linux`.
    public let platform: String

    /// The version of the data's format, for the importing app.
    public let resourcesVersion: String

    /// The estimate of the content's bytes that was made before the export.
    public let sizeEstimate: UInt64

    /// Whether the exporter expects compression to be worthwhile.
    public let isCompressible: Bool

    /// The program that wrote the archive, with its version.
    public let creator: String

    /// The apps on another platform that may import the data, each as `TEAM.bundle`; `nil` if the
    /// exporting app names none.
    public let importers: [String]?

    /// What the person was doing in the app, as a property list in XML of at most 64 KiB; `nil` if
    /// it is not known.
    public let activity: Data?

    /// The extra metadata that the archive holds.
    public var extraMetadata: ExtraMetadata {
        ExtraMetadata((requires ?? []).compactMap(ExtraMetadata.init(name:)))
    }

    /// The names of the extra metadata; `nil` if there is none.
    private let requires: [String]?

    /// Makes a header.
    ///
    /// - Parameters:
    ///   - bundleIdentifier: The bundle identifier of the app whose data this is; `nil` if it is not known.
    ///   - platform: The platform that the data comes from.
    ///   - resourcesVersion: The version of the data's format.
    ///   - sizeEstimate: The estimate of the content's bytes.
    ///   - isCompressible: Whether compression is expected to be worthwhile.
    ///   - creator: The program that writes the archive, with its version.
    ///   - importers: The apps on another platform that may import the data, each as `TEAM.bundle`.
    ///   - activity: What the person was doing, as a property list in XML of at most 64 KiB.
    ///   - extraMetadata: The extra metadata that the archive holds.
    public init(
        bundleIdentifier: String?,
        platform: String,
        resourcesVersion: String,
        sizeEstimate: UInt64,
        isCompressible: Bool,
        creator: String,
        importers: [String]? = nil,
        activity: Data? = nil,
        extraMetadata: ExtraMetadata = []
    ) {
        self.bundleIdentifier = bundleIdentifier
        self.platform = platform
        self.resourcesVersion = resourcesVersion
        self.sizeEstimate = sizeEstimate
        self.isCompressible = isCompressible
        self.creator = creator
        self.importers = importers
        self.activity = activity
        requires = extraMetadata.isEmpty ? nil : extraMetadata.names
    }

    private enum CodingKeys: String, CodingKey {
        case bundleIdentifier
        case platform
        case resourcesVersion
        case sizeEstimate
        case isCompressible = "compressible"
        case creator
        case importers
        case activity
        case requires = "extraMetadata"
    }
}

// MARK: - Encoding

/// The pax global header of an archive: a record that describes the data, and one about its export.
///
/// Both are comments, which other programs ignore:
///
///     comment=migration/2 {"activity":…,"bundleIdentifier":…,"importers":…,"platform":…,"requires":…,"resourcesVersion":…}
///     comment=export {"compressible":…,"creator":…,"sizeEstimate":…}
///
/// The fingerprint covers the first one alone. Unknown keys and records are ignored, but a reader must
/// know everything that the key `requires` names.
enum GlobalHeader {
    private static let key = [UInt8]("comment".utf8)
    private static let markOfAnyVersion = [UInt8]("migration/".utf8)
    private static let mark = markOfAnyVersion + [UInt8]("\(ArchiveIndex.version) ".utf8)
    private static let exportMark = [UInt8]("export ".utf8)

    /// The bytes that the header's records may take: an activity of 64 KiB in Base64, and 36 KiB for
    /// everything else.
    static let limit = 124 * 1024

    /// The records that hold `header`, always in the same bytes.
    static func records(of header: ArchiveHeader) throws -> PaxRecords {
        var records = PaxRecords()
        records.append(key: key, value: mark + description(of: header).encoded)
        records.append(key: key, value: exportMark + export(of: header).encoded)
        let size = records.records.reduce(0) { $0 + $1.value.count + 64 }
        guard size <= limit else {
            throw ArchiveError(.unrepresentable, "the archive's description is longer than 124 KiB")
        }
        return records
    }

    /// A name for the data, the same for every way of exporting it.
    private static func description(of header: ArchiveHeader) -> CanonicalJSON {
        var members: [String: CanonicalJSON] = [
            "platform": .string(header.platform),
            "resourcesVersion": .string(header.resourcesVersion),
        ]
        members["activity"] = header.activity.map { .string($0.base64EncodedString()) }
        members["bundleIdentifier"] = header.bundleIdentifier.map { .string($0) }
        members["importers"] = header.importers.map { .array($0.map { .string($0) }) }
        let features = header.extraMetadata.names
        members["requires"] = features.isEmpty ? nil : .array(features.map { .string($0) })
        return .object(members)
    }

    /// What differs between exports of the same data.
    private static func export(of header: ArchiveHeader) -> CanonicalJSON {
        .object([
            "compressible": .boolean(header.isCompressible),
            "creator": .string(header.creator),
            "sizeEstimate": .number(header.sizeEstimate),
        ])
    }

    /// Reads the header in `records`; `nil` if the archive is not of this project.
    static func parse(_ records: PaxRecords) throws(ArchiveError) -> ArchiveHeader? {
        guard let first = records.records.first, first.key == key,
            first.value.starts(with: markOfAnyVersion)
        else { return nil }
        guard first.value.starts(with: mark) else { throw otherVersion(first.value) }
        guard records.records.count >= 2, records.records.allSatisfy({ $0.key == key }),
            let description = object(in: first, after: mark),
            let export = object(in: records.records[1], after: exportMark)
        else { throw unreadable }
        let extra = try extraMetadata(of: description)
        guard let platform = description["platform"]?.string,
            let resourcesVersion = description["resourcesVersion"]?.string,
            let sizeEstimate = export["sizeEstimate"]?.number,
            let isCompressible = export["compressible"]?.boolean,
            let creator = export["creator"]?.string
        else { throw unreadable }
        return ArchiveHeader(
            bundleIdentifier: try optional(description["bundleIdentifier"], \.string),
            platform: platform,
            resourcesVersion: resourcesVersion,
            sizeEstimate: sizeEstimate,
            isCompressible: isCompressible,
            creator: creator,
            importers: try optional(description["importers"], \.strings),
            activity: try optional(description["activity"], \.base64),
            extraMetadata: extra
        )
    }

    private static let unreadable = ArchiveError(
        .damaged,
        "the archive's header can't be read",
        offset: 0
    )

    private static func extraMetadata(
        of description: CanonicalJSON
    ) throws(ArchiveError) -> ExtraMetadata {
        guard let names = try optional(description["requires"], \.strings) else { return [] }
        var extra: ExtraMetadata = []
        for feature in names {
            guard let known = ExtraMetadata(name: feature) else {
                let name = PrintableText.escaping(feature)
                let message = "the archive was made by a newer version: it needs '\(name)'"
                throw ArchiveError(.unsupported, message)
            }
            extra.insert(known)
        }
        guard !names.isEmpty, extra.names == names else { throw unreadable }
        return extra
    }

    private static func object(
        in record: PaxRecords.Record,
        after mark: [UInt8]
    ) -> CanonicalJSON? {
        guard record.value.starts(with: mark) else { return nil }
        return CanonicalJSON(record.value.dropFirst(mark.count))
    }

    /// The kind of `value`; `nil` if there is none.
    private static func optional<Value>(
        _ value: CanonicalJSON?,
        _ kind: KeyPath<CanonicalJSON, Value?>
    ) throws(ArchiveError) -> Value? {
        guard let value else { return nil }
        guard let known = value[keyPath: kind] else { throw unreadable }
        return known
    }

    private static func otherVersion(_ value: [UInt8]) -> ArchiveError {
        let isOlder = value.starts(with: markOfAnyVersion + [UInt8]("1 ".utf8))
        let message =
            isOlder
            ? "the archive is of version 1 of the format, which is not read any more"
            : "the archive was made by a newer version"
        return ArchiveError(.unsupported, message)
    }
}

extension CanonicalJSON {
    /// The bytes that a string holds in canonical Base64.
    fileprivate var base64: Data? {
        guard let string, let data = Data(base64Encoded: string) else { return nil }
        return data.base64EncodedString() == string ? data : nil
    }
}

/// The first frame of an archive, which holds the global header alone, in raw blocks.
struct HeaderFrame: Equatable, Sendable {
    /// The frame as it is in the archive.
    let bytes: [UInt8]

    /// The header that the frame holds.
    let header: ArchiveHeader

    /// The bytes of the tar stream in it.
    let contentSize: Int

    /// The hash of the record that describes the data.
    let digest: [UInt8]

    /// Makes the frame of `header`, which is always the same for the same header.
    init(of header: ArchiveHeader) throws {
        self.init(of: header, in: try GlobalHeader.records(of: header))
    }

    /// Makes the frame that `records` must have; the result is `nil` if the archive is not of this project.
    init?(holding records: PaxRecords) throws(ArchiveError) {
        guard let header = try GlobalHeader.parse(records) else { return nil }
        self.init(of: header, in: records)
    }

    private init(of header: ArchiveHeader, in records: PaxRecords) {
        self.header = header
        var content: [UInt8] = []
        TarEntryEncoder().encodeExtended(records, typeFlag: TypeFlag.globalHeader, to: &content)
        let buffer = FrameBuffer()
        buffer.append(content.span)
        bytes = unsafe StoredFrame(of: buffer).withPieces { pieces in
            unsafe pieces.reduce(into: []) { unsafe $0 += $1 }
        }
        contentSize = content.count
        digest = SHA256Digest.hash(of: records.records[0].value)
    }
}
