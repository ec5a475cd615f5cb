public import MigrationArchive
internal import MigrationSystem

/// A difference between an archive and a container.
public struct ArchiveDifference: Hashable, Sendable {
    /// The kinds of differences.
    public enum Kind: String, Hashable, Sendable, Codable, CaseIterable {
        /// Only the archive holds the entry.
        case onlyInArchive

        /// Only the container holds the entry.
        case onlyInContainer

        /// Only the first of two archives, or of two directories, holds the entry.
        case onlyInFirst

        /// Only the second of two archives, or of two directories, holds the entry.
        case onlyInSecond

        /// The kinds of the two entries, such as a file and a directory.
        case kind

        /// The bytes of a file.
        case content

        /// The permission bits.
        case permissions

        /// The user and the group, if the archive holds owners.
        case owner

        /// The time of the last change, to the nanosecond.
        case modificationTime

        /// The target of a symbolic link.
        case linkTarget

        /// The names of the same file.
        case hardLink

        /// The extended attributes of the `user.` namespace, and other attributes and access
        /// control lists if the archive holds them.
        case extendedAttributes
    }

    /// The entry that differs.
    public let path: EntryPath

    /// The kind of the difference.
    public let kind: Kind

    /// The values of both sides, printable; empty if the kind is enough.
    public let detail: String
}

// MARK: - Collecting

/// The differences between two sides, of the chosen entries.
final class Differences {
    /// Whether an archive is compared with a container, or two archives or two containers.
    enum Sides {
        case archiveAndContainer, alike

        /// The names of the sides in details.
        var names: (first: String, second: String) {
            self == .alike ? ("first", "second") : ("archive", "container")
        }

        /// The kinds of the entries that only one of the sides holds.
        var kinds: (onlyInFirst: ArchiveDifference.Kind, onlyInSecond: ArchiveDifference.Kind) {
            self == .alike ? (.onlyInFirst, .onlyInSecond) : (.onlyInArchive, .onlyInContainer)
        }
    }

    let sides: Sides
    /// The search for the entries that were chosen.
    let search: EntrySearch
    private let report: (ArchiveDifference) throws -> Void

    /// How many differences were reported.
    private(set) var count = 0

    init(
        between sides: Sides,
        of search: EntrySearch,
        report: @escaping (ArchiveDifference) throws -> Void
    ) {
        (self.sides, self.search, self.report) = (sides, search, report)
    }

    /// Reports a difference.
    func add(_ path: EntryPath, _ kind: ArchiveDifference.Kind, _ detail: String = "") throws {
        count += 1
        try report(ArchiveDifference(path: path, kind: kind, detail: detail))
    }

    /// Reports the values of both sides if they differ; returns whether they are equal.
    @discardableResult
    func compare<Value: Equatable>(
        _ path: EntryPath,
        _ kind: ArchiveDifference.Kind,
        _ first: Value,
        _ second: Value,
        _ text: (Value) -> String
    ) throws -> Bool {
        if first == second { return true }
        let (one, other) = sides.names
        try add(path, kind, "\(text(first)) in the \(one), \(text(second)) in the \(other)")
        return false
    }
}

// MARK: - Comparing entries

extension Differences {
    /// Compares the permissions, the time and, if the first side has one, the owner.
    func compareStatus(
        of entry: ArchiveEntry,
        _ permissions: UInt16,
        _ time: FileTime,
        _ owner: FileOwner?
    ) throws {
        let path = entry.path
        // The permissions of links can't be set.
        if entry.kind.expectedKind != .symbolicLink {
            let (first, second) = (entry.permissions & 0o777, permissions & 0o777)
            try compare(path, .permissions, first, second) { String($0, radix: 8) }
        }
        try compare(path, .modificationTime, entry.modificationTime, time, \.universal)
        if let first = entry.owner, let owner {
            try compare(path, .owner, first, owner) { "\($0.user):\($0.group)" }
        }
    }

    /// Compares the extended attributes.
    func compareAttributes(of entry: ArchiveEntry, _ others: [ExtendedAttribute]) throws {
        let differing = Set(entry.extendedAttributes).symmetricDifference(others)
        if differing.isEmpty { return }
        let names = Set(differing.map(\.name)).map(PrintableText.escaping).sorted()
        try add(entry.path, .extendedAttributes, names.joined(separator: ", "))
    }

    /// Compares the sizes of files; returns whether they are equal.
    func compareSizes(of entry: ArchiveEntry, _ size: UInt64) throws -> Bool {
        if entry.contentSize == size { return true }
        let (one, other) = sides.names
        let detail = "\(entry.contentSize) bytes in the \(one), \(size) in the \(other)"
        try add(entry.path, .content, detail)
        return false
    }
}

extension ArchiveEntry.Kind {
    /// The kind in words, for differences.
    var name: String { expectedKind?.name ?? "a hard link" }

    /// The kind of a file that the entry describes; `nil` for a hard link, because several kinds fit.
    var expectedKind: FileStatus.Kind? {
        switch self {
        case .file: .regular
        case .directory: .directory
        case .symbolicLink: .symbolicLink
        case .hardLink: nil
        }
    }
}
