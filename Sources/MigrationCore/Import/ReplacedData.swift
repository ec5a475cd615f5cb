internal import Foundation
public import MigrationArchive
internal import MigrationSystem

/// The data in a container that an import replaces: the whole container, with temporary files and caches.
public struct ReplacedData: Sendable {
    /// One file or directory at the top of the container, with everything in it.
    public struct Part: Sendable {
        /// The name, printable.
        public var name: String { PrintableText.escaping(nameBytes) }

        /// How much it holds.
        public internal(set) var totals = ArchiveTotals()

        package let nameBytes: [UInt8]
    }

    /// The maximum number of listed parts.
    static let partLimit = 100

    /// How much the container holds.
    public internal(set) var totals = ArchiveTotals()

    /// The first parts, in the order of their names.
    public internal(set) var parts: [Part] = []

    /// The number of all parts.
    public internal(set) var partCount = 0

    /// Whether something in the container can't be read, so the real amount is larger.
    public internal(set) var isPartial = false
}

extension ReplacedData {
    /// Counts what the container whose root is locked holds.
    init(in root: OpenFile, on operation: MigrationOperation) throws {
        var data = ReplacedData()
        var last: [UInt8]?
        do {
            let everything = ContainerSelection(includesCaches: true, exclusions: [])
            try ContainerListing.list(
                root,
                selecting: everything,
                on: operation
            ) { _, entry, _ in
                let name = [UInt8](entry.path.bytes.prefix { $0 != UInt8(ascii: "/") })
                if name != last { data.begin(name) }
                last = name
                data.count(entry)
                return true
            }
        } catch let error as ArchiveError where error.code == .sourceUnreadable {
            // Items that this user can't read may still be replaced.
            data.isPartial = true
        }
        self = data
    }

    private mutating func begin(_ name: [UInt8]) {
        partCount += 1
        guard partCount <= Self.partLimit else { return }
        parts.append(Part(nameBytes: name))
    }

    private mutating func count(_ entry: ArchiveEntry) {
        totals.count(entry)
        guard partCount <= Self.partLimit else { return }
        parts[partCount - 1].totals.count(entry)
    }
}
