internal import Foundation
package import MigrationArchive
package import MigrationSystem

/// Archives the items of a source tree, window by window.
package final class ItemArchiver {
    /// When an item is read.
    enum ReadingTime {
        /// When its window is full, or the export ends: nothing changes it meanwhile.
        case later
        /// Before the call ends: it may be gone afterwards.
        case atOnce
    }

    /// Turns the items into entries, and collects the facts for the report.
    package let entries: EntryArchiver

    /// The operation that archives.
    package let operation: MigrationOperation

    private let writer: ArchiveWriter
    private let statuses: FileStatusReader
    private var filler = WindowFiller()
    /// Fills windows with items that can't wait, so that the windows of all others stay full.
    private var urgentFiller = WindowFiller()
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
        entries = EntryArchiver(
            outputIdentity: outputIdentity,
            progress: operation.progress,
            holding: extra,
            isStrict: isStrict
        )
        statuses = FileStatusReader(on: operation)
        self.operation = operation
        writer.progressHandler = { [entries] in entries.noteProgress($0) }
    }
}

// MARK: - Windows

extension ItemArchiver {
    /// Puts an item into a window; `nil` is one that was left out.
    private func take(_ item: WindowItem?, _ time: ReadingTime) throws {
        guard let item else { return }
        try takeImpliedDirectories(apartFrom: item.entry.path)
        switch time {
        case .later: try write(filler.add(item))
        case .atOnce:
            // The file that the link names may still be waiting.
            if case .hardLink = item.entry.kind { try write(filler.takeAll()) }
            try write(urgentFiller.add(item))
        }
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
        let time: ReadingTime = location.kind == .container ? .later : .atOnce
        if time == .later { return try appendItem(at: location, as: name, time) }
        try writer.readBeforeLayout()
        let size = try appendItem(at: location, as: name, time)
        try write(urgentFiller.takeAll())
        try writer.settle()
        return size
    }

    private func appendItem(
        at location: SourceRoots.Location,
        as name: [UInt8],
        _ time: ReadingTime
    ) throws -> UInt64 {
        let path = try Self.path(name)
        let base = SourceBase(location.root, at: location.path, as: name)
        guard let itemName = location.name.map([UInt8].init) else {
            let status = try Self.reading(path) { () throws(SystemError) in
                try location.directory.descriptor.status()
            }
            try entries.claimDirectory(at: path, status)
            try appendDirectory(location.directory, of: location, from: base, at: path, time)
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
            try take(entries.admit(item, from: base), time)
            return item.status.kind == .regular ? item.status.size : 0
        case .directory:
            if try entries.omitsUnreadable(item) { return 0 }
            let opened = try Self.reading(path) { () throws(SystemError) in
                OpenFile(try location.directory.descriptor.open(itemName, .directory))
            }
            try entries.claimDirectory(at: path, item.status)
            try appendDirectory(opened, of: location, from: base, at: path, time)
            return 0
        default:
            let message = "can't be archived: a \(item.status.kind)"
            throw ArchiveError(.unrepresentable, message, entry: path)
        }
    }

    /// The path in the archive for an item that is appended as `name`.
    static func path(_ name: [UInt8]) throws(MigrationError) -> EntryPath {
        let path = EntryPath(bytes: name)
        guard let violation = path.violation else { return path }
        throw MigrationError(.invalidPath, "can't be archived: \(violation)", path: BytePath(name))
    }

    private func appendDirectory(
        _ opened: OpenFile,
        of location: SourceRoots.Location,
        from base: SourceBase,
        at path: EntryPath,
        _ time: ReadingTime
    ) throws {
        let isContainer = location.kind == .container && location.name == nil
        let bookkeeping = path.bytes + [UInt8(ascii: "/")] + ContainerLayout.bookkeepingName
        let filter = EntryFilter(
            reason: { path, _ in isContainer && path == bookkeeping ? .leftOutByDefault : nil },
            keepsAllFiles: { !isContainer || $0 != path.bytes }
        )
        try appendContents(of: opened, base: path.bytes, filter, from: base, time)
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

/// Chooses the entries to archive while a tree is walked.
struct EntryFilter {
    /// The reason for omitting the entry at a path; `nil` to archive it.
    let reason: ([UInt8], _ isDirectory: Bool) -> Omission.Reason?

    /// Whether every file directly in the directory at a path is kept, whatever its name.
    let keepsAllFiles: ([UInt8]) -> Bool
}

extension ItemArchiver {
    /// Appends everything in the container at `root` that `selection` keeps, each at its own path.
    func appendContents(
        of root: OpenFile,
        selecting selection: ContainerSelection,
        knowing known: KnownStatuses
    ) throws {
        let filter = EntryFilter(
            reason: selection.reasonForOmitting,
            keepsAllFiles: selection.keepsAllFiles
        )
        let base = SourceBase(root, at: [], as: [])
        try appendContents(of: root, base: [], filter, from: base, .later, knowing: known)
        try finish()
    }

    /// Appends everything in `directory` that `filter` keeps; its own path in the archive is
    /// `base`.
    private func appendContents(
        of directory: OpenFile,
        base path: [UInt8],
        _ filter: EntryFilter,
        from base: SourceBase,
        _ time: ReadingTime,
        knowing known: KnownStatuses? = nil
    ) throws {
        var visitor = Visitor(archiver: self, filter: filter, base: base, time: time, known: known)
        try SourceWalker.walk(directory, at: path, on: operation, visiting: &visitor)
    }

    private struct Visitor: SourceVisitor {
        let archiver: ItemArchiver
        let filter: EntryFilter
        let base: SourceBase
        let time: ReadingTime
        let known: KnownStatuses?

        static var visitsRuns: Bool { true }

        func visit(_ run: FileRun) throws {
            let keepsAll = filter.keepsAllFiles(run.path)
            let known = known?.take(run)
            try archiver.statuses.forEachStatus(of: run, known: known) { index, status in
                let path = EntryPath(bytes: run.path(at: index))
                if !keepsAll, let reason = filter.reason(path.bytes, false) {
                    omit(path.bytes, status, reason)
                } else if status.kind == .regular {
                    let item = try archiver.entries.admitFile(
                        at: path,
                        path.lastComponent,
                        in: run.directory,
                        status,
                        base
                    )
                    try archiver.take(item, time)
                } else {
                    try visit(try run.item(at: index))
                }
            }
        }

        func visit(_ item: SourceItem) throws {
            let path = item.path
            if let reason = filter.reason(path, false) {
                omit(path, item.status, reason)
            } else {
                try archiver.take(archiver.entries.admit(item, from: base), time)
            }
        }

        func enter(_ item: SourceItem, opened: OpenFile) throws -> Bool {
            let path = item.path
            if let reason = filter.reason(path, true) {
                let bytes = try archiver.measure(opened)
                archiver.entries.omit(Omission(path, reason, bytes: bytes))
                return false
            }
            if archiver.entries.reader != nil, let omission = try unreadable(item, opened) {
                archiver.entries.omit(omission)
                return false
            }
            try archiver.entries.claimDirectory(at: EntryPath(bytes: path), item.status)
            return true
        }

        func leave(_ directory: WalkedDirectory) throws {
            guard !directory.path.isEmpty else { return archiver.root = directory }
            try archiver.take(archiver.entries.admitDirectory(directory, from: base), time)
        }

        func passesOver(_ item: SourceItem) throws -> Bool {
            guard let reason = filter.reason(item.path, true) else { return false }
            // Its size is unknown.
            archiver.entries.omit(Omission(item.path, reason))
            return true
        }

        /// The omission of a directory that the container's owner can't read or enter.
        private func unreadable(_ item: SourceItem, _ opened: OpenFile) throws -> Omission? {
            let found = try archiver.entries.unreadable(
                item.name,
                in: item.directory,
                item.status,
                at: item.path,
                bytes: 0
            )
            guard let found else { return nil }
            return Omission(item.path, found.reason, bytes: try archiver.measure(opened))
        }

        private func omit(_ path: [UInt8], _ status: FileStatus, _ reason: Omission.Reason) {
            let bytes = status.kind == .regular ? status.size : 0
            archiver.entries.omit(Omission(path, reason, bytes: bytes))
        }
    }

    private func measure(_ directory: OpenFile) throws -> UInt64 {
        do {
            var measure = SourceMeasure(selecting: nil, readingWith: statuses)
            try SourceWalker.walk(directory, on: operation, visiting: &measure)
            return measure.contentBytes
        } catch let error as ArchiveError where error.code != .damaged {
            // The directory is omitted anyway; the size of unreadable files stays uncounted.
            return 0
        }
    }
}

extension Omission {
    /// The omission of the item at `path`.
    init(_ path: [UInt8], _ reason: Reason, bytes: UInt64 = 0, detail: String? = nil) {
        self.init(path: path, reason: reason, bytes: bytes, detail: detail)
    }
}
