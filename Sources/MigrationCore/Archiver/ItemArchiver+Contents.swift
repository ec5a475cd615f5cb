internal import MigrationArchive
internal import MigrationSystem

/// Says what is archived of a tree that is walked.
struct EntryFilter {
    /// Why the entry at a path is left out; `nil` where it is not.
    let reason: (ByteString, _ isDirectory: Bool) -> Omission.Reason?

    /// Whether every file right in the directory at a path is kept, whatever its name.
    let keepsAllFiles: (ByteString) -> Bool
}

extension ItemArchiver {
    /// Appends everything in the container at `root` that `selection` keeps, each at its own path.
    func appendContents(of root: OpenFile, selecting selection: ContainerSelection) throws {
        let filter = EntryFilter(
            reason: selection.reasonForLeavingOut,
            keepsAllFiles: selection.keepsAllFiles
        )
        try appendContents(of: root.descriptor.duplicate(), base: [], filter)
    }

    /// Appends everything in `directory` that `filter` keeps; its own path in the archive is `base`.
    func appendContents(
        of directory: consuming FileDescriptor,
        base: ByteString,
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

        static var takesRuns: Bool { true }

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
            if archiver.reader != nil, let omission = try unreadable(item, opened) {
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
            // Nobody can tell its bytes.
            try archiver.appendSoon(.omission(Omission(item.path, reason)))
            return true
        }

        /// The omission of a directory that the container's owner can't read or enter.
        private func unreadable(_ item: SourceItem, _ opened: OpenFile) throws -> Omission? {
            let found = try archiver.unreadable(
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
            // What can't be read here is left out anyway; its bytes stay uncounted.
            return 0
        }
    }
}

extension Omission {
    /// Says that the item at `path` is left out.
    init(_ path: ByteString, _ reason: Reason, bytes: UInt64 = 0, detail: String? = nil) {
        self.init(
            path: PrintableText.escaping(path),
            reason: reason,
            bytes: bytes,
            detail: detail
        )
    }
}
