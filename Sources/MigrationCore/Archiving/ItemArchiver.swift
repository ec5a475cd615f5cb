internal import Foundation
internal import MigrationArchive
internal import MigrationSystem

/// Reads items of a source tree and archives them in order.
final class ItemArchiver {
    /// Turns the items into entries, and collects the facts for the report.
    let entries: EntryArchiver

    let cancellation: CancellationFlag
    private var queue: ItemQueue

    /// Archives with `writer`; `threadCount` further threads read small files ahead.
    init(
        writingTo writer: ArchiveWriter,
        outputIdentity: FileStatus.Identity?,
        progress: Progress?,
        threadCount: Int = 0,
        isStrict: Bool = false,
        cancellation: CancellationFlag
    ) {
        entries = EntryArchiver(
            writingTo: writer,
            outputIdentity: outputIdentity,
            progress: progress,
            isStrict: isStrict
        )
        queue = ItemQueue(threadCount: threadCount, cancellation: cancellation)
        self.cancellation = cancellation
    }
}

// MARK: - Queued items

extension ItemArchiver {
    /// Archives `item` after those of earlier calls, at the latest when ``settle()`` is called.
    func appendSoon(_ item: PendingItem) throws {
        if let batch = try queue.append(item) { try archive(batch) }
    }

    /// Archives everything that waits.
    func settle() throws {
        while let batch = try queue.takeFirst() { try archive(batch) }
    }

    private func archive(_ batch: ItemBatch) throws {
        var count = 0
        for element in batch.elements {
            try cancellation.check()
            switch element.item {
            case .file(let file): count += try entries.append(file, element.reading, of: batch)
            case .directory(let item, let opened): try entries.append(item, directory: opened)
            case .end(let directory): try directory.checkIsUnchanged()
            case .other(let item): try entries.append(item)
            case .omission(let omission): entries.omit(omission)
            }
        }
        entries.noteProgress(count)
        queue.putBack(batch)
    }
}

// MARK: - Items by name

extension ItemArchiver {
    /// Appends the item at `location` under `name`: a file, a link, or a directory with what is in
    /// it.
    ///
    /// - Returns: The bytes of content of a file; otherwise 0.
    /// - Throws: An error; the archive is unchanged only if ``EntryArchiver/entryCount`` is
    ///   unchanged.
    func appendItem(at location: SourceRoots.Location, as name: [UInt8]) throws -> UInt64 {
        let path = try Self.path(name)
        guard let itemName = location.name.map([UInt8].init) else {
            let status = try Self.reading(path) { () throws(SystemError) in
                try location.directory.descriptor.status()
            }
            let root = SourceItem(
                directory: location.directory,
                name: [],
                path: name,
                status: status
            )
            try appendDirectory(root, opened: location.directory, of: location)
            return 0
        }
        let status = try Self.reading(path) { () throws(SystemError) in
            try location.directory.descriptor.status(of: itemName)
        }
        let item = SourceItem(
            directory: location.directory,
            name: itemName,
            path: name,
            status: status
        )
        switch status.kind {
        case .regular, .symbolicLink:
            try entries.append(item)
            return status.kind == .regular ? status.size : 0
        case .directory:
            let directory = location.directory
            if try entries.omitsUnreadable(itemName, in: directory, status, at: name) { return 0 }
            let opened = try Self.reading(path) { () throws(SystemError) in
                OpenFile(try location.directory.descriptor.open(itemName, .directory))
            }
            try appendDirectory(item, opened: opened, of: location)
            return 0
        default:
            throw ArchiveError(
                .unrepresentable,
                "can't be archived: a \(status.kind)",
                entry: path
            )
        }
    }

    /// The path in the archive for an item that is appended as `name`.
    static func path(_ name: [UInt8]) throws(MigrationError) -> EntryPath {
        let path = EntryPath(bytes: name)
        guard let violation = path.violation else { return path }
        throw MigrationError(.invalidPath, "can't be archived: \(violation)", path: BytePath(name))
    }

    private func appendDirectory(
        _ item: SourceItem,
        opened: OpenFile,
        of location: SourceRoots.Location
    ) throws {
        let directory = try Self.reading(EntryPath(bytes: item.path)) { () throws(SystemError) in
            try opened.descriptor.duplicate()
        }
        try entries.append(item, directory: opened)
        let isContainer = location.kind == .container && location.name == nil
        let bookkeeping = item.path + [UInt8(ascii: "/")] + ContainerLayout.bookkeepingName
        let filter = EntryFilter(
            reason: { path, _ in isContainer && path == bookkeeping ? .leftOutByDefault : nil },
            keepsAllFiles: { !isContainer || $0 != item.path }
        )
        try appendContents(of: directory, base: item.path, filter)
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

    /// Whether every file right in the directory at a path is kept, whatever its name.
    let keepsAllFiles: ([UInt8]) -> Bool
}

extension ItemArchiver {
    /// Appends everything in the container at `root` that `selection` keeps, each at its own path.
    func appendContents(of root: OpenFile, selecting selection: ContainerSelection) throws {
        let filter = EntryFilter(
            reason: selection.reasonForOmitting,
            keepsAllFiles: selection.keepsAllFiles
        )
        try appendContents(of: root.descriptor.duplicate(), base: [], filter)
    }

    /// Appends everything in `directory` that `filter` keeps; its own path in the archive is
    /// `base`.
    func appendContents(
        of directory: consuming FileDescriptor,
        base: [UInt8],
        _ filter: EntryFilter
    ) throws {
        var walker = SourceWalker(root: directory, base: base, cancellation: cancellation)
        var visitor = Visitor(archiver: self, filter: filter)
        try walker.walk(&visitor)
        try settle()
    }

    private struct Visitor: SourceVisitor {
        let archiver: ItemArchiver
        let filter: EntryFilter

        static var visitsRuns: Bool { true }

        func visit(_ run: FileRun) throws {
            let keepsAll = filter.keepsAllFiles(run.path)
            for index in run.range {
                let file = run.file(at: index)
                if !keepsAll, let reason = filter.reason(file.path.bytes, false) {
                    try omit(try file.item(), reason)
                } else {
                    try archiver.appendSoon(.file(file))
                }
            }
        }

        func visit(_ item: SourceItem) throws {
            if let reason = filter.reason(item.path, false) {
                try omit(item, reason)
            } else {
                try archiver.appendSoon(.other(item))
            }
        }

        func enter(_ item: SourceItem, opened: OpenFile) throws -> Bool {
            if let reason = filter.reason(item.path, true) {
                let bytes = try archiver.measure(opened)
                try archiver.appendSoon(.omission(Omission(item.path, reason, bytes: bytes)))
                return false
            }
            if archiver.entries.reader != nil, let omission = try unreadable(item, opened) {
                try archiver.appendSoon(.omission(omission))
                return false
            }
            try archiver.appendSoon(.directory(item, opened: opened))
            return true
        }

        func leave(_ directory: WalkedDirectory) throws {
            try archiver.appendSoon(.end(of: directory))
        }

        func passesOver(_ item: SourceItem) throws -> Bool {
            guard let reason = filter.reason(item.path, true) else { return false }
            // Its size is unknown.
            try archiver.appendSoon(.omission(Omission(item.path, reason)))
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

        private func omit(_ item: SourceItem, _ reason: Omission.Reason) throws {
            let bytes = item.status.kind == .regular ? item.status.size : 0
            try archiver.appendSoon(.omission(Omission(item.path, reason, bytes: bytes)))
        }
    }

    private func measure(_ directory: OpenFile) throws -> UInt64 {
        do {
            let copy = try directory.descriptor.duplicate()
            var measure = SourceMeasure(selecting: nil)
            var walker = SourceWalker(root: copy, cancellation: cancellation)
            try walker.walk(&measure)
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
        self.init(
            path: PrintableText.escaping(path),
            reason: reason,
            bytes: bytes,
            detail: detail
        )
    }
}
