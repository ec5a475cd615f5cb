public import Foundation
package import MigrationSystem

/// Writes an archive entry by entry: a header, entries with their content, and the hashes that
/// prove it complete.
///
/// Use it to archive data that is not in a container; to archive a container, use `MigrationHost`.
///
/// ```swift
/// let writer = try ArchiveWriter(creating: archive, header: header)
/// try writer.append(fileAt: folder, as: EntryPath("photos"))
/// try writer.append(fileAt: photo, as: EntryPath("photos/harbor.jpg"))
/// let summary = try writer.finish()
/// ```
///
/// Append entries in tree order: a directory before the entries in it, and the names in a directory in
/// the order of their bytes, which is the order of ``EntryPath/precedesInTree(_:)``. The archive may
/// store them in another order; a reader gets each entry once.
///
/// Calls block while the archive is written, and throw `CancellationError` once the calling task is
/// cancelled. Memory depends only on the number of threads. After an error other than from the
/// check of an entry, the writer can't be used any more. If it is released before ``finish()``, a
/// file is removed.
public final class ArchiveWriter {
    /// How an archive is written.
    public struct Options: Sendable {
        /// The zstd compression level, from 1 to 19.
        public var compressionLevel = 3

        /// The number of threads that compress, from 1 to 64; `nil` for one per processor.
        public var threadCount: Int?

        /// Who can decrypt the archive; `nil` for an unencrypted archive.
        public var encryption: ArchiveEncryption?

        /// Whether an existing file is replaced once the archive is complete.
        public var replacesExisting = false

        /// Makes the default options.
        public init() {}
    }

    /// Facts about a finished archive.
    public struct Summary: Sendable {
        /// How much the archive holds.
        public let totals: ArchiveTotals

        /// The hash that identifies the archive.
        public let fingerprint: Fingerprint

        /// The size of the archive in bytes.
        public let archiveBytes: UInt64

        /// The bytes of the tar stream.
        package let streamBytes: UInt64

        /// The bytes of an earlier archive's beginning that were kept.
        package let keptBytes: UInt64

        /// The bytes of the compressed stream; a piece that compression doesn't make smaller counts
        /// uncompressed.
        package let compressedStreamBytes: UInt64
    }

    /// The maximum size of headers and content in an archive.
    package static let longestStream = ArchiveIndex.longestStream

    private static let zeroBlock = [UInt8](repeating: 0, count: TarFormat.blockSize)
    /// The maximum number of windows in a piece, for paths of the usual length.
    private static let usualWindows = 3

    private let frames: FrameWriter
    private var step: OrderedStep<WrittenPiece, WrittenPiece>
    /// The extra metadata that the archive holds.
    private let extra: ExtraMetadata
    private let operation: MigrationOperation
    /// The file, if this writer made it; it gets its name when the archive is finished.
    private var file: PendingFile?
    /// Checks the entries of a client; this project's own operations check their entries themselves.
    private var order: EntryOrder?

    private let encoder = TarEntryEncoder()
    private var chunk: FrameBuffer
    /// The entries in the chunk.
    private var entries = PieceEntries()
    /// Those of them that are not in windows, and the window that they are in.
    private var complete = CompleteEntries()
    private var completeWindow: LaidWindow
    private var scratch: [UInt8] = []
    /// The chunks that were submitted.
    private var submittedCount = 0

    /// The window that was appended last.
    private var lastWindow: LaidWindow?
    /// Whether attributes are looked up before windows are laid out.
    private var asksForAttributes = false
    /// The content laid out so far, and how much of it was reported as progress.
    private var (contentBytes, notedBytes) = (UInt64(0), UInt64(0))

    /// Receives the number of additional content bytes of windows, on the thread that appends them.
    package var progressHandler: ((Int) -> Void)?

    /// Receives each entry once its headers are written, on the thread that writes them.
    package var entryHandler: (@Sendable (ArchiveEntry) -> Void)? {
        get { frames.entryHandler }
        set { frames.entryHandler = newValue }
    }

    private var isFinished = false
    private var failure: (any Error)?

    /// Begins an archive, which the threads of `operation` compress.
    ///
    /// Without an `output` nothing is compressed or written, and only the fingerprint is computed. If the
    /// output is a file that holds `beginning`, the identical part stays in it. The entries must come in tree order
    /// if `checksOrder` is set.
    package init(
        writingTo output: ArchiveOutput?,
        goingOnFrom beginning: ArchiveBeginning? = nil,
        header: ArchiveHeader,
        level: Int,
        checksOrder: Bool = false,
        on operation: MigrationOperation
    ) throws {
        self.operation = operation
        order = checksOrder ? EntryOrder() : nil
        extra = header.extraMetadata
        frames = try FrameWriter(
            to: output,
            goingOnFrom: beginning,
            after: HeaderFrame(of: header),
            level: level
        )
        step = frames.makeStep(of: operation)
        chunk = frames.takeChunk()
        completeWindow = LaidWindow(complete)
    }

    deinit {
        abandon()
    }
}

@available(*, unavailable)
extension ArchiveWriter: Sendable {}

// MARK: - Beginning

extension ArchiveWriter {
    /// Begins an archive in a new file, readable by its owner alone.
    ///
    /// The file appears under its name when ``finish()`` returns, never incomplete.
    ///
    /// - Parameters:
    ///   - url: The file.
    ///   - header: The description of the data, which the archive begins with.
    ///   - options: How the archive is written.
    /// - Throws: ``ArchiveError`` of code `outputFailed` if the file can't be made, or exists and
    ///   must not be replaced, and of code `keyInvalid` if the encryption can't be used.
    public convenience init(
        creating url: URL,
        header: ArchiveHeader,
        options: Options = Options()
    ) throws {
        let made = try Self.makeFile(at: url, replacesExisting: options.replacesExisting)
        let open = made.file
        var pending: PendingFile? = made
        do {
            try self.init(header: header, options: options) { () throws(SystemError) in
                try open.descriptor.duplicate()
            }
        } catch {
            pending.take()?.discard()
            throw error
        }
        file = pending.take()
    }

    private static func makeFile(
        at url: URL,
        replacesExisting: Bool
    ) throws(ArchiveError) -> PendingFile {
        do throws(SystemError) {
            return try PendingFile.make(
                at: BytePath(resolving: BytePath(of: url)),
                replacesExisting: replacesExisting
            )
        } catch {
            let path = PrintableText.escaping(BytePath(of: url))
            let problem = error.isExisting ? "the file exists already" : "the archive can't be made"
            throw ArchiveError(.outputFailed, "\(problem): \(path)", cause: error)
        }
    }

    /// Begins an archive that is written to an open descriptor, such as 1 for standard output.
    ///
    /// The descriptor stays open. Bytes that were written before a failure are not taken back.
    ///
    /// - Parameters:
    ///   - number: The number of the descriptor, which is open for writing.
    ///   - header: The description of the data, which the archive begins with.
    ///   - options: How the archive is written.
    /// - Throws: ``ArchiveError`` of code `outputFailed` if the descriptor can't be written to, and of
    ///   code `keyInvalid` if the encryption can't be used.
    public convenience init(
        descriptor number: Int32,
        header: ArchiveHeader,
        options: Options = Options()
    ) throws {
        try self.init(header: header, options: options) { () throws(SystemError) in
            try FileDescriptor.duplicate(ofNumber: number)
        }
    }

    private convenience init(
        header: ArchiveHeader,
        options: Options,
        opening open: () throws(SystemError) -> FileDescriptor
    ) throws {
        let operation = MigrationOperation(requesting: options.threadCount)
        let output: ArchiveOutput
        do throws(SystemError) {
            output = try ArchiveOutput(
                writing: open(),
                encryption: options.encryption,
                on: operation
            )
        } catch {
            throw ArchiveError(.outputFailed, "the archive can't be written", cause: error)
        }
        try self.init(
            writingTo: output,
            header: header,
            level: min(max(1, options.compressionLevel), 19),
            checksOrder: true,
            on: operation
        )
    }
}

// MARK: - Entries

extension ArchiveWriter {
    /// Appends an entry that has no content: a directory, a link or an empty file.
    ///
    /// The target of a hard link must be an earlier file; that is checked when the archive is
    /// restored. The link has the time of its file; the archive holds only the whole seconds of its
    /// own time.
    ///
    /// - Parameter entry: The entry, whose size is 0 if it is a file.
    /// - Throws: ``ArchiveError`` of code `unrepresentable` if no archive can hold the entry or it is not
    ///   in tree order, of code `entryExists` if its path was appended before, and of codes
    ///   `outputFailed` and `outOfSpace`; `CancellationError`.
    public func append(_ entry: ArchiveEntry) throws {
        precondition(entry.contentSize == 0, "a file's content is missing")
        try take(entry) { _ in }
    }

    /// Appends a file with its whole content.
    ///
    /// - Parameters:
    ///   - entry: The file's entry, which names the size of the content.
    ///   - content: The content.
    /// - Throws: What ``append(_:)`` throws.
    public func append(_ entry: ArchiveEntry, content: Span<UInt8>) throws {
        precondition(UInt64(content.count) == entry.contentSize, "the content has another size")
        var position = 0
        try take(entry) { count in
            chunk.append(content.extracting(position..<position + count))
            position += count
        }
    }

    /// Appends the file, directory or symbolic link at `url`, with its permissions, time and
    /// `user.*` attributes, and the extra metadata that the header names.
    ///
    /// The content of a directory is not appended. A link is not followed. A second name of a file
    /// becomes a separate file.
    ///
    /// - Parameters:
    ///   - url: The file, directory or link.
    ///   - path: The path that it gets in the archive.
    /// - Returns: The entry that was appended.
    /// - Throws: What ``append(_:)`` throws; ``ArchiveError`` of code `sourceUnreadable` if it can't be
    ///   read, of code `sourceChanged` if it changes meanwhile, and of code `unrepresentable` if it is
    ///   neither a file nor a directory nor a link.
    @discardableResult
    public func append(fileAt url: URL, as path: EntryPath) throws -> ArchiveEntry {
        let file = try ArchivableFile.open(url, as: path, holding: extra)
        if let content = file.content {
            try append(file.entry, contentFrom: content.descriptor)
        } else {
            try take(file.entry) { _ in }
        }
        try reportingFailure { try file.checkUnchanged() }
        return file.entry
    }

    /// Appends a file with its content, read from the position of `descriptor`.
    ///
    /// - Throws: ``ArchiveError`` of code `sourceChanged` if the file holds fewer bytes than the entry
    ///   says, and of code `sourceUnreadable` if reading fails. The archive must then be abandoned.
    package func append(
        _ entry: ArchiveEntry,
        contentFrom descriptor: borrowing FileDescriptor
    ) throws {
        try take(entry) { count in
            try checkCancellation()
            let read: Int
            do throws(SystemError) {
                read = try descriptor.read(into: &chunk.bytes, from: chunk.count, count: count)
            } catch {
                let path = entry.path
                throw ArchiveError(.sourceUnreadable, "can't be read", entry: path, cause: error)
            }
            guard read > 0 else { throw Self.shortened(entry) }
            chunk.count += read
        }
    }

    /// Appends a file with content that comes in pieces.
    ///
    /// - Parameters:
    ///   - entry: The file's entry, which names the size of the content.
    ///   - next: Returns the next bytes: at least one, and at most the given number.
    /// - Throws: What `next` throws; ``ArchiveError`` of code `sourceChanged` if it returns none.
    package func append(
        _ entry: ArchiveEntry,
        pieces next: (Int) throws -> ArraySlice<UInt8>
    ) throws {
        try take(entry) { count in
            try checkCancellation()
            let piece = try next(count)
            guard !piece.isEmpty else { throw Self.shortened(entry) }
            chunk.append(piece.span)
        }
    }

    /// Appends an entry, or holds it back if it is a directory; `fill` puts some of the next bytes of its
    /// content into the chunk, at most the given number.
    private func take(_ entry: ArchiveEntry, fill: (Int) throws -> Void) throws {
        let ready = try admit(entry)
        try reportingFailure { for entry in ready { try layOut(entry, fill) } }
    }

    /// Takes an entry of a client; returns the entries to write before more are taken.
    private func admit(_ entry: ArchiveEntry) throws -> [ArchiveEntry] {
        precondition(!isFinished, "the archive is finished")
        if order == nil { return [entry] }
        if let failure { throw failure }
        try checkCancellation()
        return try order?.take(entry) ?? [entry]
    }

    /// Throws `CancellationError` if the operation or a client's task is cancelled.
    private func checkCancellation() throws {
        if order != nil, Task.isCancelled { operation.cancellation.cancel() }
        try operation.check()
    }

    private static func shortened(_ entry: ArchiveEntry) -> ArchiveError {
        ArchiveError(.sourceChanged, "became shorter while it was read", entry: entry.path)
    }

    /// Remembers an error of `body`, which leaves the archive incomplete.
    private func reportingFailure(_ body: () throws -> Void) throws {
        do {
            try body()
        } catch {
            failure = error
            throw error
        }
    }
}

// MARK: - Entries in windows

extension ArchiveWriter {
    /// Appends the entries of a window; their content is read on any thread, at the latest by ``settle()``.
    ///
    /// - Throws: Errors of the window, of this or an earlier one; ``ArchiveError`` of code `unrepresentable` if no
    ///   archive can hold an entry, and of codes `outputFailed` and `outOfSpace`; `CancellationError`. The archive
    ///   must then be abandoned.
    package func append(_ window: any EntryWindow) throws {
        let laid = LaidWindow(asksForAttributes ? try window.readingAttributes(from: 0) : window)
        lastWindow?.next = laid
        lastWindow = laid
        try layingOutAgain { try layOut(laid) }
    }

    /// Reads all unread content of the windows so far, and writes every piece but the last.
    package func settle() throws {
        try layingOutAgain { try readAll() }
        noteProgress()
    }

    /// Reads all unread content so far, and from now on reads attributes first, because content may
    /// be gone when a later window is laid out.
    package func readBeforeLayout() throws {
        guard !asksForAttributes else { return }
        try settle()
        asksForAttributes = true
    }

    private func readAll() throws {
        try step.settle()
        try entries.read(into: &chunk.bytes, operation)
        // The content read so far may be gone from now on.
        try entries.checkDirectories()
    }

    /// Runs `body`, and lays out a piece again if it was wrong: entries are assumed to have no
    /// attributes, because reading attributes takes an open file.
    private func layingOutAgain(_ body: () throws -> Void) throws {
        do {
            try body()
        } catch let change as LayoutChange {
            asksForAttributes = true
            try layOut(again: change.start)
        }
    }

    private func layOut(again start: LayoutPlace) throws {
        step.abandon()
        step = frames.makeStep(of: operation)
        submittedCount = start.piece
        contentBytes = start.contentBytes
        beginChunk()
        var (laid, first, skipped) = (LaidWindow?.some(start.window), start.index, start.skipped)
        while let window = laid {
            // The part in the previous piece was checked with that piece.
            let unknown = skipped == 0 ? first : first + 1
            window.window = try window.window.readingAttributes(from: unknown)
            try layOut(window, from: first, skipping: skipped)
            (laid, first, skipped) = (window.next, 0, 0)
        }
        try readAll()
    }

    private func layOut(
        _ laid: LaidWindow,
        from first: Int = 0,
        skipping skipped: UInt64 = 0
    ) throws {
        let window = laid.window
        for index in first..<window.count {
            try operation.check()
            let skipped = index == first ? skipped : 0
            try layOut(index, of: laid, index == 0 ? .first : .further, skipping: skipped) { part in
                if window.isRead(at: index) { entries.add(part, ofEntryAt: index, of: window) }
            }
        }
    }

    private func noteProgress() {
        progressHandler?(Int(max(contentBytes, notedBytes) - notedBytes))
        notedBytes = max(contentBytes, notedBytes)
    }
}

// MARK: - Ending

extension ArchiveWriter {
    /// Completes the archive.
    ///
    /// A file gets its name once its bytes are on the disk. Bytes that were written to a descriptor are
    /// not synchronized.
    ///
    /// - Returns: Facts about the archive.
    /// - Throws: The error of an entry that could not be written; ``ArchiveError`` of codes
    ///   `outputFailed` and `outOfSpace`; `CancellationError`. Then no archive is left.
    public func finish() throws -> Summary {
        precondition(!isFinished, "the archive is finished")
        do {
            if let failure { throw failure }
            try checkCancellation()
            for directory in order?.takeRest() ?? [] { try layOut(directory) { _ in } }
            let summary = try completeStream()
            isFinished = true
            try commit()
            return summary
        } catch {
            if order != nil { abandon() }
            throw error
        }
    }

    private func completeStream() throws -> Summary {
        try settle()
        for _ in 1...2 {
            if chunk.free == 0 { try nextChunk() }
            chunk.append(Self.zeroBlock.span)
        }
        try submitChunk(isLast: true)
        try step.settle()
        return try frames.finish()
    }

    private func commit() throws(ArchiveError) {
        guard let file = file.take() else { return }
        do throws(SystemError) {
            try file.commit()
        } catch {
            throw ArchiveError(.outputFailed, "the archive can't be completed", cause: error)
        }
    }

    /// Ends the work without an archive.
    package func abandon() {
        guard !isFinished else { return }
        isFinished = true
        step.abandon()
        frames.abandon()
        file.take()?.discard()
    }
}

// MARK: - The stream

extension ArchiveWriter {
    /// Lays out an entry that is in no window; `fill` puts some of the next bytes of its content into the
    /// chunk, at most the given number.
    private func layOut(_ entry: ArchiveEntry, _ fill: (Int) throws -> Void) throws {
        if chunk.free == 0 { try nextChunk() }
        complete.append(entry)
        try layOut(complete.count - 1, of: completeWindow, .first) { part in
            let range = part.range
            while chunk.count < range.upperBound { try fill(range.upperBound - chunk.count) }
            chunk.withContent(from: range.lowerBound) { entries.noteContent($0, from: part.offset) }
        }
    }

    /// Lays out an entry whose first `skipped` bytes are in earlier pieces; `take` gets its content in parts.
    private func layOut(
        _ index: Int,
        of laid: LaidWindow,
        _ place: WindowPlace,
        skipping skipped: UInt64 = 0,
        _ take: (ContentPart) throws -> Void
    ) throws {
        let window = laid.window
        let entry = window.entry(at: index)
        try encodeHeader(of: entry)
        // Moved out meanwhile, because a property's span can't outlive the access to it.
        var headers: [UInt8] = []
        swap(&headers, &scratch)
        defer { swap(&headers, &scratch) }
        let end = UInt64(headers.count) + TarFormat.padded(entry.contentSize)
        var position = skipped
        repeat {
            if chunk.free == 0 { try nextChunk() }
            if chunk.count == 0 {
                entries.start = LayoutPlace(
                    window: laid,
                    index: index,
                    piece: submittedCount,
                    skipped: position,
                    contentBytes: contentBytes
                )
            }
            if position == 0 {
                entries.begin(entry, at: index, of: window, from: chunk.count)
                chunk.marks?.append(EntryMark(of: entry, place))
            }
            position = try layOutPart(of: entry, behind: headers, from: position, take)
            if position == UInt64(headers.count) + entry.contentSize {
                chunk.append(Self.zeroBlock.span.extracting(first: Int(end - position)))
                position = end
            }
        } while position < end
    }

    /// Lays out an entry's headers and content from `position`, as far as they fit into the chunk; returns
    /// where they continue.
    private func layOutPart(
        of entry: ArchiveEntry,
        behind headers: [UInt8],
        from start: UInt64,
        _ take: (ContentPart) throws -> Void
    ) throws -> UInt64 {
        var position = start
        let headSize = UInt64(headers.count)
        if position < headSize {
            let rest = headers.span.extracting(droppingFirst: Int(position))
            let part = rest.extracting(first: min(rest.count, chunk.free))
            chunk.append(part)
            position += UInt64(part.count)
        }
        let offset = max(position, headSize) - headSize
        let rest = position < headSize ? 0 : entry.contentSize - offset
        let count = Int(min(UInt64(chunk.free), rest))
        let range = chunk.count..<chunk.count + count
        if count > 0 || start == 0 {
            try take(ContentPart(offset: offset, range: range, isFirst: start == 0))
        }
        chunk.count = range.upperBound
        contentBytes += UInt64(count)
        return position + UInt64(count)
    }

    /// Puts the headers of `entry` into `scratch`.
    private func encodeHeader(of entry: ArchiveEntry) throws {
        if let reason = entry.mismatch(with: extra) {
            let message = "can't be archived: \(reason)"
            throw ArchiveError(.unrepresentable, message, entry: entry.path)
        }
        scratch.removeAll(keepingCapacity: true)
        try encoder.encode(entry, to: &scratch)
    }

    private func nextChunk() throws {
        try submitChunk()
        beginChunk()
        noteProgress()
    }

    /// Submits the chunk, which then belongs to another thread; waits until there may be another one.
    ///
    /// - Throws: The first error in the order of the pieces, which may be a ``LayoutChange``.
    private func submitChunk(isLast: Bool = false) throws {
        guard submittedCount < ArchiveIndex.frameLimit else {
            throw ArchiveError(.unrepresentable, "an archive holds at most 1 TiB")
        }
        try step.submit(WrittenPiece(number: submittedCount, chunk, entries, isLast: isLast))
        submittedCount += 1
        if !isLast { try step.waitForRoom() }
        // So many windows must be full of long paths, which take as much memory as the piece.
        if entries.windows.count > Self.usualWindows { try step.settle() }
    }

    private func beginChunk() {
        chunk = frames.takeChunk()
        (entries, complete) = (PieceEntries(), CompleteEntries())
        completeWindow = LaidWindow(complete)
    }
}
