internal import MigrationSystem

/// Something that an export did not archive, or that an import did not restore.
public struct Omission: Hashable, Sendable {
    /// Why something was omitted.
    public enum Reason: String, Hashable, Sendable, Codable, CaseIterable {
        /// Caches, temporary files, the system's own data, or the container's own bookkeeping.
        case leftOutByDefault

        /// It matches a pattern that the person gave.
        case excluded

        /// It is a socket, a FIFO or a device, which an archive can't hold.
        case specialFile

        /// It is an extended attribute outside the `user.` namespace, or an access control list,
        /// which wasn't requested.
        case extendedAttribute

        /// It is the owners of all entries, which an import restores only on request.
        case owners

        /// It is a set-user-id, set-group-id or sticky bit, which an import does not restore.
        case specialPermissions

        /// It is a modification time that the destination's file system can't hold; it stores a
        /// different one.
        case modificationTime

        /// Root exported the container, and the container's owner can't read this file or
        /// directory.
        case unreadableToOwner

        /// It is a symbolic link that leads out of the container, and the person asked to skip
        /// those.
        case externalLink

        /// It is damaged or must not be restored, in an extraction that continues after such
        /// entries.
        case damaged

        /// It is an app group that the person left out; the path is the group's identifier.
        case applicationGroup
    }

    /// The path relative to the container, in a form that is safe to print.
    public var path: String { PrintableText.escaping(pathBytes) }

    /// The bytes of the path.
    package let pathBytes: [UInt8]

    /// Why it was omitted.
    public let reason: Reason

    /// The bytes of content that an export omitted, including everything below the path.
    ///
    /// It is 0 for an import.
    public let bytes: UInt64

    /// Details besides the path, such as the name of an attribute.
    public let detail: String?

    package init(path: [UInt8], reason: Reason, bytes: UInt64 = 0, detail: String? = nil) {
        pathBytes = path
        (self.reason, self.bytes, self.detail) = (reason, bytes, detail)
    }
}

extension Omission: Codable {
    private enum CodingKeys: String, CodingKey {
        case bytes, detail, path, pathBase64, reason
    }

    /// Encodes the omission, its path exactly: as `pathBase64` if it is not valid UTF-8.
    ///
    /// - Parameter encoder: The encoder.
    /// - Throws: The errors of the encoder.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(ExactName(pathBytes), forKey: .path, or: .pathBase64)
        try container.encode(reason, forKey: .reason)
        try container.encode(bytes, forKey: .bytes)
        try container.encodeIfPresent(detail, forKey: .detail)
    }

    /// Decodes what ``encode(to:)`` encodes.
    ///
    /// - Parameter decoder: The decoder.
    /// - Throws: The errors of the decoder.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        pathBytes = try container.decodeName(forKey: .path, or: .pathBase64).bytes
        reason = try container.decode(Reason.self, forKey: .reason)
        bytes = try container.decode(UInt64.self, forKey: .bytes)
        detail = try container.decodeIfPresent(String.self, forKey: .detail)
    }
}

/// Everything that was omitted: the first 1,000 omissions in full, and the number of all of them.
public struct OmissionList: Sendable, Codable {
    /// The first omissions, at most 1,000.
    public private(set) var items: [Omission] = []

    /// The number of all omissions.
    public private(set) var count = 0

    /// The bytes of content in all omissions.
    public private(set) var bytes: UInt64 = 0

    package init() {}

    package mutating func append(_ omission: Omission) {
        count += 1
        bytes.addSaturating(omission.bytes)
        if items.count < 1_000 { items.append(omission) }
    }

    /// Appends the omissions of `other`.
    package mutating func append(_ other: OmissionList) {
        count += other.count
        bytes.addSaturating(other.bytes)
        items += other.items.prefix(1_000 - items.count)
    }

    /// Counts omissions that were not kept in full.
    package mutating func countFurther(_ number: Int) {
        count += number
    }
}
