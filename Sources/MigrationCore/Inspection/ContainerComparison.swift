public import Foundation
package import MigrationArchive
internal import MigrationSystem

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
        try await host.compare(
            .archive(self),
            with: .container(container),
            only: EntrySelection(),
            includesCaches: includesCaches,
            progress: progress,
            body
        ).differences
    }
}

/// Compares an archive or a directory entry by entry, in its order, with a container, and then searches the
/// container for other entries.
private final class ContainerComparison {
    private let root: OpenFile
    private let cursor: DirectoryCursor<OpenFile>
    private let selection: ContainerSelection
    private let differences: Differences
    private let operation: MigrationOperation
    private var search: EntrySearch { differences.search }
    /// The first side, if it is an archive.
    private var reader: ArchiveReader?
    private var shownBytes: UInt64 = 0

    private var seen = SeenPaths()
    /// The first path in the first side of each file with several names in the container.
    private var linked: [FileStatus.Identity: EntryPath] = [:]

    init(
        with root: OpenFile,
        _ selection: ContainerSelection,
        _ differences: Differences,
        on operation: MigrationOperation
    ) {
        (self.root, cursor) = (root, DirectoryCursor(root: root))
        (self.selection, self.differences) = (selection, differences)
        self.operation = operation
    }

    /// Compares everything with an archive.
    func run(_ reader: ArchiveReader) throws {
        self.reader = reader
        while let entry = try reader.next() {
            try step()
            guard search.finds(entry) else { continue }
            seen.insert(entry.path)
            try compare(entry, of: nil)
        }
        try findOthers()
    }

    /// Compares everything with `first`, another directory.
    func run(_ first: OpenFile) throws {
        /// The first path of each file with several names.
        var linked: [FileStatus.Identity: EntryPath] = [:]
        try ContainerListing.list(
            first,
            selecting: selection,
            on: operation
        ) { item, entry, omission in
            guard omission == nil, search.finds(entry) else { return omission == nil }
            seen.insert(entry.path)
            let (whole, file) = try SourceWalker.reading(item.path) { () throws(SystemError) in
                try item.complete(entry, &linked)
            }
            try compare(whole, of: file)
            return true
        }
        try findOthers()
    }

    /// Shows how much of an archive was read, and throws if the operation was cancelled.
    private func step() throws {
        try operation.check()
        guard let consumed = reader?.consumedBytes, consumed != shownBytes else { return }
        shownBytes = consumed
        operation.progress?.completedUnitCount = Int64(clamping: consumed)
    }
}

// MARK: - Entries of the first side

extension ContainerComparison {
    /// Reports the differences between `entry`, which is that of `file` if the first side is a directory, and
    /// the container.
    private func compare(_ entry: ArchiveEntry, of file: OpenFile?) throws {
        let path = entry.path
        guard let present = try item(at: path) else {
            return try differences.add(path, differences.sides.kinds.onlyInFirst)
        }
        let status = present.status
        guard status.kind == entry.kind.expectedKind ?? status.kind else {
            try differences.compare(path, .kind, entry.kind.name, status.kind.name, \.self)
            return
        }
        if case .hardLink(let target) = entry.kind {
            if try item(at: target)?.status.identity == status.identity { return }
            let detail = "the same file as \(target) in the \(differences.sides.names.first) alone"
            return try differences.add(path, .hardLink, detail)
        }
        let owner = FileOwner(user: status.owner, group: status.group)
        try differences.compareStatus(of: entry, status.permissions, status.modificationTime, owner)
        try compareNames(of: entry, with: status)
        do {
            try compareContents(of: entry, file, with: present)
        } catch let error as SystemError {
            throw SourceWalker.unreadable(path.bytes, error)
        }
    }

    private func item(at path: EntryPath) throws(ArchiveError) -> SourceItem? {
        do {
            let directory = try cursor.directory(at: path.components.dropLast())
            let name = path.lastComponent
            let status = try directory.descriptor.status(of: name)
            return SourceItem(
                directory: directory,
                name: name,
                sourcePath: .known(path.bytes),
                status: status
            )
        } catch {
            guard error.isMissing || error.isNotDirectory else {
                throw SourceWalker.unreadable(path.bytes, error)
            }
            return nil
        }
    }

    /// Checks that earlier entries are not names of the same file.
    private func compareNames(of entry: ArchiveEntry, with status: FileStatus) throws {
        guard status.kind == .regular, status.linkCount > 1 else { return }
        guard let first = linked[status.identity] else {
            linked[status.identity] = entry.path
            return
        }
        // Another program's archive may hold a path twice.
        if first == entry.path { return }
        let detail = "another file than \(first) in the \(differences.sides.names.first) alone"
        try differences.add(entry.path, .hardLink, detail)
    }

    private func compareContents(
        of entry: ArchiveEntry,
        _ expected: OpenFile?,
        with present: SourceItem
    ) throws {
        let path = entry.path
        switch entry.kind {
        case .symbolicLink(let target):
            let other = try present.readTarget()
            try differences.compare(path, .linkTarget, target, other, PrintableText.escaping)
        case .file:
            let file = try present.open(.reading)
            try compareAttributes(of: entry, with: file)
            guard try differences.compareSizes(of: entry, present.status.size) else { return }
            var content = ContentComparator(file, size: entry.contentSize) { try self.step() }
            let offset =
                if let expected {
                    try content.firstDifference(from: expected)
                } else {
                    try reader.flatMap { try content.firstDifference(from: $0) }
                }
            guard let offset else { return }
            try differences.add(path, .content, "the first difference is at byte \(offset)")
        case .directory: try compareAttributes(of: entry, with: present.open(.directory))
        case .hardLink: break
        }
    }

    private func compareAttributes(of entry: ArchiveEntry, with file: OpenFile) throws {
        let extra = reader?.header?.extraMetadata ?? []
        let present = try FileAttributes(of: file.descriptor, holding: extra)
        try differences.compareAttributes(of: entry, present.carried)
    }
}

// MARK: - Other entries of the container

extension ContainerComparison {
    /// Looks in the container for entries that the first side doesn't have.
    private func findOthers() throws {
        var visitor = OtherEntries(comparison: self)
        try SourceWalker.walk(root, on: operation, visiting: &visitor)
        try search.checkCompleteness("neither side has such an entry")
    }

    /// Hashes paths level by level: making the path of every item in a deep tree would take longer than the walk.
    private struct OtherEntries: SourceVisitor {
        let comparison: ContainerComparison
        /// The hashers of the directories down to the one where the walk is.
        var levels = [Hasher()]

        func visit(_ item: SourceItem) throws {
            _ = try comparison.checkIsInFirst(item, hasher(of: item))
        }

        mutating func enter(_ item: SourceItem, opened: OpenFile) throws -> Bool {
            let hasher = hasher(of: item)
            guard try comparison.checkIsInFirst(item, hasher) else { return false }
            levels.append(hasher)
            return true
        }

        mutating func leave(_ directory: WalkedDirectory) throws {
            levels.removeLast()
            try directory.checkIsUnchanged()
        }

        func passesOver(_ item: SourceItem) -> Bool {
            comparison.selection.reasonForOmitting(item) != nil
        }

        private func hasher(of item: SourceItem) -> Hasher {
            var hasher = levels[levels.count - 1]
            EntryPath.add(item.name, to: &hasher)
            return hasher
        }
    }

    /// Returns whether the walk should enter the item.
    private func checkIsInFirst(_ item: SourceItem, _ hasher: Hasher) throws -> Bool {
        let isDirectory = item.status.kind == .directory
        guard selection.reasonForOmitting(item) == nil else { return false }
        switch item.status.kind {
        case .regular, .directory, .symbolicLink: break
        default: return false
        }
        let isSeen = seen.contains(hasher.finalize(), isDirectory: isDirectory)
        if search.isWhole, isSeen { return true }
        let path = EntryPath(bytes: item.path)
        guard search.finds(path, isDirectory: isDirectory) else {
            return isDirectory && search.mayFind(below: path)
        }
        if !isSeen { try differences.add(path, differences.sides.kinds.onlyInSecond) }
        return true
    }
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
        let hashes = path.levelHashes
        directories.formUnion(hashes.dropLast())
        entries.formUnion(hashes.suffix(1))
    }

    /// Whether a path with this ``EntryPath/levelHash`` was added, or is that of a directory above one.
    func contains(_ hash: Int, isDirectory: Bool) -> Bool {
        entries.contains(hash) || isDirectory && directories.contains(hash)
    }
}

// MARK: - Entries of a directory

extension SourceItem {
    fileprivate func readTarget() throws(SystemError) -> [UInt8] {
        try directory.descriptor.symbolicLinkTarget([UInt8](name))
    }

    /// The entry of the item with its attributes and targets, and the file that has its content; `linked` has the
    /// first path of each file with several names.
    fileprivate func complete(
        _ entry: ArchiveEntry,
        _ linked: inout [FileStatus.Identity: EntryPath]
    ) throws(SystemError) -> (ArchiveEntry, OpenFile?) {
        var kind = entry.kind
        var file: OpenFile?
        switch kind {
        case .symbolicLink: kind = .symbolicLink(target: try readTarget())
        case .hardLink: kind = .hardLink(target: linked[status.identity] ?? entry.path)
        case .file:
            if status.linkCount > 1 { linked[status.identity] = entry.path }
            file = try open(.reading)
        case .directory: file = try open(.directory)
        }
        let attributes = try file.map { file throws(SystemError) in
            try FileAttributes(of: file.descriptor, holding: []).carried
        }
        let whole = entry.changing {
            $0.kind = kind
            $0.extendedAttributes = attributes ?? []
        }
        return (whole, file)
    }
}

// MARK: - Two sides of any kind

/// One side of a comparison.
package enum ComparedTree: Sendable {
    case archive(ArchiveSource)
    case container(MigrationDataContainer)

    fileprivate var archive: ArchiveSource? {
        if case .archive(let source) = self { source } else { nil }
    }
}

extension MigrationHost {
    /// Compares two archives or containers, or one of each.
    ///
    /// If `selection` isn't of all entries, only those and everything below them are compared. If an archive
    /// file is compared with a container, only the pieces around them are read.
    ///
    /// - Returns: The number of differences, and the description of an archive that was compared with a
    ///   container.
    @concurrent
    package func compare(
        _ first: ComparedTree,
        with second: ComparedTree,
        only selection: EntrySelection,
        includesCaches: Bool,
        progress: Progress?,
        _ body: @Sendable (ArchiveDifference) throws -> Void
    ) async throws -> (differences: Int, archive: ArchiveInspection?) {
        var selection = selection
        if let archive = first.archive ?? second.archive {
            selection = try await selection.resolved(in: archive)
        }
        let search = EntrySearch(selection)
        let rules = ContainerSelection(includesCaches: includesCaches, exclusions: [])
        return try await withOperation(progress: progress) { operation in
            try withoutActuallyEscaping(body) { body in
                let isAlike = (first.archive == nil) == (second.archive == nil)
                let sides: Differences.Sides = isAlike ? .alike : .archiveAndContainer
                let differences = Differences(between: sides, of: search, report: body)
                let archive = try compare(first, second, rules, differences, on: operation)
                return (differences.count, archive)
            }
        }
    }

    private func compare(
        _ first: ComparedTree,
        _ second: ComparedTree,
        _ rules: ContainerSelection,
        _ differences: Differences,
        on operation: MigrationOperation
    ) throws -> ArchiveInspection? {
        let wait = wait(on: operation)
        switch (first, second) {
        case (.archive(let source), .archive(let other)):
            try ArchiveComparison(differences, on: operation).run(source, other)
            return nil
        case (.container(let container), .container(let other)):
            let lock = try wait.lockForReading(container)
            defer { lock.release() }
            let otherLock = try wait.lockForReading(other)
            defer { otherLock.release() }
            try ContainerComparison(with: otherLock.root, rules, differences, on: operation)
                .run(lock.root)
            return nil
        case (.archive(let source), .container(let container)),
            (.container(let container), .archive(let source)):
            let lock = try wait.lockForReading(container)
            defer { lock.release() }
            let input = try source.open(operation)
            let paths = differences.search.selection.guidingPaths
            let reader = try ArchiveReader(input, at: paths, orAllBy: .comparing)
            operation.progress?.setTotal(Int64(clamping: input.size ?? 0))
            try ContainerComparison(with: lock.root, rules, differences, on: operation).run(reader)
            operation.progress?.finish()
            return ArchiveInspection(reader)
        }
    }
}
