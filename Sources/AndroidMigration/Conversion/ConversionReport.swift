public import MigrationArchive

/// The result of a conversion, and everything that it could not convert.
public struct ConversionReport: Sendable {
    /// An item that is in the backup but not in the result, or missing from the backup itself.
    public struct Item: Hashable, Sendable, Codable {
        /// The printable path.
        public let path: String

        /// Why it is missing.
        public let reason: String
    }

    /// The first items of an unbounded list, and the total number.
    public struct List: Hashable, Sendable, Codable {
        /// The number of items that are kept.
        static let limit = 1_000

        /// The first items, at most 1,000.
        public private(set) var items: [Item] = []

        /// The number of all items.
        public private(set) var count = 0

        mutating func append(_ path: String, because reason: String) {
            count += 1
            if items.count < Self.limit { items.append(Item(path: path, reason: reason)) }
        }
    }

    /// The package that owns the data; empty if unknown.
    public let package: String

    /// The archive's header; `nil` for a stream.
    public let header: ArchiveHeader?

    /// The number of entries and bytes in the result.
    public let totals: ArchiveTotals

    /// The size of the result.
    public let bytes: UInt64

    /// The archive's fingerprint; `nil` for a stream.
    public let fingerprint: Fingerprint?

    /// The omissions.
    public let omitted: List

    /// The first paths, at most 1,000, that were recovered from a damaged backup; empty if nothing is
    /// lost.
    public let salvaged: [String]

    /// The items that are lost because the backup is damaged.
    public let lost: List

    /// The entries that were found inside another one that is too short, with that one.
    public let inside: List
}
