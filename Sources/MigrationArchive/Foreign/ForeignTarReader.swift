internal import MigrationSystem

/// Reads another program's tar file: lenient about its format, as strict as elsewhere about safety.
///
/// Old headers, GNU long names, pax headers and GNU's sparse files are read. Devices, FIFOs, parts of
/// multi-volume archives and everything ambiguous end the reading with an error.
final class ForeignTarReader: EntryReader {
    private let stream: TarStream
    private var headers: ForeignHeaderReader
    private var current: Content?
    private var omissions: [EntryOmission] = []
    private var isFinished = false
    private var contentBytes: UInt64 = 0
    private var lastPath: EntryPath?
    /// The last entry, if it is a hard link that claims content.
    private var linkWithSize: EntryPath?

    /// Whether an entry is the `AppDataInfo.plist` of an `.xcappdata` bundle, as which Xcode
    /// downloads a container.
    private(set) var holdsAppDataBundle = false

    private(set) var entryOffset: UInt64 = 0
    private(set) var storedSize: UInt64 = 0

    private struct Content {
        var stored: UInt64
        var padding: UInt64
        let map: SparseMap?
        let path: EntryPath
    }

    /// The extra metadata that entries get.
    private let extra: ExtraMetadata

    init(reading stream: TarStream, holding extra: ExtraMetadata = []) {
        self.stream = stream
        self.extra = extra
        headers = ForeignHeaderReader(reading: stream)
    }

    var lacksEndMark: Bool { headers.lacksEndMark }

    /// Whether bytes follow the end mark that belong to no entry.
    var hasTrailer: Bool { headers.hasTrailer }

    func next() throws -> ArchiveEntry? {
        try readContent { _, _ in }
        do {
            return try nextEntry()
        } catch let error as ArchiveError {
            throw error.following(lastPath)
        }
    }

    private func nextEntry() throws -> ArchiveEntry? {
        // Omissions of an earlier entry that were not taken are dropped, so that they don't pile up.
        omissions = []
        while !isFinished {
            let link = linkWithSize.take()
            let next: ForeignHeaderReader.Header?
            do {
                next = try headers.next()
            } catch let error as ArchiveError where link != nil && error.code == .damaged {
                throw ArchiveError(
                    .refused,
                    "a hard link that has content: readers differ about it, so it can hide entries",
                    entry: link,
                    offset: entryOffset
                )
            }
            guard let header = next else { break }
            entryOffset = header.offset
            guard let entry = try makeEntry(of: header) else { continue }
            lastPath = entry.path
            holdsAppDataBundle = holdsAppDataBundle || entry.isAppDataInfo
            return entry
        }
        isFinished = true
        return nil
    }

    func readContent(_ body: (UInt64, Span<UInt8>) throws -> Void) throws {
        guard let content = current else { return }
        current = nil
        do {
            try read(content, body)
        } catch let error as ArchiveError {
            throw error.about(content.path)
        }
    }

    private func read(
        _ content: Content,
        _ body: (UInt64, Span<UInt8>) throws -> Void
    ) throws {
        let extents = content.map?.extents ?? [SparseMap.Extent(offset: 0, count: content.stored)]
        for extent in extents {
            var position = extent.offset
            try stream.read(extent.count) { piece in
                try body(position, piece)
                position += UInt64(piece.count)
            }
        }
        try stream.skip(content.padding)
    }

    func takeOmissions() -> [EntryOmission] {
        defer { omissions = [] }
        return omissions
    }
}

// MARK: - Entries

extension ForeignTarReader {
    /// Makes the entry of a header; `nil` for the root itself, which is not restored.
    private func makeEntry(of header: ForeignHeaderReader.Header) throws -> ArchiveEntry? {
        let parser = ForeignEntryParser(
            block: header.block,
            headers: header.headers,
            globalTime: headers.globalTime,
            holding: extra
        )
        do {
            return try makeEntry(of: header, parser: parser)
        } catch let problem as ForeignEntryParser.Problem {
            throw ArchiveError(
                problem.isMalformed ? .damaged : .refused,
                problem.reason,
                entry: EntryPath(bytes: parser.rawPath),
                offset: header.offset
            )
        }
    }

    private func makeEntry(
        of header: ForeignHeaderReader.Header,
        parser: ForeignEntryParser
    ) throws -> ArchiveEntry? {
        let stored = try parser.storedSize()
        try checkIsThere(stored, of: EntryPath(bytes: parser.rawPath))
        let entryPath = try parser.path()
        var rest = stored
        let map = try sparseMap(of: header, stored: &rest)
        let kind = try parser.kind(size: map?.realSize ?? stored)
        if case .hardLink = kind, try parser.claimedSize() > 0 { linkWithSize = entryPath }
        guard let path = entryPath else {
            guard kind == .directory else {
                throw ForeignEntryParser.Problem(refused: "the root is not a directory")
            }
            omissions = try rootOmissions(parser)
            return nil
        }
        let (attributes, dropped) = try parser.attributes(of: kind)
        omissions += Self.omissions(of: path, headers.takeGlobalAttributes() + dropped)
        storedSize = rest
        if case .file(let size) = kind {
            try count(size)
            let padding = TarFormat.padded(stored) - stored
            current = Content(stored: rest, padding: padding, map: map, path: path)
        }
        return ArchiveEntry(
            path: path,
            kind: kind,
            permissions: try parser.permissions(),
            modificationTime: try parser.modificationTime(),
            extendedAttributes: attributes,
            owner: try parser.owner()
        )
    }

    /// The root's attributes and special permissions, which the destination does not get.
    private func rootOmissions(
        _ parser: ForeignEntryParser
    ) throws(ForeignEntryParser.Problem) -> [EntryOmission] {
        let path = EntryPath(".")
        let (kept, dropped) = try parser.attributes(of: .directory)
        let special = try parser.permissions() & 0o7000
        return Self.omissions(of: path, kept.map(\.name) + dropped)
            + (special == 0 ? [] : [EntryOmission(path: path, kind: .specialPermissions(special))])
    }

    private static func omissions(of path: EntryPath, _ attributes: [[UInt8]]) -> [EntryOmission] {
        attributes.map { EntryOmission(path: path, kind: .extendedAttribute(name: shortened($0))) }
    }

    /// Cuts a name to the longest attribute name that a file system accepts, for a report.
    private static func shortened(_ name: [UInt8]) -> [UInt8] {
        let limit = 255
        return name.count <= limit ? name : [UInt8](name.prefix(limit)) + "\u{2026}".utf8
    }

    /// Checks that a file holds the bytes that an entry claims, before anything is restored from them.
    private func checkIsThere(_ stored: UInt64, of path: EntryPath) throws {
        guard let size = stream.size, stored > size - min(size, stream.offset) else { return }
        let message = "the archive ends in an entry of \(stored) bytes"
        throw ArchiveError(.truncated, message, entry: path, offset: entryOffset)
    }

    /// Counts a file's bytes: holes cost nothing to claim, and sums of sizes must not overflow.
    private func count(_ size: UInt64) throws(ForeignEntryParser.Problem) {
        let (total, overflow) = contentBytes.addingReportingOverflow(size)
        guard !overflow, total <= UInt64(Int64.max) else {
            let reason = "the files claim more bytes than can be counted"
            throw ForeignEntryParser.Problem(refused: reason)
        }
        contentBytes = total
    }

    private func sparseMap(
        of header: ForeignHeaderReader.Header,
        stored: inout UInt64
    ) throws -> SparseMap? {
        let parser = SparseParser(block: header.block, headers: header.headers)
        guard let form = try parser.form() else { return nil }
        let extents = try parser.extents(form, from: stream, stored: &stored)
        guard let extents, let size = parser.realSize(form),
            let map = SparseMap(extents: extents, realSize: size), map.storedSize == stored
        else {
            throw ForeignEntryParser.Problem(malformed: "a sparse file's map is malformed")
        }
        return map
    }
}

extension ArchiveEntry {
    /// Whether the entry is at the top of an `.xcappdata` bundle, or of a tar file of its content.
    fileprivate var isAppDataInfo: Bool {
        let names = path.components
        return (1...2).contains(names.count)
            && names.last?.elementsEqual("AppDataInfo.plist".utf8) ?? false
            && (names.count == 1
                || names.first.map { $0.suffix(10).elementsEqual(".xcappdata".utf8) } ?? false)
    }
}
