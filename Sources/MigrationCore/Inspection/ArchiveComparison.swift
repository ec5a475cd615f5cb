internal import MigrationArchive
internal import MigrationSystem

/// Compares two archives by their entries.
///
/// From two archive files in tree order, as exports write them, it reads only the headers, and the
/// content of files of equal size unless equal pieces prove them equal.
final class ArchiveComparison {
    /// The maximum number of pairs of files before their content is read, in the order of the first
    /// archive.
    private static let suspectLimit = 4096
    private static let suspectBytesLimit = 4 << 20

    private let differences: Differences
    private let operation: MigrationOperation
    /// Two files with the same path and size, whose content is still to be compared, and where they are.
    private var suspects: [(path: EntryPath, first: UInt64, second: UInt64)] = []
    private var suspectBytes = 0

    init(_ differences: Differences, on operation: MigrationOperation) {
        (self.differences, self.operation) = (differences, operation)
    }

    /// Compares everything.
    ///
    /// - Throws: `ArchiveError` if an archive is damaged, if neither has an entry that was chosen, or if an
    ///   archive that is not in tree order has too many entries; `CancellationError`.
    func run(_ first: ArchiveSource, _ second: ArchiveSource) throws {
        let (left, right) = (try open(first, .listing), try open(second, .listing))
        if try left.isInTreeOrder, try right.isInTreeOrder {
            // The fingerprint covers every entry and every byte of content.
            if differences.search.isWhole, left.fingerprint == right.fingerprint { return }
            let contents = (
                first: try open(first, .selective),
                second: try open(second, .selective)
            )
            try merge(OrderedEntries(left), OrderedEntries(right), reading: contents)
        } else {
            try compareInMemory(left, right)
        }
        try differences.search.checkCompleteness("neither archive has such an entry")
    }

    private func open(
        _ source: ArchiveSource,
        _ access: ArchiveReader.Access
    ) throws -> ArchiveReader {
        try ArchiveReader(source.open(operation), access: access)
    }
}

// MARK: - In tree order

/// An entry, and its range in the archive.
private struct PlacedEntry {
    let entry: ArchiveEntry
    /// From the first header to the end of the content, counted from the first piece.
    let range: Range<UInt64>
}

/// The entries of an archive in tree order, a directory after everything in it.
private struct OrderedEntries {
    let reader: ArchiveReader
    private var window: [PlacedEntry] = []
    private var following: PlacedEntry?

    init(_ reader: ArchiveReader) { self.reader = reader }

    mutating func next() throws -> PlacedEntry? {
        if window.isEmpty { try fill() }
        return window.popLast()
    }

    /// Takes the entries of the next window, the last one first.
    private mutating func fill() throws {
        if let following { window = [following] }
        following = nil
        var bytes = 0
        while let entry = try reader.next() {
            bytes += entry.byteCount
            // A window limits the number of its entries, and the sizes of all but their attributes.
            guard bytes <= ArchiveComparison.memoryLimit else {
                let message =
                    "its attributes are too large to compare with another archive: extract it, and compare "
                    + "the directory"
                throw ArchiveError(.unsupported, message, entry: entry.path)
            }
            let placed = PlacedEntry(entry: entry, range: try reader.entryRange)
            guard reader.place != .first || window.isEmpty else {
                following = placed
                break
            }
            window.append(placed)
        }
        window.sort { $1.entry.path.isLeft(before: $0.entry.path) }
    }
}

extension ArchiveComparison {
    /// Readers of the content of two archives.
    private typealias Contents = (first: ArchiveReader, second: ArchiveReader)

    private func merge(
        _ first: consuming OrderedEntries,
        _ second: consuming OrderedEntries,
        reading contents: Contents
    ) throws {
        var (left, right) = (try first.next(), try second.next())
        while left != nil || right != nil {
            try operation.check()
            if let entry = left, right.map({ entry.isLeft(before: $0) }) ?? true {
                try add(entry, .onlyInFirst)
                left = try first.next()
            } else if let entry = right, left.map({ entry.isLeft(before: $0) }) ?? true {
                try add(entry, .onlyInSecond)
                right = try second.next()
            } else if let one = left, let other = right {
                if differences.search.finds(one.entry) { try compare(one, other, contents) }
                (left, right) = (try first.next(), try second.next())
            }
        }
        try readSuspects(contents)
    }

    private func add(_ only: PlacedEntry, _ kind: ArchiveDifference.Kind) throws {
        if differences.search.finds(only.entry) { try differences.add(only.entry.path, kind) }
    }

    private func compare(
        _ first: PlacedEntry,
        _ second: PlacedEntry,
        _ contents: Contents
    ) throws {
        let path = first.entry.path
        guard try compareHeaders(first.entry, second.entry), first.entry.contentSize > 0,
            !contents.first.holds(first.range, asHeldBy: contents.second, at: second.range)
        else { return }
        suspects.append((path, first.range.lowerBound, second.range.lowerBound))
        suspectBytes += path.bytes.count
        if suspects.count >= Self.suspectLimit || suspectBytes >= Self.suspectBytesLimit {
            try readSuspects(contents)
        }
    }

    /// Compares the content of all suspects, in the order in which the first archive holds them.
    private func readSuspects(_ contents: Contents) throws {
        for suspect in suspects.sorted(by: { $0.first < $1.first }) {
            try operation.check()
            let digest = try contents.first.contentDigest(ofEntryAt: suspect.first)
            if try contents.second.contentDigest(ofEntryAt: suspect.second) != digest {
                try differences.add(suspect.path, .content)
            }
        }
        (suspects, suspectBytes) = ([], 0)
    }
}

extension PlacedEntry {
    func isLeft(before other: PlacedEntry) -> Bool { entry.path.isLeft(before: other.entry.path) }
}

// MARK: - In any order

extension ArchiveComparison {
    /// An entry and the hash of its content.
    private typealias Known = (entry: ArchiveEntry, digest: [UInt8])

    /// The limit of memory for the entries of an archive that are held at a time.
    fileprivate static let memoryLimit = 64 << 20

    /// Compares archives when one may hold its entries in any order.
    private func compareInMemory(_ first: ArchiveReader, _ second: ArchiveReader) throws {
        var known: [EntryPath: Known] = [:]
        var bytes = 0
        while let entry = try first.next() {
            try operation.check()
            guard differences.search.finds(entry) else { continue }
            bytes += 256 + entry.path.bytes.count + entry.byteCount
            guard bytes <= Self.memoryLimit else {
                let message =
                    "its entries take too much memory to compare with another archive in any order: extract "
                    + "it, and compare the directory"
                throw ArchiveError(.unsupported, message, entry: entry.path)
            }
            known[entry.path] = (entry, try first.contentDigest())
        }
        while let entry = try second.next() {
            try operation.check()
            guard differences.search.finds(entry) else { continue }
            guard let other = known.removeValue(forKey: entry.path) else {
                try differences.add(entry.path, .onlyInSecond)
                continue
            }
            if try compareHeaders(other.entry, entry), try second.contentDigest() != other.digest {
                try differences.add(entry.path, .content)
            }
        }
        for path in known.keys.sorted() { try differences.add(path, .onlyInFirst) }
    }
}

// MARK: - Headers

extension ArchiveComparison {
    /// Compares everything but the content; returns whether both are files of the same size.
    private func compareHeaders(_ first: ArchiveEntry, _ second: ArchiveEntry) throws -> Bool {
        let path = first.path
        let (kind, other) = (first.kind.name, second.kind.name)
        guard try differences.compare(path, .kind, kind, other, \.self) else { return false }
        switch (first.kind, second.kind) {
        case (.hardLink(let target), .hardLink(let other)):
            try differences.compare(path, .hardLink, target, other) { "\($0)" }
            // Everything else belongs to the file.
            return false
        case (.symbolicLink(let target), .symbolicLink(let other)):
            try differences.compare(path, .linkTarget, target, other, PrintableText.escaping)
        default: break
        }
        try differences.compareStatus(
            of: first,
            second.permissions,
            second.modificationTime,
            second.owner
        )
        try differences.compareAttributes(of: first, second.extendedAttributes)
        guard case .file = first.kind else { return false }
        return try differences.compareSizes(of: first, second.contentSize)
    }
}
