internal import MigrationSystem

/// Reads the tar file of another program: lenient in form, and as strict as the rest in what is safe.
///
/// Old headers, GNU long names, pax headers and GNU's sparse files are read. Devices, FIFOs, parts of
/// multi-volume archives and everything that can't be told for sure end the reading with an error.
final class ForeignTarReader: EntryReader {
    private let stream: TarStream
    private var globalTime: [UInt8]?
    private var current: Content?
    private var drops: [EntryDrop] = []
    private var isFinished = false
    private var contentBytes: UInt64 = 0
    private var lastPath: EntryPath?

    private(set) var entryOffset: UInt64 = 0
    private(set) var storedSize: UInt64 = 0

    /// Whether the stream ended behind an entry without the zeros that mark its end.
    private(set) var lacksEndMark = false

    private struct Content {
        var stored: UInt64
        var padding: UInt64
        let map: SparseMap?
        let path: EntryPath
    }

    init(reading stream: TarStream) {
        self.stream = stream
    }

    func next() throws -> ArchiveEntry? {
        try readContent { _, _ in }
        do {
            return try nextEntry()
        } catch let error as ArchiveError {
            throw error.following(lastPath)
        }
    }

    private func nextEntry() throws -> ArchiveEntry? {
        while !isFinished {
            guard let header = try nextHeader() else { break }
            entryOffset = header.offset
            guard let entry = try makeEntry(header) else { continue }
            lastPath = entry.path
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

    func takeDrops() -> [EntryDrop] {
        defer { drops = [] }
        return drops
    }
}

// MARK: - Headers

extension ForeignTarReader {
    private struct Header {
        let block: UstarBlock
        let headers: ForeignHeaders
        let offset: UInt64
    }

    /// Reads up to the next header of an entry; `nil` at the end of the stream.
    private func nextHeader() throws -> Header? {
        var headers = ForeignHeaders()
        while true {
            let offset = stream.offset
            guard let block = try stream.readBlock() else {
                try finishWithoutEndMark(behind: headers)
                return nil
            }
            if block.isZero {
                guard headers.isEmpty else {
                    throw ArchiveError(.damaged, "a header has no entry behind it", offset: offset)
                }
                try finish()
                return nil
            }
            guard block.hasValidChecksum else {
                throw ArchiveError(.damaged, "a header's checksum is wrong", offset: offset)
            }
            guard try take(block, into: &headers, at: offset) else {
                return Header(block: block, headers: headers, offset: offset)
            }
        }
    }

    /// Takes a header that only says something of the next one; returns `false` for an entry's own.
    private func take(
        _ block: UstarBlock,
        into headers: inout ForeignHeaders,
        at offset: UInt64
    ) throws -> Bool {
        switch block[UstarBlock.Field.typeFlag] {
        case TypeFlag.extendedHeader, TypeFlag.solarisExtendedHeader:
            let bytes = try readHeaderBody(block, after: headers.byteCount, at: offset)
            try takeRecords(bytes, into: &headers, at: offset)
        case TypeFlag.globalHeader:
            try takeGlobal(try readHeaderBody(block, after: 0, at: offset), at: offset)
        case TypeFlag.gnuLongName:
            headers.take(
                longName: try readHeaderBody(block, after: headers.byteCount, at: offset)
            )
        case TypeFlag.gnuLongLink:
            headers.take(
                longLink: try readHeaderBody(block, after: headers.byteCount, at: offset)
            )
        case TypeFlag.gnuVolumeLabel: break
        default: return false
        }
        return true
    }

    private func readHeaderBody(
        _ block: UstarBlock,
        after taken: Int,
        at offset: UInt64
    ) throws -> [UInt8] {
        guard let size = block.number(at: UstarBlock.Field.size), size >= 0,
            size <= TarFormat.recordLimit - taken
        else {
            throw ArchiveError(.damaged, "an extended header claims an absurd size", offset: offset)
        }
        let bytes = try stream.readBytes(Int(size))
        try stream.skip(TarFormat.padded(UInt64(size)) - UInt64(size))
        return bytes
    }

    private func takeRecords(
        _ bytes: [UInt8],
        into headers: inout ForeignHeaders,
        at offset: UInt64
    ) throws {
        do {
            let records = try PaxRecords(parsing: bytes)
            guard headers.take(records, byteCount: bytes.count) else {
                throw PaxRecords.Malformation(reason: "a sparse map is malformed")
            }
        } catch {
            let reason = (error as? PaxRecords.Malformation)?.reason ?? "\(error)"
            throw ArchiveError(
                .damaged,
                "an extended header is malformed: \(reason)",
                offset: offset
            )
        }
    }

    /// Takes a global header, which must say nothing that belongs to single entries.
    private func takeGlobal(_ bytes: [UInt8], at offset: UInt64) throws {
        var headers = ForeignHeaders()
        try takeRecords(bytes, into: &headers, at: offset)
        for key in ["path", "linkpath", "size", "GNU.sparse.name", "GNU.sparse.map"]
        where headers.value(key) != nil {
            throw ArchiveError(
                .refused,
                "a global header sets '\(key)' for every entry",
                offset: offset
            )
        }
        globalTime = headers.value(PaxKey.modificationTime) ?? globalTime
    }

    /// Takes the end of the stream behind a whole entry for the end of the tar file, as every tar does.
    private func finishWithoutEndMark(behind headers: ForeignHeaders) throws {
        let offset = stream.offset
        guard offset > 0 else {
            throw ArchiveError(.truncated, "the tar stream is empty", offset: offset)
        }
        guard headers.isEmpty else {
            throw ArchiveError(.truncated, "the tar stream ends behind a header", offset: offset)
        }
        lacksEndMark = true
    }

    /// Reads what follows the first zero block: zeros, as many as there are.
    private func finish() throws {
        let offset = stream.offset
        guard try stream.restIsZeros() else {
            throw ArchiveError(.damaged, "bytes follow the end of the tar file", offset: offset)
        }
    }
}

// MARK: - Entries

extension ForeignTarReader {
    /// Makes the entry of a header; `nil` for the root itself, which needs no entry.
    private func makeEntry(_ header: Header) throws -> ArchiveEntry? {
        let parser = ForeignEntryParser(header.block, header.headers, globalTime: globalTime)
        do {
            let stored = try parser.storedSize()
            try checkIsThere(stored, of: EntryPath(bytes: parser.rawPath))
            guard let (path, isDirectoryName) = try parser.path() else {
                try stream.skip(TarFormat.padded(stored))
                return nil
            }
            var rest = stored
            let map = try sparseMap(of: header, stored: &rest)
            let kind = try parser.kind(
                size: map?.realSize ?? stored,
                isDirectoryName: isDirectoryName
            )
            let attributes = parser.attributes()
            for name in attributes.dropped {
                drops.append(EntryDrop(path: path, kind: .extendedAttribute(name: name)))
            }
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
                extendedAttributes: kind.isFileOrDirectory ? attributes.kept : []
            )
        } catch let problem as ForeignEntryParser.Problem {
            throw ArchiveError(
                problem.isMalformed ? .damaged : .refused,
                problem.reason,
                entry: EntryPath(bytes: parser.rawPath),
                offset: header.offset
            )
        }
    }

    /// Checks that a file holds the bytes that an entry claims, before anything is made for them.
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

    private func sparseMap(of header: Header, stored: inout UInt64) throws -> SparseMap? {
        let parser = SparseParser(header.block, header.headers)
        guard let form = parser.form else { return nil }
        let extents = try parser.extents(form, from: stream, stored: &stored)
        guard let extents, let size = parser.realSize(form),
            let map = SparseMap(extents: extents, realSize: size), map.storedSize == stored
        else {
            throw ForeignEntryParser.Problem(malformed: "a sparse file's map is malformed")
        }
        return map
    }
}

extension ArchiveEntry.Kind {
    fileprivate var isFileOrDirectory: Bool {
        switch self {
        case .file, .directory: true
        case .symbolicLink, .hardLink: false
        }
    }
}
