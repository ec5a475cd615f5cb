internal import MigrationArchive
internal import MigrationSystem

/// Holds an archive against a container, entry by entry in the order of the archive, then looks for
/// what the container has beside.
final class ContainerComparison {
    private let root: OpenFile
    private let selection: ContainerSelection
    private let cancellation: CancellationFlag
    private let report: (ArchiveDifference) throws -> Void
    private let cursor: DirectoryCursor
    private var count = 0

    /// Hashes of the archive's paths: a set of a million paths themselves would take too much room.
    private var seen: Set<Int> = []

    /// Where files with several names in the container came first in the archive.
    private var linked: [FileStatus.Identity: EntryPath] = [:]

    init(
        root: OpenFile,
        selection: ContainerSelection,
        cancellation: CancellationFlag,
        report: @escaping (ArchiveDifference) throws -> Void
    ) throws {
        self.root = root
        self.selection = selection
        self.cancellation = cancellation
        self.report = report
        cursor = DirectoryCursor(root: try root.descriptor.duplicate())
    }

    /// Compares everything; returns the number of differences.
    func run(_ reader: ArchiveReader, onProgress: (UInt64) -> Void) throws -> Int {
        while let entry = try reader.next() {
            try cancellation.check()
            seen.insert(entry.path.hashValue)
            try compare(entry, reader)
            onProgress(reader.consumedBytes)
        }
        var visitor = Visitor(comparison: self)
        var walker = SourceWalker(
            root: try root.descriptor.duplicate(),
            cancellation: cancellation
        )
        try walker.walk(&visitor)
        return count
    }

    private func add(_ path: EntryPath, _ kind: ArchiveDifference.Kind, _ detail: String) throws {
        count += 1
        try report(ArchiveDifference(path: path, kind: kind, detail: detail))
    }

    private struct Visitor: SourceVisitor {
        let comparison: ContainerComparison

        func visit(_ item: SourceItem) throws {
            _ = try comparison.checkIsInArchive(item)
        }

        func enter(_ item: SourceItem, opened: OpenFile) throws -> Bool {
            try comparison.checkIsInArchive(item)
        }

        func passesOver(_ item: SourceItem) -> Bool {
            comparison.selection.reasonForLeavingOut(item.path, isDirectory: true) != nil
        }
    }

    /// Returns whether the walk goes on below the item.
    private func checkIsInArchive(_ item: SourceItem) throws -> Bool {
        let isDirectory = item.status.kind == .directory
        guard selection.reasonForLeavingOut(item.path, isDirectory: isDirectory) == nil else {
            return false
        }
        switch item.status.kind {
        case .regular, .directory, .symbolicLink: break
        default: return false
        }
        let path = EntryPath(bytes: item.path)
        if !seen.contains(path.hashValue) { try add(path, .onlyInContainer, "") }
        return true
    }
}

// MARK: - One entry

extension ContainerComparison {
    private func compare(_ entry: ArchiveEntry, _ reader: ArchiveReader) throws {
        let name = ByteString(entry.path.lastComponent)
        let directory: OpenFile
        let status: FileStatus
        do throws(SystemError) {
            directory = try cursor.directory(at: entry.path.components.dropLast())
            status = try directory.descriptor.status(of: name)
        } catch {
            guard error.isMissing || error.isNotDirectory else {
                throw SourceWalker.unreadable(entry.path.bytes, error)
            }
            return try add(entry.path, .onlyInArchive, "")
        }
        guard status.kind == entry.kind.expectedKind ?? status.kind else {
            let detail = "\(entry.kind.name) in the archive, \(status.kind.name) in the container"
            return try add(entry.path, .kind, detail)
        }
        if case .hardLink(let target) = entry.kind {
            return try compareHardLink(entry, status, to: target)
        }
        try compareMetadata(entry, status)
        do {
            try compareWhatItHolds(entry, status, name, directory, reader)
        } catch let error as SystemError {
            throw SourceWalker.unreadable(entry.path.bytes, error)
        }
    }

    private func compareWhatItHolds(
        _ entry: ArchiveEntry,
        _ status: FileStatus,
        _ name: ByteString,
        _ directory: OpenFile,
        _ reader: ArchiveReader
    ) throws {
        switch entry.kind {
        case .symbolicLink(let target): try compareTarget(entry, directory, name, target)
        case .file:
            let file = OpenFile(try directory.descriptor.open(name, .reading))
            try compareAttributes(entry, file)
            try compareContent(entry, status, file, reader)
        case .directory:
            let opened = OpenFile(try directory.descriptor.open(name, .directory))
            try compareAttributes(entry, opened)
        case .hardLink: break
        }
    }

    private func compareMetadata(_ entry: ArchiveEntry, _ status: FileStatus) throws {
        let isLink = status.kind == .symbolicLink
        if !isLink, entry.permissions & 0o777 != status.permissions & 0o777 {
            let archived = String(entry.permissions & 0o777, radix: 8)
            let present = String(status.permissions & 0o777, radix: 8)
            try add(
                entry.path,
                .permissions,
                "\(archived) in the archive, \(present) in the container"
            )
        }
        if entry.modificationTime != status.modificationTime {
            let archived = entry.modificationTime.decimal
            let present = status.modificationTime.decimal
            let detail = "\(archived) in the archive, \(present) in the container"
            try add(entry.path, .modificationTime, detail)
        }
        guard status.kind == .regular, status.linkCount > 1 else { return }
        if let first = linked[status.identity] {
            try add(entry.path, .hardLink, "another file than \(first) in the archive alone")
        } else {
            linked[status.identity] = entry.path
        }
    }

    private func compareHardLink(
        _ entry: ArchiveEntry,
        _ status: FileStatus,
        to target: EntryPath
    ) throws {
        let name = ByteString(target.lastComponent)
        let directory = try? cursor.directory(at: target.components.dropLast())
        guard try directory?.descriptor.status(of: name).identity == status.identity else {
            return try add(entry.path, .hardLink, "the same file as \(target) in the archive alone")
        }
    }

    private func compareTarget(
        _ entry: ArchiveEntry,
        _ directory: OpenFile,
        _ name: ByteString,
        _ target: [UInt8]
    ) throws {
        let present = try directory.descriptor.symbolicLinkTarget(name)
        guard present != target else { return }
        let archived = PrintableText.escaping(target)
        let shown = PrintableText.escaping(present)
        try add(entry.path, .linkTarget, "\(archived) in the archive, \(shown) in the container")
    }

    private func compareAttributes(_ entry: ArchiveEntry, _ file: OpenFile) throws {
        var present: [ExtendedAttribute] = []
        for name in try file.descriptor.extendedAttributeNames()
        where name.starts(with: "user.".utf8) {
            let value = try file.descriptor.extendedAttribute(name)
            present.append(ExtendedAttribute(name: name, value: value))
        }
        guard Set(present) != Set(entry.extendedAttributes) else { return }
        let names = Set(present).symmetricDifference(entry.extendedAttributes).map(\.name)
        let shown = Set(names).map(PrintableText.escaping).sorted().joined(separator: ", ")
        try add(entry.path, .extendedAttributes, shown)
    }

    private func compareContent(
        _ entry: ArchiveEntry,
        _ status: FileStatus,
        _ file: OpenFile,
        _ reader: ArchiveReader
    ) throws {
        guard status.size == entry.contentSize else {
            let sizes = "\(entry.contentSize) bytes in the archive, \(status.size) in the container"
            return try add(entry.path, .content, sizes)
        }
        var comparator = ContentComparator(file)
        try reader.readContent { offset, piece in
            try comparator.compare(piece, at: offset)
        }
        try comparator.finish(size: entry.contentSize)
        if let offset = comparator.firstDifference {
            try add(entry.path, .content, "the first difference is at byte \(offset)")
        }
    }
}

extension ArchiveEntry.Kind {
    fileprivate var name: String {
        switch self {
        case .file: "a file"
        case .directory: "a directory"
        case .symbolicLink: "a symbolic link"
        case .hardLink: "a hard link"
        }
    }

    /// What a container must have in its place; `nil` where more than one kind will do.
    fileprivate var expectedKind: FileStatus.Kind? {
        switch self {
        case .file: .regular
        case .directory: .directory
        case .symbolicLink: .symbolicLink
        case .hardLink: nil
        }
    }
}

extension FileStatus.Kind {
    fileprivate var name: String {
        switch self {
        case .regular: "a file"
        case .directory: "a directory"
        case .symbolicLink: "a symbolic link"
        case .fifo: "a FIFO"
        case .socket: "a socket"
        case .characterDevice, .blockDevice: "a device"
        case .unknown: "something else"
        }
    }
}
