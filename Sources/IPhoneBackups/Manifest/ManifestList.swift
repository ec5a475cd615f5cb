internal import MigrationArchive
internal import MigrationSystem

/// The records of `Manifest.mbdb`, the manifest of iOS 4 to 9.
///
/// After `mbdb` 05 00, the records follow one another. All numbers are big-endian. A text is its
/// length in two bytes, FFFF for none, and its bytes.
final class ManifestList {
    static let magic = [UInt8]("mbdb".utf8) + [5, 0]

    /// More bytes than any record of a device has.
    private static let recordLimit = 1 << 20
    private static let windowSize = 1 << 20

    private let file: OpenFile
    private let status: FileStatus
    private let operation: MigrationOperation
    /// A window: the bytes of the file from `start` on.
    private var window: [UInt8] = []
    private var start: UInt64 = 0
    /// The position of the next byte in the window.
    private var next = 0

    /// Opens the list.
    ///
    /// - Throws: ``ArchiveError`` of codes `damaged` and `sourceUnreadable`.
    init(_ file: OpenFile, on operation: MigrationOperation) throws(ArchiveError) {
        (self.file, self.operation) = (file, operation)
        do {
            status = try file.descriptor.status()
        } catch {
            throw Self.unreadable(error)
        }
        try move(to: 0)
        guard window.starts(with: Self.magic) else {
            throw Self.damaged("it doesn't begin as one", at: 0)
        }
    }

    private static func unreadable(_ error: SystemError) -> ArchiveError {
        ArchiveError(.sourceUnreadable, "the backup's Manifest.mbdb can't be read", cause: error)
    }

    private static func damaged(_ reason: String, at offset: UInt64) -> ArchiveError {
        let location = offset == 0 ? "" : " (in the record at byte \(offset))"
        return ArchiveError(
            .damaged,
            "the backup's Manifest.mbdb is damaged: \(reason)\(location)"
        )
    }

    /// A record, with its domain.
    struct Row {
        /// The position of the record, by which ``ManifestList/row(at:)`` finds it again.
        let offset: UInt64
        let domain: [UInt8]
        let path: [UInt8]
        fileprivate let fields: Fields

        /// The size, which may be older than the content.
        var size: Int64 { Int64(clamping: fields.size) }

        /// The kind, as in `Manifest.db`; 0 for a kind that a backup can't hold.
        var flags: Int64 {
            FileRecord.kind(ofMode: fields.mode, target: fields.target)?.flags ?? 0
        }

        /// Reads the rest of the record.
        func record() throws(FlawedRecord) -> FileRecord { try fields.record() }
    }

    /// Reads every record, in the order of the file.
    func forEachRow(_ body: (Row) throws -> Void) throws {
        try move(to: UInt64(Self.magic.count))
        while offset < status.size {
            try operation.check()
            try body(try nextRow())
        }
        let now: FileStatus
        do {
            now = try file.descriptor.status()
        } catch {
            throw Self.unreadable(error)
        }
        guard now.isUnchanged(since: status) else {
            throw ArchiveError(
                .sourceChanged,
                "the backup's Manifest.mbdb changed while it was read"
            )
        }
    }

    /// Reads the record at `offset`.
    func row(at offset: UInt64) throws(ArchiveError) -> Row {
        try move(to: offset)
        return try nextRow()
    }

    // MARK: - Records

    private func nextRow() throws(ArchiveError) -> Row {
        let start = offset
        if window.count - next < Self.recordLimit { try move(to: start) }
        do {
            let domain = try text() ?? []
            let fields = try nextFields()
            return Row(offset: start, domain: domain, path: fields.path, fields: fields)
        } catch {
            throw Self.damaged(error.reason, at: start)
        }
    }

    private func nextFields() throws(FlawedRecord) -> Fields {
        var fields = Fields()
        fields.path = try text() ?? []
        fields.target = try text()
        fields.digest = try text()
        fields.key = try text() ?? []
        fields.mode = try number(2)
        fields.inode = try number(8)
        _ = try number(8)  // The user and the group.
        fields.time = Int32(truncatingIfNeeded: try number(4))
        _ = try number(8)  // The change of the status, and the birth.
        fields.size = try number(8)
        _ = try number(1)  // The protection class.
        for _ in 0..<(try number(1)) {
            let name = try text() ?? []
            fields.attributes.append((name, try text() ?? []))
        }
        return fields
    }

    /// The fields of a record in their stored form.
    fileprivate struct Fields {
        var path: [UInt8] = []
        var target: [UInt8]?
        var digest: [UInt8]?
        var key: [UInt8] = []
        var mode: UInt64 = 0
        var inode: UInt64 = 0
        var time: Int32 = 0
        var size: UInt64 = 0
        var attributes: [([UInt8], [UInt8])] = []

        func record() throws(FlawedRecord) -> FileRecord {
            guard let kind = FileRecord.kind(ofMode: mode, target: target) else {
                throw FlawedRecord("it is neither a file nor a directory nor a link")
            }
            let wrapped = key.isEmpty ? nil : WrappedKey(key)
            if wrapped == nil, !key.isEmpty {
                throw FlawedRecord("its key is \(key.count) bytes long")
            }
            return FileRecord(
                path: path,
                kind: kind,
                permissions: FileRecord.permissions(ofMode: mode),
                time: Int64(time),
                size: Int64(clamping: size),
                inode: inode,
                key: wrapped,
                digest: digest?.count == 20 ? digest : nil,
                attributes: try FileRecord.attributes(of: attributes)
            )
        }
    }

    private func text() throws(FlawedRecord) -> [UInt8]? {
        let count = Int(try number(2))
        if count == 0xFFFF { return nil }
        return [UInt8](try take(count))
    }

    private func number(_ size: Int) throws(FlawedRecord) -> UInt64 {
        try take(size).reduce(0) { $0 << 8 | UInt64($1) }
    }

    private func take(_ count: Int) throws(FlawedRecord) -> ArraySlice<UInt8> {
        guard count <= window.count - next else {
            throw FlawedRecord("a record is cut short, or takes over 1 MiB")
        }
        defer { next += count }
        return window[next..<next + count]
    }

    // MARK: - Window

    private var offset: UInt64 { start + UInt64(next) }

    /// Moves the window to `offset`, so that it contains the whole record there.
    private func move(to offset: UInt64) throws(ArchiveError) {
        let rest = status.size - min(offset, status.size)
        let size = min(UInt64(Self.windowSize + Self.recordLimit), rest)
        window = [UInt8](repeating: 0, count: Int(size))
        (start, next) = (offset, 0)
        let filled: Int
        do {
            filled = try file.descriptor.fill(&window, count: window.count, at: offset)
        } catch {
            throw Self.unreadable(error)
        }
        guard filled == window.count else {
            throw ArchiveError(.sourceChanged, "the backup's Manifest.mbdb became shorter")
        }
    }
}
