package import MigrationArchive

/// The result of a conversion of a container in a backup.
package struct ContainerReport: Sendable {
    /// The first paths with a remark, and the total number.
    package struct Remarks: Hashable, Sendable, Encodable {
        /// A printable path with a remark.
        package struct Item: Hashable, Sendable, Encodable {
            package let path: String
            package let reason: String
        }

        private static let limit = 1_000

        package private(set) var items: [Item] = []
        package private(set) var count = 0

        mutating func append(_ path: EntryPath, _ reason: String) {
            count += 1
            guard items.count < Self.limit else { return }
            items.append(Item(path: path.description, reason: reason))
        }

        mutating func append(_ remarks: Remarks) {
            count += remarks.count
            items += remarks.items.prefix(Self.limit - items.count)
        }
    }

    package let domain: Domain

    /// The version of the app in the backup's lists.
    package let version: String?

    /// The amounts that the archive holds, or would hold.
    package internal(set) var totals = ArchiveTotals()

    /// The archive; `nil` if none was written.
    package internal(set) var summary: ArchiveWriter.Summary?

    /// Files that are missing or damaged in the backup, so that they can't be archived.
    package internal(set) var lost = Remarks()

    /// Files that were left out although the backup holds them.
    package internal(set) var omitted = Remarks()

    /// Files whose content differs in size from the manifest: they changed while the backup was
    /// made.
    package internal(set) var resized = Remarks()

    /// Links into the app's own container on the phone, which were changed to lead to the same
    /// item.
    package internal(set) var relinked = Remarks()

    /// Remarks on the backup for a person.
    package internal(set) var warnings: [String]
}
