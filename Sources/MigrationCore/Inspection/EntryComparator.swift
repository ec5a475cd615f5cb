internal import MigrationArchive
internal import MigrationSystem

/// Compares entries of an archive, one at a time, with a container.
struct EntryComparator {
    /// The item of the container at the path of an entry.
    private struct Counterpart {
        let directory: OpenFile
        let name: [UInt8]
        let status: FileStatus
    }

    private let cursor: DirectoryCursor<OpenFile>
    /// The names of the two sides in details.
    private let sides: (first: String, second: String)
    /// The extra metadata that the archive holds.
    private let extra: ExtraMetadata
    private let report: (ArchiveDifference) throws -> Void
    /// Called before each step.
    private let step: () throws -> Void

    /// The first path in the archive of each file with several names in the container.
    private var linked: [FileStatus.Identity: EntryPath] = [:]

    init(
        root: OpenFile,
        holding extra: ExtraMetadata,
        sides: (first: String, second: String),
        step: @escaping () throws -> Void,
        report: @escaping (ArchiveDifference) throws -> Void
    ) {
        self.step = step
        self.extra = extra
        self.sides = sides
        cursor = DirectoryCursor(root: root)
        self.report = report
    }

    /// Reports the differences between `entry`, whose content `content` reads next, and the
    /// container.
    mutating func compare(_ entry: ArchiveEntry, from content: ComparedContent) throws {
        guard let present = try counterpart(of: entry.path) else {
            return try add(entry, kind: onlyInFirst, detail: "")
        }
        let kind = present.status.kind
        guard kind == entry.kind.expectedKind ?? kind else {
            return try add(entry, kind: .kind, archived: entry.kind.name, present: kind.name)
        }
        if case .hardLink(let target) = entry.kind {
            return try compareHardLink(entry, with: present, to: target)
        }
        try comparePermissions(of: entry, with: present)
        try compareModificationTime(of: entry, with: present)
        try compareOwner(of: entry, with: present)
        try compareNames(of: entry, with: present)
        do {
            try compareContents(of: entry, with: present, from: content)
        } catch let error as SystemError {
            throw SourceWalker.unreadable(entry.path.bytes, error)
        }
    }

    private func counterpart(of path: EntryPath) throws -> Counterpart? {
        let name = [UInt8](path.lastComponent)
        do throws(SystemError) {
            let directory = try cursor.directory(at: path.components.dropLast())
            let status = try directory.descriptor.status(of: name)
            return Counterpart(directory: directory, name: name, status: status)
        } catch {
            guard error.isMissing || error.isNotDirectory else {
                throw SourceWalker.unreadable(path.bytes, error)
            }
            return nil
        }
    }

    private func add(
        _ entry: ArchiveEntry,
        kind: ArchiveDifference.Kind,
        detail: String
    ) throws {
        try report(ArchiveDifference(path: entry.path, kind: kind, detail: detail))
    }

    private func add(
        _ entry: ArchiveEntry,
        kind: ArchiveDifference.Kind,
        archived: String,
        present: String
    ) throws {
        try add(
            entry,
            kind: kind,
            detail: "\(archived) in the \(sides.first), \(present) in the \(sides.second)"
        )
    }
}

// MARK: - Status

extension EntryComparator {
    private func comparePermissions(of entry: ArchiveEntry, with present: Counterpart) throws {
        let archived = entry.permissions & 0o777
        let permissions = present.status.permissions & 0o777
        // The permissions of links can't be set.
        if present.status.kind == .symbolicLink || archived == permissions { return }
        try add(
            entry,
            kind: .permissions,
            archived: String(archived, radix: 8),
            present: String(permissions, radix: 8)
        )
    }

    private func compareModificationTime(of entry: ArchiveEntry, with present: Counterpart) throws {
        let (archived, time) = (entry.modificationTime, present.status.modificationTime)
        if archived == time { return }
        try add(
            entry,
            kind: .modificationTime,
            archived: archived.universal,
            present: time.universal
        )
    }

    private func compareOwner(of entry: ArchiveEntry, with present: Counterpart) throws {
        let owner = FileOwner(user: present.status.owner, group: present.status.group)
        guard let archived = entry.owner, archived != owner else { return }
        try add(
            entry,
            kind: .owner,
            archived: "\(archived.user):\(archived.group)",
            present: "\(owner.user):\(owner.group)"
        )
    }

    /// Checks that earlier entries are not names of the same file.
    private mutating func compareNames(of entry: ArchiveEntry, with present: Counterpart) throws {
        let status = present.status
        guard status.kind == .regular, status.linkCount > 1 else { return }
        if let first = linked[status.identity] {
            // Another program's archive may hold a path twice.
            if first == entry.path { return }
            try add(
                entry,
                kind: .hardLink,
                detail: "another file than \(first) in the \(sides.first) alone"
            )
        } else {
            linked[status.identity] = entry.path
        }
    }

    private func compareHardLink(
        _ entry: ArchiveEntry,
        with present: Counterpart,
        to target: EntryPath
    ) throws {
        guard try counterpart(of: target)?.status.identity == present.status.identity else {
            return try add(
                entry,
                kind: .hardLink,
                detail: "the same file as \(target) in the \(sides.first) alone"
            )
        }
    }
}

// MARK: - Content

extension EntryComparator {
    private func compareContents(
        of entry: ArchiveEntry,
        with present: Counterpart,
        from content: ComparedContent
    ) throws {
        let (directory, name) = (present.directory, present.name)
        switch entry.kind {
        case .symbolicLink(let target):
            let present = try directory.descriptor.symbolicLinkTarget(name)
            try compareTarget(of: entry, archived: target, present: present)
        case .file:
            let file = OpenFile(try directory.descriptor.open(name, .reading))
            try compareAttributes(of: entry, with: file)
            try compareContent(of: entry, with: file, size: present.status.size, from: content)
        case .directory:
            let opened = OpenFile(try directory.descriptor.open(name, .directory))
            try compareAttributes(of: entry, with: opened)
        case .hardLink: break
        }
    }

    private func compareTarget(
        of entry: ArchiveEntry,
        archived: [UInt8],
        present: [UInt8]
    ) throws {
        if archived == present { return }
        try add(
            entry,
            kind: .linkTarget,
            archived: PrintableText.escaping(archived),
            present: PrintableText.escaping(present)
        )
    }

    private func compareAttributes(of entry: ArchiveEntry, with file: OpenFile) throws {
        var present: [ExtendedAttribute] = []
        for name in try file.descriptor.knownExtendedAttributeNames()
        where extra.includesAttribute(name) {
            let value = try file.descriptor.extendedAttribute(name)
            present.append(ExtendedAttribute(name: name, value: value))
        }
        let differing = Set(present).symmetricDifference(entry.extendedAttributes)
        if differing.isEmpty { return }
        let names = Set(differing.map(\.name)).map(PrintableText.escaping).sorted()
        try add(entry, kind: .extendedAttributes, detail: names.joined(separator: ", "))
    }

    private func compareContent(
        of entry: ArchiveEntry,
        with file: OpenFile,
        size: UInt64,
        from content: ComparedContent
    ) throws {
        guard size == entry.contentSize else {
            return try add(
                entry,
                kind: .content,
                archived: "\(entry.contentSize) bytes",
                present: "\(size)"
            )
        }
        var comparator = ContentComparator(file, size: size)
        switch content {
        case .file(let other):
            try other.readContent(size) { offset, piece in
                try step()
                try comparator.compare(piece, at: offset)
            }
        case .archive(let reader):
            try comparePieces(of: reader, with: file, by: &comparator)
        }
        try comparator.finish(size: size)
        if let offset = comparator.firstDifference {
            try add(entry, kind: .content, detail: "the first difference is at byte \(offset)")
        }
    }

    private func comparePieces(
        of reader: ArchiveReader,
        with file: OpenFile,
        by comparator: inout ContentComparator
    ) throws {
        if let pieces = try reader.contentPieces() {
            let hashes = PieceHashes(pieces, of: file, on: reader.operation)
            try reader.readContent(passingOver: pieces) { piece in
                try step()
                if comparator.firstDifference != nil { return true }
                guard try hashes.next() else { return false }
                comparator.pass(upTo: piece.offset + UInt64(piece.count))
                return true
            } _: { offset, piece in
                try step()
                try comparator.compare(piece, at: offset)
            }
        } else {
            try reader.readContent { offset, piece in
                try step()
                try comparator.compare(piece, at: offset)
            }
        }
    }

    private var onlyInFirst: ArchiveDifference.Kind {
        sides.first == "archive" ? .onlyInArchive : .onlyInFirst
    }
}

/// The source of an entry's content.
enum ComparedContent {
    case archive(ArchiveReader)
    /// A file in another directory; other kinds have no content.
    case file(OpenFile)
}

extension OpenFile {
    /// Passes `size` bytes of the file to `body`, piece by piece.
    fileprivate func readContent(
        _ size: UInt64,
        _ body: (UInt64, Span<UInt8>) throws -> Void
    ) throws {
        var buffer = [UInt8](repeating: 0, count: Int(min(size, 256 * 1024)))
        var position: UInt64 = 0
        while position < size {
            let count = Int(min(UInt64(buffer.count), size - position))
            let read = try descriptor.read(at: position, into: &buffer, count: count)
            guard read > 0 else { return }
            try body(position, buffer.span.extracting(..<read))
            position += UInt64(read)
        }
    }
}

/// Compares a file with pieces of an archive by their hashes, in their order; the threads of an operation read
/// the file.
private struct PieceHashes {
    private static let bufferSize = 256 * 1024

    private let step: OrderedStep<ContentPiece, Bool>

    init(_ pieces: ContentPieces, of file: OpenFile, on operation: MigrationOperation) {
        var rest = pieces.numbers
        step = OrderedStep(
            of: operation,
            depth: 2 * operation.threadCount,
            source: { rest.popFirst().map { pieces[$0] } }
        ) {
            var buffer = [UInt8](repeating: 0, count: Self.bufferSize)
            return { try $0.holds(contentOf: file.descriptor, through: &buffer) }
        }
    }

    /// Returns whether the file holds the content of the next piece; `false` after the last.
    func next() throws -> Bool {
        defer { step.release() }
        return try step.next() ?? false
    }
}

/// Compares the content of a file with pieces of the expected content; the gaps are zeros.
private struct ContentComparator {
    private let file: OpenFile
    private var buffer: [UInt8]
    private var position: UInt64 = 0

    /// The offset of the first difference so far.
    private(set) var firstDifference: UInt64?

    /// Compares `file`, which has `size` bytes.
    init(_ file: OpenFile, size: UInt64) {
        self.file = file
        buffer = [UInt8](repeating: 0, count: Int(min(size, 256 * 1024)))
    }

    /// Compares `piece`, which belongs at `offset`.
    mutating func compare(_ piece: Span<UInt8>, at offset: UInt64) throws(SystemError) {
        try compareZeros(upTo: offset)
        var done = 0
        while done < piece.count, firstDifference == nil {
            let count = try fill(min(buffer.count, piece.count - done))
            for index in 0..<count where buffer[index] != piece[done + index] {
                firstDifference = position + UInt64(index)
                break
            }
            done += count
            position += UInt64(count)
        }
    }

    /// Continues at `end`, because everything before it is equal.
    mutating func pass(upTo end: UInt64) { position = end }

    /// Compares the rest of a file of `size` bytes with zeros.
    mutating func finish(size: UInt64) throws(SystemError) {
        try compareZeros(upTo: size)
    }

    private mutating func compareZeros(upTo end: UInt64) throws(SystemError) {
        while position < end, firstDifference == nil {
            let count = try fill(Int(min(UInt64(buffer.count), end - position)))
            for index in 0..<count where buffer[index] != 0 {
                firstDifference = position + UInt64(index)
                break
            }
            position += UInt64(count)
        }
    }

    /// Reads at most `count` bytes of the file; the end of a short file is a difference.
    private mutating func fill(_ count: Int) throws(SystemError) -> Int {
        let read = try file.descriptor.read(at: position, into: &buffer, count: count)
        if read == 0 { firstDifference = position }
        return read
    }
}

// MARK: - Names of kinds

extension ArchiveEntry.Kind {
    /// The kind in words, for differences.
    var name: String {
        switch self {
        case .file: "a file"
        case .directory: "a directory"
        case .symbolicLink: "a symbolic link"
        case .hardLink: "a hard link"
        }
    }

    /// The kind that a container must have at its path; `nil` if several kinds fit.
    var expectedKind: FileStatus.Kind? {
        switch self {
        case .file: .regular
        case .directory: .directory
        case .symbolicLink: .symbolicLink
        case .hardLink: nil
        }
    }
}
