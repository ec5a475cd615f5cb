public import Foundation
public import MigrationArchive
internal import MigrationSystem

/// What an archive says of itself and what it holds.
public struct ArchiveInspection: Sendable {
    /// What the archive says of itself; `nil` for the tar file of another program.
    public let header: ArchiveHeader?

    /// How much it holds; `nil` for the tar file of another program that was not read through.
    public let totals: ArchiveTotals?

    /// The hash that stands for it; `nil` for the tar file of another program.
    ///
    /// Where the archive was only inspected, this is what its end says; its frames were not checked.
    public let fingerprint: Fingerprint?

    /// The archive's size in bytes; `nil` from a pipe, but for one that was verified.
    public let archiveBytes: UInt64?

    /// The bytes of the tar stream in it; `nil` for the tar file of another program.
    public let streamBytes: UInt64?

    /// The number of frames that hold the stream; `nil` for the tar file of another program.
    public let frameCount: Int?

    /// Whether the tar file of another program, read to its end, has no mark there, as one that was
    /// cut short has none.
    public let lacksEndMark: Bool

    /// Whether bytes follow the end of a tar file of another program that was read to its end.
    public let hasTrailer: Bool

    /// Whether it is the backup of an Android app, which `migrate android convert` makes an archive of.
    public let isAndroidBackup: Bool
}

/// How much of an archive ``ArchiveSource/verify(_:externalLinks:threadCount:progress:)`` checks.
public enum VerificationScope: String, Sendable, Codable {
    /// Every frame's hash, and then every entry as an import would judge it.
    case everything
    /// The hashes of frames and the fingerprint; no content is decompressed and no entry is read.
    case hashes

    /// The same for what checks archives.
    func verifierScope(_ externalLinks: ExternalLinkPolicy) -> ArchiveVerifier.Scope {
        guard self == .everything else { return .hashes }
        var options = ArchiveExtractor.Options()
        options.externalLinks = externalLinks.forExtraction
        options.reserved = ContainerLayout.ownNames.map { EntryPath(bytes: $0) }
        return .everything(options) { () throws(SystemError) in
            let directory = ByteString(pathOf: FileManager.default.temporaryDirectory)
            return try FileDescriptor.openFollowingLinks(directory, .directory).openTemporary()
        }
    }
}

extension ArchiveStatement {
    /// Makes the statement about an archive.
    ///
    /// - Parameter inspection: What the archive is, once it was verified.
    /// - Throws: `ArchiveError` of code `unsupported` for the tar file of another program, which has
    ///   no fingerprint.
    public init(_ inspection: ArchiveInspection) throws {
        try self.init(header: inspection.header, fingerprint: inspection.fingerprint)
    }
}

// MARK: - Reading

extension ArchiveSource {
    /// Says what an archive is and what it holds; from a file without reading it through.
    ///
    /// - Returns: What the archive is; for the tar file of another program without totals.
    /// - Throws: `ArchiveError` where the archive can't be read, is none, or is damaged at its ends;
    ///   `CancellationError`.
    @concurrent
    public func inspect() async throws -> ArchiveInspection {
        try await withOperationThread { cancellation in
            try Self.inspect(open(cancellation))
        }
    }

    /// Says what the archive in `input` is and what it holds.
    package static func inspect(_ input: ArchiveInput) throws -> ArchiveInspection {
        let reader = try ArchiveReader(input, access: .selective)
        if reader.header == nil {
            // Nothing but an entry tells a tar stream from other data that zstd compressed.
            _ = try reader.next()
        } else if reader.totals == nil {
            while try reader.next() != nil {}
        }
        return ArchiveInspection(
            header: reader.header,
            totals: reader.totals,
            fingerprint: reader.fingerprint,
            archiveBytes: input.fileSize ?? reader.totals.map { _ in input.position },
            streamBytes: reader.streamBytes,
            frameCount: reader.frameCount,
            lacksEndMark: reader.lacksEndMark,
            hasTrailer: reader.hasTrailer,
            isAndroidBackup: reader.isAndroidBackup
        )
    }

    /// Calls `body` for each entry, in the order of the archive.
    ///
    /// Of an archive file only the frames that hold headers are read, each checked against its hash.
    ///
    /// - Parameter body: Is called for each entry. From a pipe, entries are proved only when the call
    ///   returns.
    /// - Returns: What the archive holds.
    /// - Throws: `ArchiveError` where the archive can't be read, is none, or is damaged; what `body`
    ///   throws; `CancellationError`.
    @concurrent
    public func forEachEntry(
        _ body: @Sendable (ArchiveEntry) throws -> Void
    ) async throws -> ArchiveInspection {
        try await withOperationThread { cancellation in
            try Self.forEachEntry(of: open(cancellation), body)
        }
    }

    /// Calls `body` for each entry of the archive in `input`.
    package static func forEachEntry(
        of input: ArchiveInput,
        _ body: (ArchiveEntry) throws -> Void
    ) throws -> ArchiveInspection {
        let reader = try ArchiveReader(input, access: .selective)
        var totals = ArchiveTotals()
        while let entry = try reader.next() {
            try input.cancellation.check()
            totals.count(entry)
            try body(entry)
        }
        return ArchiveInspection(reader, totals: reader.totals ?? totals)
    }

    /// Checks an archive: by default reads everything as an import would, and restores nothing.
    ///
    /// What an import refuses is refused, but for what depends on where it is restored, such as room.
    /// The tar file of another program carries no proof. For an archive of several hundred thousand
    /// entries an unnamed file in the temporary directory keeps account of them.
    ///
    /// - Parameters:
    ///   - scope: What is checked.
    ///   - externalLinks: What is made of links that lead out, as an import would.
    ///   - threadCount: The number of threads; `nil` takes one for each core, three at most.
    ///   - progress: Gets the archive's bytes as its total, and how many were checked.
    /// - Returns: What the archive is and holds.
    /// - Throws: `ArchiveError` of code `damaged` or `truncated` where a byte is not what was
    ///   written, of codes `entryExists`, `notAnArchive`, `refused` and `unsupported`, of code
    ///   `inputFailed` where the archive can't be read, and of code `outputFailed` where the temporary
    ///   directory can't be used; `CancellationError`.
    @concurrent
    public func verify(
        _ scope: VerificationScope = .everything,
        externalLinks: ExternalLinkPolicy = .refuse,
        threadCount: Int? = nil,
        progress: Progress? = nil
    ) async throws -> ArchiveInspection {
        try ThreadCount.check(threadCount)
        return try await withOperationThread { cancellation in
            let input = try open(cancellation)
            progress?.setTotal(Int64(clamping: input.size ?? 0))
            let result = try ArchiveVerifier.verify(
                input,
                scope: scope.verifierScope(externalLinks),
                threadCount: ThreadCount.resolve(threadCount)
            ) { progress?.completedUnitCount = Int64(clamping: $0) }
            return ArchiveInspection(
                header: result.header,
                totals: result.totals,
                fingerprint: result.fingerprint,
                archiveBytes: input.fileSize ?? input.position,
                streamBytes: result.streamBytes,
                frameCount: result.frameCount,
                lacksEndMark: result.lacksEndMark,
                hasTrailer: result.hasTrailer,
                isAndroidBackup: result.isAndroidBackup
            )
        }
    }
}

extension ArchiveInspection {
    init(_ reader: ArchiveReader, totals: ArchiveTotals?) {
        self.init(
            header: reader.header,
            totals: totals,
            fingerprint: reader.fingerprint,
            archiveBytes: reader.archiveBytes,
            streamBytes: reader.streamBytes,
            frameCount: reader.frameCount,
            lacksEndMark: reader.lacksEndMark,
            hasTrailer: reader.hasTrailer,
            isAndroidBackup: reader.isAndroidBackup
        )
    }
}
