package import MigrationSystem

/// Checks an archive without restoring anything.
package enum ArchiveVerifier {
    /// How much of an archive is checked.
    package enum Scope {
        /// The hashes alone; entries are not read.
        case hashes
        /// Everything that an extraction with these options checks, except for errors of the disk.
        ///
        /// State that does not fit into memory is kept in files that `makeFile` makes.
        case everything(
            ArchiveExtractor.Options,
            makeFile: () throws(SystemError) -> FileDescriptor
        )
    }

    /// Checks an archive as `scope` says; the tar file of another program, which has no hashes, is
    /// always read completely.
    package static func verify(
        _ input: ArchiveInput,
        scope: Scope,
        onProgress: (UInt64) -> Void
    ) throws -> ArchiveInspection {
        switch scope {
        case .hashes:
            return try verifyHashes(of: input, onProgress: onProgress)
        case .everything(let options, let makeFile):
            let reader = try ArchiveReader(input, access: .whole)
            var options = options
            options.isLenient = reader.header == nil
            let extractor = ArchiveExtractor(restoringNothing: options, makeFile: makeFile)
            try extractor.extract(from: reader, onProgress: onProgress)
            return inspection(of: input, reader, totals: extractor.totals)
        }
    }

    /// The parts of a damaged archive that can't be read, found by an extraction with `options`
    /// that restores nothing.
    ///
    /// State that does not fit into memory is kept in files that `makeFile` makes.
    package static func losses(
        of input: ArchiveInput,
        options: ArchiveExtractor.Options,
        makeFile: @escaping () throws(SystemError) -> FileDescriptor
    ) throws -> ArchiveExtractor {
        let reader = try ArchiveReader(input, access: .selective, toleratingDamage: true)
        var options = options
        options.passesOverDamage = true
        options.isLenient = reader.header == nil
        options.externalLinks = .keep
        options.extraMetadata = reader.header?.extraMetadata ?? []
        let extractor = ArchiveExtractor(restoringNothing: options, makeFile: makeFile)
        try extractor.extract(from: reader) { _ in }
        return extractor
    }

    private static func verifyHashes(
        of input: ArchiveInput,
        onProgress: (UInt64) -> Void
    ) throws -> ArchiveInspection {
        guard case .migration(let frame) = try ArchiveFormat.authenticated(in: input) else {
            return try readThrough(input, onProgress: onProgress)
        }
        try input.pass(frame)
        let index = try input.readIndex(after: frame)
        let pieces = PieceReader(reading: input, after: frame, index: index, plan: .whole)
        while let chunk = try pieces.nextChunk() {
            pieces.recycle(chunk)
            onProgress(pieces.position)
        }
        guard let index = pieces.index else {
            throw ArchiveError.cutShort
        }
        return ArchiveInspection(
            header: frame.header,
            totals: index.totals,
            fingerprint: index.fingerprint,
            archiveBytes: input.fileSize ?? input.position,
            streamBytes: index.streamBytes,
            frameCount: index.frames.count,
            lacksEndMark: false,
            hasTrailer: false,
            isAndroidBackup: false
        )
    }

    private static func readThrough(
        _ input: ArchiveInput,
        onProgress: (UInt64) -> Void
    ) throws -> ArchiveInspection {
        let reader = try ArchiveReader(input, access: .selective)
        var totals = ArchiveTotals()
        while let entry = try reader.next() {
            totals.count(entry)
            onProgress(reader.consumedBytes)
        }
        return inspection(of: input, reader, totals: totals)
    }

    /// The description of the archive that `reader` read to its end; `totals` were counted.
    private static func inspection(
        of input: ArchiveInput,
        _ reader: ArchiveReader,
        totals: ArchiveTotals
    ) -> ArchiveInspection {
        var totals = reader.totals ?? totals
        if reader.header == nil { totals.dataBytes = totals.contentBytes }
        return ArchiveInspection(
            reader,
            totals: totals,
            archiveBytes: input.fileSize ?? input.position
        )
    }
}
