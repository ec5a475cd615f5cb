internal import MigrationArchive
internal import MigrationContainers
internal import MigrationSystem

/// Lists what a container holds, without reading any content.
struct ContainerListing: SourceVisitor {
    private let selection: ContainerSelection
    private let body: (SourceItem, ArchiveEntry, Omission.Reason?) throws -> Bool
    private var linked: Set<FileStatus.Identity> = []
    /// The directory that is left out, with everything below it.
    private var omitted: (path: [UInt8], reason: Omission.Reason)?

    /// Lists everything in the container at `root` except its bookkeeping and metadata.
    ///
    /// `body` gets each item and its entry, without attributes and the targets of links, and why an export
    /// would leave it out; it returns whether to enter a directory.
    static func list(
        _ root: OpenFile,
        selecting selection: ContainerSelection,
        on operation: MigrationOperation,
        _ body: (SourceItem, ArchiveEntry, Omission.Reason?) throws -> Bool
    ) throws {
        try withoutActuallyEscaping(body) { body in
            var listing = ContainerListing(selection: selection, body: body)
            try SourceWalker.walk(root, on: operation, visiting: &listing)
        }
    }

    mutating func visit(_ item: SourceItem) throws {
        guard !ContainerLayout.ownNames.contains(item.path) else { return }
        let isNew = item.status.linkCount < 2 || linked.insert(item.status.identity).inserted
        switch item.status.kind {
        case .regular where isNew: try note(item, as: .file(size: item.status.size))
        case .regular: try note(item, as: .hardLink(target: EntryPath("")))
        case .symbolicLink: try note(item, as: .symbolicLink(target: []))
        default: return
        }
    }

    mutating func enter(_ item: SourceItem, opened: OpenFile) throws -> Bool {
        guard !ContainerLayout.ownNames.contains(item.path) else { return false }
        guard try note(item, as: .directory) else { return false }
        if omitted == nil, let reason = selection.reasonForOmitting(item) {
            omitted = (item.path, reason)
        }
        return true
    }

    mutating func leave(_ directory: WalkedDirectory) throws {
        if let path = omitted?.path, path == directory.path { omitted = nil }
        try directory.checkIsUnchanged()
    }

    func passesOver(_ item: SourceItem) throws -> Bool {
        omitted != nil || selection.reasonForOmitting(item) != nil
    }

    @discardableResult
    private func note(_ item: SourceItem, as kind: ArchiveEntry.Kind) throws -> Bool {
        let entry = ArchiveEntry(
            path: EntryPath(bytes: item.path),
            kind: kind,
            permissions: item.status.permissions,
            modificationTime: item.status.modificationTime
        )
        return try body(item, entry, omitted?.reason ?? selection.reasonForOmitting(item))
    }
}
