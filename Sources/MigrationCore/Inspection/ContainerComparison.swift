public import Foundation
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

extension ArchiveSource {
    /// Compares an archive with a container: content, kind, permissions, times, links and
    /// attributes.
    ///
    /// Files that an export omits by default, and sockets, FIFOs and devices, don't count as
    /// differences if the archive has no entry for them. Neither do directories without an entry if
    /// the archive has entries in them. An interrupted import is finished first.
    ///
    /// Pieces of an archive file that hold only content of one file are compared by their hashes: a
    /// piece is read only if its hash differs from that of the container's bytes, and not at all if
    /// the container lacks the file or has it with another size. Damage in pieces that are not read
    /// is found only by ``verify(_:externalLinks:threadCount:progress:)``.
    ///
    /// - Parameters:
    ///   - container: The container, which others may read meanwhile, but no app or import may use.
    ///   - includesCaches: Whether to compare `Library/Caches` too.
    ///   - host: The host, whose limit applies while a migration uses the container.
    ///   - progress: Gets the archive's bytes as its total, and how many were compared.
    ///   - body: Called for each difference.
    /// - Returns: The number of differences.
    /// - Throws: `ArchiveError` if the part of the archive that is read is damaged or a file of the container can't
    ///   be read; ``MigrationError`` of codes `containerBusy` and `containerInvalid`; errors of `body`;
    ///   `CancellationError`.
    public func compare(
        with container: MigrationDataContainer,
        includesCaches: Bool = false,
        host: MigrationHost = MigrationHost(),
        progress: Progress? = nil,
        _ body: @Sendable (ArchiveDifference) throws -> Void
    ) async throws -> Int {
        try await inspectComparing(
            with: container,
            only: [],
            includesCaches: includesCaches,
            host: host,
            progress: progress,
            body
        ).differences
    }

    /// Compares an archive with a container, and describes the archive.
    ///
    /// If `paths` isn't empty, only these paths and everything below them are compared, and only
    /// the pieces around them are read from an archive file.
    @concurrent
    package func inspectComparing(
        with container: MigrationDataContainer,
        only paths: [EntryPath],
        includesCaches: Bool,
        host: MigrationHost,
        progress: Progress?,
        _ body: @Sendable (ArchiveDifference) throws -> Void
    ) async throws -> (differences: Int, archive: ArchiveInspection) {
        try await withOperation(progress: progress) { operation in
            let lock = try host.wait(on: operation).lockForReading(container)
            defer { lock.release() }
            let input = try open(operation)
            let reader = try Self.reader(of: input, at: paths)
            progress?.setTotal(Int64(clamping: input.size ?? 0))
            let selection = ContainerSelection(includesCaches: includesCaches, exclusions: [])
            return try withoutActuallyEscaping(body) { body in
                let comparison = ContainerComparison(
                    root: lock.root,
                    selection: selection,
                    paths: paths,
                    on: operation,
                    report: body
                )
                let differences = try comparison.run(reader)
                progress?.finish()
                let inspection = ArchiveInspection(
                    reader,
                    totals: reader.totals,
                    archiveBytes: reader.archiveBytes
                )
                return (differences, inspection)
            }
        }
    }
}

extension ArchiveSource {
    /// Opens the archive in `input` to read the entries at `paths` and below them, or all of them.
    private static func reader(
        of input: ArchiveInput,
        at paths: [EntryPath]
    ) throws -> ArchiveReader {
        guard !paths.isEmpty, input.size != nil else {
            return try ArchiveReader(input, access: .comparing)
        }
        let reader = try ArchiveReader(input, access: .selective)
        // A reader that can't search for them returns everything.
        _ = try reader.select(paths)
        return reader
    }
}

/// Compares an archive with a container entry by entry, in the order of the archive, and then
/// searches the container for other entries.
private final class ContainerComparison {
    private let root: OpenFile
    private let selection: ContainerSelection
    private let paths: [EntryPath]
    private var missing: Set<EntryPath>
    private let operation: MigrationOperation
    private let report: (ArchiveDifference) throws -> Void
    private var onlyInSecond = ArchiveDifference.Kind.onlyInContainer
    private var count = 0
    private var shownBytes: UInt64 = 0

    private var seen = SeenPaths()

    init(
        root: OpenFile,
        selection: ContainerSelection,
        paths: [EntryPath],
        on operation: MigrationOperation,
        report: @escaping (ArchiveDifference) throws -> Void
    ) {
        self.root = root
        self.selection = selection
        self.paths = paths
        missing = Set(paths)
        self.operation = operation
        self.report = report
    }

    /// Compares everything; returns the number of differences.
    func run(_ reader: ArchiveReader) throws -> Int {
        var comparator = EntryComparator(
            root: root,
            holding: reader.header?.extraMetadata ?? [],
            sides: ("archive", "container"),
            step: { [self] in try step(reader) },
            report: add
        )
        while let entry = try reader.next() {
            try step(reader)
            guard isCompared(entry.path) else { continue }
            seen.insert(entry.path)
            try comparator.compare(entry, from: .archive(reader))
        }
        try findOthers()
        return count
    }

    /// Compares everything with `first`, another directory; returns the number of differences.
    func run(_ first: OpenFile) throws -> Int {
        var comparator = EntryComparator(
            root: root,
            holding: [],
            sides: ("first", "second"),
            step: operation.check,
            report: add
        )
        onlyInSecond = .onlyInSecond
        var entries = DirectoryEntries(of: first)
        try ContainerListing.list(first, selecting: selection, on: operation) {
            entry,
            omission in
            guard omission == nil, isCompared(entry.path) else { return }
            seen.insert(entry.path)
            let (whole, content) = try entries.complete(entry)
            try comparator.compare(whole, from: .file(content))
        }
        try findOthers()
        return count
    }

    /// Looks in the container for entries that the first side doesn't have.
    private func findOthers() throws {
        var visitor = Visitor(comparison: self)
        try SourceWalker.walk(root, on: operation, visiting: &visitor)
        if let path = paths.first(where: missing.contains) {
            let message = "neither side has such an entry"
            throw ArchiveError(.notFound, message, entry: path)
        }
    }

    /// Reports the reader's progress, and throws if the operation was cancelled.
    private func step(_ reader: ArchiveReader) throws {
        try operation.check()
        let consumed = reader.consumedBytes
        guard consumed != shownBytes else { return }
        shownBytes = consumed
        operation.progress?.completedUnitCount = Int64(clamping: consumed)
    }

    private func isCompared(_ path: EntryPath) -> Bool {
        if paths.isEmpty { return true }
        let found = paths.filter(path.isEqual(toOrBelow:))
        missing.subtract(found)
        return !found.isEmpty
    }

    private func add(_ difference: ArchiveDifference) throws {
        count += 1
        try report(difference)
    }

    private struct Visitor: SourceVisitor {
        let comparison: ContainerComparison
        private var levels = [PathHash()]

        init(comparison: ContainerComparison) { self.comparison = comparison }

        func visit(_ item: SourceItem) throws {
            _ = try comparison.checkIsInArchive(item, hash(of: item))
        }

        mutating func enter(_ item: SourceItem, opened: OpenFile) throws -> Bool {
            let hash = hash(of: item)
            guard try comparison.checkIsInArchive(item, hash) else { return false }
            levels.append(hash)
            return true
        }

        mutating func leave(_ directory: WalkedDirectory) throws {
            levels.removeLast()
            try directory.checkIsUnchanged()
        }

        func passesOver(_ item: SourceItem) -> Bool {
            comparison.selection.reasonForOmitting(item) != nil
        }

        private func hash(of item: SourceItem) -> PathHash {
            levels[levels.count - 1].appending(item.name[...])
        }
    }

    /// Returns whether the walk should enter the item.
    private func checkIsInArchive(_ item: SourceItem, _ hash: PathHash) throws -> Bool {
        let isDirectory = item.status.kind == .directory
        guard selection.reasonForOmitting(item) == nil else { return false }
        switch item.status.kind {
        case .regular, .directory, .symbolicLink: break
        default: return false
        }
        if paths.isEmpty, seen.contains(hash, isDirectory: isDirectory) { return true }
        let path = EntryPath(bytes: item.path)
        guard isCompared(path) else {
            return isDirectory && paths.contains { $0.isEqual(toOrBelow: path) }
        }
        if !seen.contains(hash, isDirectory: isDirectory) {
            try add(ArchiveDifference(path: path, kind: onlyInSecond, detail: ""))
        }
        return true
    }
}

/// The hash of a path, from which the hashes of paths below it are computed.
private struct PathHash {
    private var hasher = Hasher()

    /// The hash of the path of `name` below it.
    func appending(_ name: ArraySlice<UInt8>) -> PathHash {
        var hash = self
        hash.hasher.combine(name)
        return hash
    }

    var value: Int { hasher.finalize() }
}

/// The paths that one side has, and the directories above them, which may have no entries in
/// another program's archive or in a part of one.
///
/// It stores hashes only: a set of a million paths would take too much memory.
private struct SeenPaths {
    private var entries: Set<Int> = []
    private var directories: Set<Int> = []

    /// Adds the path of an entry.
    mutating func insert(_ path: EntryPath) {
        let names = path.components
        var hash = PathHash()
        for (index, name) in names.enumerated() {
            hash = hash.appending(name)
            if index + 1 < names.count { directories.insert(hash.value) }
        }
        entries.insert(hash.value)
    }

    func contains(_ hash: PathHash, isDirectory: Bool) -> Bool {
        let value = hash.value
        return entries.contains(value) || isDirectory && directories.contains(value)
    }
}

/// Completes the entries of a directory's listing with the details of each file.
private struct DirectoryEntries {
    private let root: OpenFile
    private let cursor: DirectoryCursor<OpenFile>
    /// The first path of each file with several names.
    private var linked: [FileStatus.Identity: EntryPath] = [:]

    init(of root: OpenFile) {
        self.root = root
        cursor = DirectoryCursor(root: root)
    }

    /// The entry with its attributes and targets, and the file that has its content.
    mutating func complete(_ entry: ArchiveEntry) throws -> (ArchiveEntry, OpenFile) {
        do throws(SystemError) {
            return try completed(entry)
        } catch {
            throw SourceWalker.unreadable(entry.path.bytes, error)
        }
    }

    private mutating func completed(
        _ entry: ArchiveEntry
    ) throws(SystemError) -> (ArchiveEntry, OpenFile) {
        let name = [UInt8](entry.path.lastComponent)
        let directory = try cursor.directory(at: entry.path.components.dropLast())
        let status = try directory.descriptor.status(of: name)
        var kind = entry.kind
        var file = root
        switch kind {
        case .symbolicLink:
            kind = .symbolicLink(target: try directory.descriptor.symbolicLinkTarget(name))
        case .hardLink: kind = .hardLink(target: linked[status.identity] ?? entry.path)
        case .file:
            if status.linkCount > 1 { linked[status.identity] = entry.path }
            file = OpenFile(try directory.descriptor.open(name, .reading))
        case .directory: file = OpenFile(try directory.descriptor.open(name, .directory))
        }
        var attributes: [ExtendedAttribute] = []
        if case .symbolicLink = kind {
        } else {
            for attribute in try file.descriptor.knownExtendedAttributeNames()
            where ExtendedAttribute.isOfUser(attribute) {
                let value = try file.descriptor.extendedAttribute(attribute)
                attributes.append(ExtendedAttribute(name: attribute, value: value))
            }
        }
        let whole = ArchiveEntry(
            path: entry.path,
            kind: kind,
            permissions: entry.permissions,
            modificationTime: entry.modificationTime,
            extendedAttributes: attributes
        )
        return (whole, file)
    }
}

/// One side of a comparison.
package enum ComparedTree: Sendable {
    case archive(ArchiveSource)
    case container(MigrationDataContainer)
}

extension MigrationHost {
    /// Compares two archives or containers, or one of each.
    ///
    /// If `selection` isn't of all entries, only those and everything below them are compared.
    ///
    /// - Returns: The number of differences, and the description of an archive that was compared with a
    ///   container.
    package func compare(
        _ first: ComparedTree,
        with second: ComparedTree,
        only selection: EntrySelection,
        includesCaches: Bool,
        progress: Progress?,
        _ body: @Sendable (ArchiveDifference) throws -> Void
    ) async throws -> (differences: Int, archive: ArchiveInspection?) {
        switch (first, second) {
        case (.archive(let source), .container(let container)),
            (.container(let container), .archive(let source)):
            let (differences, archive) = try await source.inspectComparing(
                with: container,
                only: selection.resolved(in: source).paths,
                includesCaches: includesCaches,
                host: self,
                progress: progress,
                body
            )
            return (differences, archive)
        case (.archive(let source), .archive(let other)):
            let paths = try await selection.resolved(in: source).paths
            return (try await source.compare(with: other, only: paths, body), nil)
        case (.container(let container), .container(let other)):
            let rules = ContainerSelection(includesCaches: includesCaches, exclusions: [])
            let paths = selection.paths
            return (try await compare(container, other, rules, only: paths, body), nil)
        }
    }

    /// Compares two containers, as an export of them would see them.
    @concurrent
    private func compare(
        _ first: MigrationDataContainer,
        _ second: MigrationDataContainer,
        _ selection: ContainerSelection,
        only paths: [EntryPath],
        _ body: @Sendable (ArchiveDifference) throws -> Void
    ) async throws -> Int {
        try await withOperation { operation in
            let lock = try wait(on: operation).lockForReading(first)
            defer { lock.release() }
            let other = try wait(on: operation).lockForReading(second)
            defer { other.release() }
            return try withoutActuallyEscaping(body) { body in
                let comparison = ContainerComparison(
                    root: other.root,
                    selection: selection,
                    paths: paths,
                    on: operation,
                    report: body
                )
                return try comparison.run(lock.root)
            }
        }
    }
}
