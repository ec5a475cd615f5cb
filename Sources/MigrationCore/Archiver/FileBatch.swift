internal import MigrationArchive
internal import MigrationSystem

/// A few files of a run that are opened, and read where they are small, together.
///
/// Whatever goes wrong with a file leaves it unread: who archives it meets the error again. Only
/// that it changed is said at once, since nobody would see it again.
///
/// Safe because one thread at a time has a batch: it is handed on under a lock.
final class FileBatch: @unchecked Sendable {
    /// One file, and what became of it.
    struct File {
        let index: Int
        let path: EntryPath
        /// Why the file is left out, unopened.
        let reason: Omission.Reason?
        var reading = Reading.none
    }

    /// What was done with a file.
    enum Reading {
        case none
        /// It was being changed while it was read.
        case changed
        /// Too large to be read ahead: it is open, and was in that state before it is read.
        case opened(OpenFile, FileStatus)
        /// Read whole; its state was the same before and after.
        case read(FileStatus, FileAttributes, Range<Int>)
    }

    /// The most files in a batch.
    static let fileLimit = 32

    /// The largest file that is read ahead.
    static let largestFile = 32 * 1024

    /// The most large files that a batch holds open.
    private static let openLimit = 8

    private(set) var run: FileRun?
    private(set) var files: [File] = []

    /// Room for the content of as many files of the largest size; it takes no memory until written.
    private var bytes = unsafe [UInt8](unsafeUninitializedCapacity: fileLimit * largestFile) {
        _,
        count in count = fileLimit * largestFile
    }
    private var used = 0
    private var opened = 0

    /// Takes files from the place `next` of `run` on, as many as there is room for.
    func fill(
        from run: FileRun,
        at next: inout Int,
        leavingOut reason: (ByteString, _ isDirectory: Bool) -> Omission.Reason?
    ) {
        self.run = run
        (used, opened) = (0, 0)
        files.removeAll(keepingCapacity: true)
        while next < run.range.upperBound, files.count < Self.fileLimit {
            let path = run.path(at: next)
            files.append(
                File(index: next, path: EntryPath(bytes: path), reason: reason(path, false))
            )
            next += 1
        }
    }

    /// Lets go of the files.
    func clear() {
        files.removeAll(keepingCapacity: true)
        run = nil
    }

    /// The content of a file that was read.
    func content(_ range: Range<Int>) -> ArraySlice<UInt8> { bytes[range] }

    /// Opens and reads the files.
    func read(_ cancellation: CancellationFlag) {
        guard let run else { return }
        for place in files.indices where files[place].reason == nil {
            if cancellation.isCancelled { return }
            do throws(SystemError) {
                files[place].reading = try reading(of: files[place].index, in: run)
            } catch {
                files[place].reading = .none
            }
        }
    }

    private func reading(of index: Int, in run: FileRun) throws(SystemError) -> Reading {
        let file = try run.listing.openFile(at: index, in: run.directory.descriptor)
        let before = try file.status()
        guard before.kind == .regular else { return .none }
        if before.size > UInt64(Self.largestFile) {
            opened += 1
            return opened > Self.openLimit ? .none : .opened(OpenFile(file), before)
        }
        let end = used + Int(before.size)
        var position = used
        while position < end {
            let count = try file.read(into: &bytes, from: position, count: end - position)
            guard count > 0 else { return .changed }
            position += count
        }
        let attributes = try FileAttributes(of: file)
        guard try file.status().isUnchanged(since: before) else { return .changed }
        defer { used = end }
        return .read(before, attributes, used..<end)
    }
}
