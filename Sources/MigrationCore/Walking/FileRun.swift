internal import MigrationArchive
internal import MigrationSystem

/// Files that follow each other in a directory; only their names are known.
package struct FileRun {
    /// The open directory that holds them, and its status before it was listed.
    let directory: OpenFile
    let status: FileStatus

    /// The directory's path in the archive; empty for the root.
    let path: [UInt8]

    /// The directory's names.
    let listing: DirectoryListing

    /// The files' range in the listing.
    private(set) var range: Range<Int>

    /// The path of the file at `index` in the archive.
    func path(at index: Int) -> [UInt8] { listing.path(at: index, beneath: path) }

    func status(at index: Int) throws(ArchiveError) -> FileStatus {
        do {
            return try listing.status(at: index, in: directory.descriptor)
        } catch {
            throw SourceItem.failure(error, at: path(at: index))
        }
    }

    /// The file at `index`, which has this status.
    func item(at index: Int, _ status: FileStatus) -> SourceItem {
        let path = path(at: index)
        return SourceItem(
            directory: directory,
            name: path[(self.path.isEmpty ? 0 : self.path.count + 1)...],
            sourcePath: .known(path),
            status: status
        )
    }
}

// MARK: - All statuses

extension FileRun {
    /// The files that a thread takes at a time; a run of fewer than two such slices is not shared.
    private static let sliceLength = 128

    /// Calls `body` with each file and its status, in their order.
    ///
    /// In a directory of thousands of small files, a walk spends most of its time on reading statuses. So if
    /// `operation` has more than two threads, they read those of a long run. A second thread has pieces to compress
    /// meanwhile, but not a third.
    ///
    /// If the statuses are `known`, they are not read.
    ///
    /// - Throws: `ArchiveError` if a status can't be read; errors of `body`; `CancellationError`.
    func forEachStatus(
        known: [FileStatus]?,
        on operation: MigrationOperation,
        _ body: (_ index: Int, FileStatus) throws -> Void
    ) throws {
        if let known {
            for (index, status) in zip(range, known) { try body(index, status) }
            return
        }
        guard operation.threadCount > 2, range.count >= 2 * Self.sliceLength else {
            return try forEachStatus(in: range, body)
        }
        var slices = self.slices[...]
        let depth = 2 * operation.threadCount
        let step = OrderedStep(of: operation, depth: depth, source: { slices.popFirst() }) {
            { (slice: FileRun) in (slice.range, slice.readableStatuses) }
        }
        while let (range, statuses) = try step.next() {
            step.release()
            for (index, status) in zip(range, statuses) { try body(index, status) }
            // After an error there are fewer, and this call finds the same error again.
            try forEachStatus(in: range.dropFirst(statuses.count), body)
        }
    }

    private func forEachStatus(
        in range: Range<Int>,
        _ body: (Int, FileStatus) throws -> Void
    ) throws {
        for index in range { try body(index, try status(at: index)) }
    }

    private var slices: [FileRun] {
        stride(from: range.lowerBound, to: range.upperBound, by: Self.sliceLength).map { start in
            var slice = self
            slice.range = start..<min(start + Self.sliceLength, range.upperBound)
            return slice
        }
    }

    /// The status of each file up to the first whose status can't be read.
    private var readableStatuses: [FileStatus] {
        var statuses: [FileStatus] = []
        statuses.reserveCapacity(range.count)
        for index in range {
            // The caller reads it again, and reports the error.
            guard let status = try? status(at: index) else { break }
            statuses.append(status)
        }
        return statuses
    }
}
