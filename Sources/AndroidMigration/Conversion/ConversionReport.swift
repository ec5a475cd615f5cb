public import MigrationArchive

/// What a conversion made, and what it could not take along.
public struct ConversionReport: Sendable {
    /// Something that the backup holds and the result does not, or that the backup itself lacks.
    public struct Item: Hashable, Sendable, Codable {
        /// The path, as it may be printed.
        public let path: String

        /// Why it is not there.
        public let reason: String
    }

    /// The first items of a list that has no end, and their number.
    public struct List: Hashable, Sendable, Codable {
        /// How many items are kept.
        static let limit = 1_000

        /// The first items, at most 1,000.
        public private(set) var items: [Item] = []

        /// How many there are in all.
        public private(set) var count = 0

        mutating func append(_ path: String, _ reason: String) {
            count += 1
            if items.count < Self.limit { items.append(Item(path: path, reason: reason)) }
        }
    }

    /// The package whose data it is; empty where nothing says it.
    public let package: String

    /// What the archive says of itself; `nil` for a stream.
    public let header: ArchiveHeader?

    /// How much the result holds.
    public let totals: ArchiveTotals

    /// The size of the result.
    public let bytes: UInt64

    /// The hash that stands for the archive; `nil` for a stream.
    public let fingerprint: Fingerprint?

    /// What was left out.
    public let omitted: List

    /// The first paths that were taken along of a damaged backup, at most 1,000; empty where nothing is
    /// lost.
    public let salvaged: [String]

    /// What the backup should hold and does not, because it is damaged.
    public let lost: List
}
