internal import Foundation
package import MigrationArchive
package import MigrationSystem

/// Archives the items of a source tree, window by window.
package final class ItemArchiver {
    /// Turns the items into entries, and collects the facts for the report.
    package let entries: EntryArchiver

    /// The operation that archives.
    package let operation: MigrationOperation

    private let writer: ArchiveWriter
    private var filler = WindowFiller()
    /// Fills windows with items that can't wait, so that the windows of all others stay full.
    private var urgentFiller = WindowFiller()
    /// Whether items are read before the append ends, because they may be gone afterwards.
    private var isUrgent = false
    /// The source's own directory, which has no entry.
    private var root: WalkedDirectory?

    /// Archives with `writer`.
    package init(
        writingTo writer: ArchiveWriter,
        outputIdentity: FileStatus.Identity?,
        holding extra: ExtraMetadata = [],
        isStrict: Bool = false,
        on operation: MigrationOperation
    ) {
        self.writer = writer
        let attributes = AttributeReader(holding: extra, isStrict: isStrict)
        entries = EntryArchiver(attributes, outputIdentity: outputIdentity)
        self.operation = operation
        writer.progressHandler = { [entries, operation] in
            operation.progress?.completedUnitCount += Int64($0)
            entries.activityHandler?()
        }
    }
}

// MARK: - Windows

extension ItemArchiver {
    /// Puts an item into a window; `nil` is one that was left out.
    private func take(_ item: WindowItem?) throws {
        guard let item else { return }
        try takeImpliedDirectories(apartFrom: item.entry.path)
        guard isUrgent else { return try write(filler.add(item)) }
        // The file that the link names may still be waiting.
        if case .hardLink = item.entry.kind { try write(filler.takeAll()) }
        try write(urgentFiller.add(item))
    }

    private func takeImpliedDirectories(apartFrom path: EntryPath?) throws {
        while let directory = entries.takeImpliedDirectory(apartFrom: path) {
            try write(filler.add(directory))
        }
    }

    /// Archives everything that is still waiting, after the last item.
    package func finish() throws {
        try takeImpliedDirectories(apartFrom: nil)
        try write(filler.takeAll())
        try writer.settle()
        try root?.checkIsUnchanged()
    }

    private func write(_ window: OrderedItems?) throws {
        guard let window else { return }
        try writer.append(ItemWindow(window, entries.attributes))
    }
}

// MARK: - Items by name

extension ItemArchiver {
    /// Appends the item at `location` under `name`: a file, a link, or a directory with its
    /// content.
    ///
    /// Files of the container are read later; their errors then end the export.
    ///
    /// - Returns: The bytes of content of a file; otherwise 0.
    /// - Throws: An error; the archive is unchanged only if ``EntryArchiver/entryCount`` is
    ///   unchanged.
    package func appendItem(at location: SourceRoots.Location, as name: [UInt8]) throws -> UInt64 {
        isUrgent = location.kind != .container
        guard isUrgent else { return try takeItem(at: location, as: name) }
        try writer.readBeforeLayout()
        let size = try takeItem(at: location, as: name)
        try write(urgentFiller.takeAll())
        try writer.settle()
        return size
    }

    private func takeItem(
        at location: SourceRoots.Location,
        as name: [UInt8]
    ) throws -> UInt64 {
        let path = try Self.path(name)
        let base = SourceBase(location.root, at: location.path, as: name)
        guard let itemName = location.name else {
            let status = try Self.reading(path) { () throws(SystemError) in
                try location.directory.descriptor.status()
            }
            try entries.claimDirectory(at: path, status)
            try takeContents(of: location.directory, at: location, from: base, as: path)
            return 0
        }
        let item = SourceItem(
            directory: location.directory,
            name: itemName,
            sourcePath: .known(name),
            status: try Self.reading(path) { () throws(SystemError) in
                try location.directory.descriptor.status(of: itemName)
            }
        )
        switch item.status.kind {
        case .regular, .symbolicLink:
            try take(entries.admit(item, from: base))
            return item.status.kind == .regular ? item.status.size : 0
        case .directory:
            try takeDirectory(item, at: location, from: base, as: path)
            return 0
        default:
            let message = "can't be archived: a \(item.status.kind)"
            throw ArchiveError(.unrepresentable, message, entry: path)
        }
    }

    /// The path in the archive for an item that is appended as `name`.
    private static func path(_ name: [UInt8]) throws(MigrationError) -> EntryPath {
        let path = EntryPath(bytes: name)
        guard let violation = path.violation else { return path }
        throw MigrationError(.invalidPath, "can't be archived: \(violation)", path: BytePath(name))
    }

    private func takeDirectory(
        _ item: SourceItem,
        at location: SourceRoots.Location,
        from base: SourceBase,
        as path: EntryPath
    ) throws {
        if try entries.omitsUnreadable(item, bytes: item.status.size) { return }
        let opened = try Self.reading(path) { () throws(SystemError) in try item.open(.directory) }
        try entries.claimDirectory(at: path, item.status)
        try takeContents(of: opened, at: location, from: base, as: path)
    }

    private func takeContents(
        of directory: OpenFile,
        at location: SourceRoots.Location,
        from base: SourceBase,
        as path: EntryPath
    ) throws {
        let isContainer = location.kind == .container && location.name == nil
        let bookkeeping = path.bytes + [UInt8(ascii: "/")] + ContainerLayout.bookkeepingName
        var visitor = Visitor(
            archiver: self,
            base: base,
            bookkeeping: isContainer ? bookkeeping : nil
        )
        try SourceWalker.walk(directory, at: path.bytes, on: operation, visiting: &visitor)
    }

    private static func reading<Result: ~Copyable>(
        _ path: EntryPath,
        _ body: () throws(SystemError) -> Result
    ) throws(ArchiveError) -> Result {
        do {
            return try body()
        } catch {
            guard error.isMissing else { throw SourceWalker.unreadable(path.bytes, error) }
            throw ArchiveError(
                .sourceUnreadable,
                "there is no such item",
                entry: path,
                cause: error
            )
        }
    }
}

// MARK: - Everything in a directory

extension ItemArchiver {
    /// Appends everything in the container at `root` that `selection` keeps, each at its own path.
    func appendContents(
        of root: OpenFile,
        selecting selection: ContainerSelection,
        knowing known: KnownStatuses
    ) throws {
        let base = SourceBase(root, at: [], as: [])
        var visitor = Visitor(archiver: self, base: base, selection: selection, known: known)
        try SourceWalker.walk(root, on: operation, visiting: &visitor)
        try finish()
    }

    private struct Visitor: SourceVisitor {
        let archiver: ItemArchiver
        let base: SourceBase
        /// Chooses the items to archive; `nil` if all are archived.
        var selection: ContainerSelection?
        /// The path of the bookkeeping in a container that an extension appends.
        var bookkeeping: [UInt8]?
        var known: KnownStatuses?

        static var visitsRuns: Bool { true }

        func visit(_ run: FileRun) throws {
            let keepsAll = selection?.keepsAllFiles(in: run.path) ?? (bookkeeping == nil)
            let known = known?.take(run)
            try run.forEachStatus(known: known, on: archiver.operation) { index, status in
                let item = run.item(at: index, status)
                if keepsAll { try take(item) } else { try visit(item) }
            }
        }

        func visit(_ item: SourceItem) throws {
            guard let reason = reasonForOmitting(item.path) else { return try take(item) }
            let bytes = item.status.kind == .regular ? item.status.size : 0
            archiver.entries.omit(Omission(path: item.path, reason: reason, bytes: bytes))
        }

        private func take(_ item: SourceItem) throws {
            try archiver.take(archiver.entries.admit(item, from: base))
        }

        func enter(_ item: SourceItem, opened: OpenFile) throws -> Bool {
            let path = item.path
            if let reason = reasonForOmitting(path, isDirectory: true) {
                let bytes = try archiver.measure(opened)
                archiver.entries.omit(Omission(path: path, reason: reason, bytes: bytes))
                return false
            }
            if try archiver.entries.omitsUnreadable(item, bytes: archiver.measure(opened)) {
                return false
            }
            try archiver.entries.claimDirectory(at: EntryPath(bytes: path), item.status)
            return true
        }

        func leave(_ directory: WalkedDirectory) throws {
            guard !directory.path.isEmpty else { return archiver.root = directory }
            try archiver.take(archiver.entries.admitDirectory(directory, from: base))
        }

        func passesOver(_ item: SourceItem) throws -> Bool {
            guard let reason = reasonForOmitting(item.path, isDirectory: true) else { return false }
            // Its size is unknown.
            archiver.entries.omit(Omission(path: item.path, reason: reason))
            return true
        }

        private func reasonForOmitting(
            _ path: [UInt8],
            isDirectory: Bool = false
        ) -> Omission.Reason? {
            if path == bookkeeping { return .leftOutByDefault }
            return selection?.reasonForOmitting(path, isDirectory: isDirectory)
        }
    }

    private func measure(_ directory: OpenFile) throws -> UInt64 {
        do {
            return try SourceMeasure.measure(directory, selecting: nil, on: operation).contentBytes
        } catch let error as ArchiveError where error.code != .damaged {
            // The directory is omitted anyway; the size of unreadable files stays uncounted.
            return 0
        }
    }
}
