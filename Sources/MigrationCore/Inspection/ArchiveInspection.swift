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

    /// The limit for the bytes of paths, targets and attributes in memory while entries are sorted.
    private static let windowLimit = 4 << 20

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
        /// The entries of a window, until they are listed in the order of a walk.
        var window: [ArchiveEntry] = []
        var byteCount = 0
        func endWindow() throws {
            for index in EntryPath.treeOrder(of: window.map(\.path)) { try body(window[index]) }
            window.removeAll(keepingCapacity: true)
            byteCount = 0
        }
        do {
            while let entry = try reader.next() {
                try input.operation.check()
                totals.count(entry)
                if reader.place == .first || byteCount > windowLimit { try endWindow() }
                window.append(entry)
                byteCount += entry.byteCount
            }
        } catch {
            // Findings are reported, but the failure matters more.
            try? endWindow()
            throw error
        }
        try endWindow()
        return ArchiveInspection(reader, counting: totals)
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

extension ArchiveInspection {
    /// The description of the archive that `reader` has read; `totals` are those of another program's tar file.
    init(_ reader: ArchiveReader, counting totals: ArchiveTotals? = nil) {
        let totals = reader.totals ?? totals
        self.init(reader, totals: totals, archiveBytes: reader.archiveBytes)
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
            let omissions = extractor.omissions
            var losses = OmissionList()
            for item in omissions.items where item.reason == .damaged { losses.append(item) }
            // It is assumed that those that are only counted are damaged too.
            losses.countFurther(omissions.count - omissions.items.count)
            return losses
        }
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
