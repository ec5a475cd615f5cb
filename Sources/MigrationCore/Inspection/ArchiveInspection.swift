public import Foundation
public import MigrationArchive
internal import MigrationSystem

/// How much of an archive ``ArchiveSource/verify(_:externalLinks:threadCount:progress:)`` checks.
public enum VerificationScope: String, Sendable, Codable {
    /// The hash of every piece, and every entry as an import would check it.
    case everything
    /// The hashes of the pieces and the fingerprint, without reading entries.
    case hashes
}

extension ArchiveExtractor.Options {
    /// The options of an import that restores nothing.
    init(treating externalLinks: ExternalLinkPolicy) {
        self.init()
        self.externalLinks = externalLinks
        reserved = ContainerLayout.ownNames.map { EntryPath(bytes: $0) }
    }
}

extension ArchiveStatement {
    /// Makes the statement about an archive.
    ///
    /// - Parameter inspection: The description of the verified archive.
    /// - Throws: `ArchiveError` of code `unsupported` for the tar file of another program, which
    ///   has no fingerprint.
    public init(_ inspection: ArchiveInspection) throws {
        try self.init(header: inspection.header, fingerprint: inspection.fingerprint)
    }
}

// MARK: - Reading

extension ArchiveSource {
    /// Describes an archive; reads only the beginning and the end of a file.
    ///
    /// - Returns: The description; without totals for the tar file of another program.
    /// - Throws: `ArchiveError` if the input can't be read, is not an archive, or is damaged at its
    ///   ends; `CancellationError`.
    @concurrent
    public func inspect() async throws -> ArchiveInspection {
        try await withOperation(threadCount: 1) { operation in
            try Self.inspect(open(operation))
        }
    }

    /// Describes the archive in `input`.
    package static func inspect(_ input: ArchiveInput) throws -> ArchiveInspection {
        let reader = try ArchiveReader(input, access: .selective)
        if reader.header == nil {
            // Only an entry distinguishes a tar stream from other data that zstd compressed.
            _ = try reader.next()
        } else if reader.totals == nil {
            while try reader.next() != nil {}
        }
        let position = reader.totals.map { _ in input.position }
        return ArchiveInspection(
            reader,
            totals: reader.totals,
            archiveBytes: input.fileSize ?? position
        )
    }

    /// Calls `body` for each entry: a directory before its content and names in byte order, within
    /// each window of the archive, which holds a few thousand entries.
    ///
    /// In an archive file, only the frames that hold headers are read; each is checked against its
    /// hash.
    ///
    /// - Parameter body: Called for each entry. Entries from a pipe are verified only when the
    ///   method returns.
    /// - Returns: The description of the archive.
    /// - Throws: `ArchiveError` if the input can't be read, is not an archive, or is damaged;
    ///   errors of `body`; `CancellationError`.
    @concurrent
    public func forEachEntry(
        _ body: @Sendable (ArchiveEntry) throws -> Void
    ) async throws -> ArchiveInspection {
        try await withOperation { operation in
            try Self.forEachEntry(of: open(operation), at: [], body)
        }
    }

    /// Calls `body` for each entry of the archive in `input`.
    ///
    /// If `paths` isn't empty, only the pieces around these paths are read, provided the archive is
    /// a file whose entries are in tree order. For other archives, `body` gets all entries.
    package static func forEachEntry(
        of input: ArchiveInput,
        at paths: [EntryPath],
        _ body: (ArchiveEntry) throws -> Void
    ) throws -> ArchiveInspection {
        let reader = try ArchiveReader(input, at: paths, orAllBy: .listing)
        var totals = ArchiveTotals()
        var window = WindowListing()
        do {
            while let entry = try reader.next() {
                try input.operation.check()
                totals.count(entry)
                if reader.place == .first || window.isFull { try window.end(body) }
                window.append(entry)
            }
        } catch {
            // Findings are reported, but the failure matters more.
            try? window.end(body)
            throw error
        }
        try window.end(body)
        return ArchiveInspection(
            reader,
            totals: reader.totals ?? totals,
            archiveBytes: reader.archiveBytes
        )
    }

    /// Checks an archive: by default, reads everything as an import would, but restores nothing.
    ///
    /// It refuses everything that an import refuses, except for reasons of the destination, such as
    /// free space. The tar file of another program can't be proved complete. For an archive with
    /// several hundred thousand entries, an unnamed temporary file keeps track of them.
    ///
    /// - Parameters:
    ///   - scope: The checks to make.
    ///   - externalLinks: How an import would treat links that lead out.
    ///   - threadCount: The number of threads; `nil` means one per processor.
    ///   - progress: Gets the archive's bytes as its total, and how many were checked.
    /// - Returns: The description of the archive.
    /// - Throws: `ArchiveError` of code `damaged` or `truncated` if a byte differs from what was
    ///   written, of codes `entryExists`, `notAnArchive`, `refused` and `unsupported`, of code
    ///   `inputFailed` if the archive can't be read, and of code `outputFailed` if the temporary
    ///   directory can't be used; `CancellationError`.
    @concurrent
    public func verify(
        _ scope: VerificationScope = .everything,
        externalLinks: ExternalLinkPolicy = .refuse,
        threadCount: Int? = nil,
        progress: Progress? = nil
    ) async throws -> ArchiveInspection {
        try await withOperation(threadCount: threadCount, progress: progress) { operation in
            let input = try open(operation)
            progress?.setTotal(Int64(clamping: input.size ?? 0))
            let options = ArchiveExtractor.Options(treating: externalLinks)
            let inspection = try ArchiveVerifier.verify(
                input,
                scope: scope == .hashes ? .hashes : .everything(options)
            ) { progress?.completedUnitCount = Int64(clamping: $0) }
            try inspection.header?.check()
            return inspection
        }
    }
}

extension ArchiveReader {
    /// Opens the archive in `input` to read the entries at `paths` and below them.
    ///
    /// If there are no paths, or if the archive can't be searched for them, all entries are read.
    convenience init(_ input: ArchiveInput, at paths: [EntryPath], orAllBy access: Access) throws {
        try self.init(input, access: paths.isEmpty ? access : .selective)
        if !paths.isEmpty { _ = try select(paths) }
    }
}

extension ArchiveSource {
    /// The lost entries of a damaged archive, if it names them; empty unless it is a file.
    @concurrent
    package func losses() async throws -> OmissionList {
        try await withOperation(threadCount: 1) { operation in
            let input = try open(operation)
            guard input.size != nil else { return OmissionList() }
            let extractor = try ArchiveVerifier.losses(
                of: input,
                options: ArchiveExtractor.Options(treating: .keep)
            )
            return extractor.omissions.onlyDamaged
        }
    }
}

extension OmissionList {
    /// The omissions because of damage; it is assumed that this includes those that are only
    /// counted.
    fileprivate var onlyDamaged: OmissionList {
        var list = OmissionList()
        for item in items where item.reason == .damaged { list.append(item) }
        list.countFurther(count - items.count)
        return list
    }
}

/// The entries of a window, until they are listed in the order of a walk.
private struct WindowListing {
    /// The limit for the bytes of paths, targets and attributes in memory.
    private static let byteLimit = 4 << 20

    private var entries: [ArchiveEntry] = []
    private var byteCount = 0

    /// Whether the entries take too much memory to be sorted with others.
    var isFull: Bool { byteCount > Self.byteLimit }

    mutating func append(_ entry: ArchiveEntry) {
        entries.append(entry)
        byteCount += entry.byteCount
    }

    /// Passes the entries to `body`.
    mutating func end(_ body: (ArchiveEntry) throws -> Void) throws {
        for index in EntryPath.treeOrder(of: entries.map { $0.path }) {
            try body(entries[index])
        }
        entries.removeAll(keepingCapacity: true)
        byteCount = 0
    }
}

extension ArchiveEntry {
    /// The bytes of the path, the target of a link and the attributes.
    var byteCount: Int {
        let target =
            switch kind {
            case .file, .directory: 0
            case .symbolicLink(let target): target.count
            case .hardLink(let target): target.bytes.count
            }
        return extendedAttributes.reduce(path.bytes.count + target) {
            $0 + $1.name.count + $1.value.count
        }
    }
}
