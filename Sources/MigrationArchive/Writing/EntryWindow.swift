internal import MigrationSystem

/// A window of entries, whose remaining data is read by the thread that makes the piece.
///
/// The remaining data is the content of files, and the proof that they still match their entries. Several
/// threads read at the same time.
package protocol EntryWindow: AnyObject, Sendable {
    /// The number of entries.
    var count: Int { get }

    /// The entry at `index` in the window's order.
    func entry(at index: Int) -> ArchiveEntry

    /// Whether something remains to be read for the entry at `index`.
    func isRead(at index: Int) -> Bool

    /// Reads a part of the entry at `index` into `bytes`.
    ///
    /// If the entry's headers are in the same piece, and the window doesn't know its attributes, it
    /// reads those too.
    ///
    /// - Returns: The attributes that the archive doesn't hold.
    /// - Throws: ``UnexpectedAttributes`` if there are attributes that the archive should hold,
    ///   which the headers then lack; errors of reading.
    func read(
        _ part: ContentPart,
        ofEntryAt index: Int,
        into bytes: inout [UInt8]
    ) throws -> [[UInt8]]

    /// Throws if the directory at `index` changed; called once everything in it was read.
    func checkDirectory(at index: Int) throws

    /// Reports attributes of the entry at `index` that the archive doesn't hold, once its piece is written.
    func report(_ attributes: [[UInt8]], ofEntryAt index: Int) throws

    /// A window of the same entries that knows the attributes of those from `index` on.
    func readingAttributes(from index: Int) throws -> any EntryWindow
}

/// The error of a window whose entries were assumed to have no attributes.
package struct UnexpectedAttributes: Error {
    /// Makes the error.
    package init() {}
}

/// A part of a file's content, with its range in a buffer; empty if the file only has to be
/// checked.
package struct ContentPart: Sendable {
    /// Where it begins in the file.
    package let offset: UInt64
    /// Its range in the buffer.
    package let range: Range<Int>
    /// Whether the entry's headers begin before it in the same piece.
    package let isFirst: Bool
}

// MARK: - The entries of a piece

/// The entries of a piece: those whose headers begin in it, and the parts to read for it.
struct PieceEntries {
    /// An entry in one of the windows.
    struct Entry {
        let window: Int
        let index: Int
        /// Where its headers begin in the piece.
        let start: Int
        let isDirectory: Bool
    }

    private(set) var windows: [any EntryWindow] = []
    private(set) var begun: [Entry] = []
    private var parts: [(window: Int, index: Int, part: ContentPart)] = []
    private var findings: [(window: Int, index: Int, attributes: [[UInt8]])] = []

    /// The bytes of content without whole pages of zeros.
    private(set) var dataBytes: UInt64 = 0

    /// How many of the entries that begin in it were rechecked, if they are directories.
    private var checkedCount = 0

    /// Where to lay out entries again if one of them has unexpected attributes.
    var start: LayoutPlace?

    /// An entry that begins in the piece.
    subscript(begun: Entry) -> ArchiveEntry { windows[begun.window].entry(at: begun.index) }

    /// Adds `entry`, which is at `index` of `window` and whose headers begin at `start`.
    mutating func begin(
        _ entry: ArchiveEntry,
        at index: Int,
        of window: any EntryWindow,
        from start: Int
    ) {
        begun.append(
            Entry(
                window: number(of: window),
                index: index,
                start: start,
                isDirectory: entry.kind.isDirectory
            )
        )
    }

    /// Adds a part of the entry at `index` of `window`, which is read when the piece is made.
    mutating func add(_ part: ContentPart, ofEntryAt index: Int, of window: any EntryWindow) {
        parts.append((number(of: window), index, part))
    }

    private mutating func number(of window: any EntryWindow) -> Int {
        if windows.last !== window { windows.append(window) }
        return windows.count - 1
    }

    /// Reads the parts into `bytes`.
    ///
    /// - Throws: ``LayoutChange`` if an entry has unexpected attributes; errors of reading;
    ///   `CancellationError`.
    mutating func read(into bytes: inout [UInt8], _ operation: MigrationOperation) throws {
        for (window, index, part) in parts {
            try operation.check()
            let attributes: [[UInt8]]
            do {
                attributes = try windows[window].read(part, ofEntryAt: index, into: &bytes)
            } catch is UnexpectedAttributes {
                guard let start else { throw UnexpectedAttributes() }
                throw LayoutChange(start: start)
            }
            if !attributes.isEmpty { findings.append((window, index, attributes)) }
            noteContent(bytes.span.extracting(part.range), from: part.offset)
        }
        parts = []
    }

    /// Counts content that begins at `offset` of its file.
    mutating func noteContent(_ content: Span<UInt8>, from offset: UInt64) {
        var zeros = ZeroPageCounter(from: offset)
        zeros.add(content)
        dataBytes += UInt64(content.count) - zeros.bytes
    }

    /// Checks the remaining directories again; everything before them must have been read.
    mutating func checkDirectories() throws {
        for entry in begun[checkedCount...] where entry.isDirectory {
            try windows[entry.window].checkDirectory(at: entry.index)
        }
        checkedCount = begun.count
    }

    /// Ends the entries, once all earlier ones have ended: checks directories again, and reports attributes that
    /// were not archived.
    mutating func end() throws {
        try checkDirectories()
        for (window, index, attributes) in findings {
            try windows[window].report(attributes, ofEntryAt: index)
        }
    }
}

// MARK: - Laying out again

/// A window in the order of the archive.
///
/// Safe because only the thread that appends entries changes it.
final class LaidWindow: @unchecked Sendable {
    var window: any EntryWindow
    var next: LaidWindow?

    init(_ window: any EntryWindow) { self.window = window }
}

/// Where a piece begins: in an entry of a window, or before it.
struct LayoutPlace {
    let window: LaidWindow
    let index: Int
    /// The number of the piece.
    let piece: Int
    /// How much of the entry's headers and content is in earlier pieces.
    let skipped: UInt64
    /// The content of all entries before the piece.
    let contentBytes: UInt64
}

/// The end of a piece whose entries were laid out wrongly.
struct LayoutChange: Error {
    /// Where entries have to be laid out again.
    let start: LayoutPlace
}

/// Entries of a piece with nothing left to read.
///
/// Safe because one thread at a time has a piece.
final class CompleteEntries: EntryWindow, @unchecked Sendable {
    private var entries: [ArchiveEntry] = []

    var count: Int { entries.count }

    func append(_ entry: ArchiveEntry) { entries.append(entry) }

    func entry(at index: Int) -> ArchiveEntry { entries[index] }

    func isRead(at index: Int) -> Bool { false }

    func read(_ part: ContentPart, ofEntryAt index: Int, into bytes: inout [UInt8]) -> [[UInt8]] {
        []
    }

    func checkDirectory(at index: Int) {}

    func report(_ attributes: [[UInt8]], ofEntryAt index: Int) {}

    func readingAttributes(from index: Int) -> any EntryWindow { self }
}
