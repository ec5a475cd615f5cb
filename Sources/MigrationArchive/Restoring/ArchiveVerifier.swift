/// Checks an archive without restoring anything.
package enum ArchiveVerifier {
    /// How much of an archive is checked.
    package enum Scope {
        /// The hashes alone; entries are not read.
        case hashes
        /// Everything that an extraction with these options checks, except for errors of the disk.
        case everything(ArchiveExtractor.Options)
    }

    /// Checks an archive as `scope` says; the tar file of another program, which has no hashes, is
    /// always read completely.
    package static func verify(
        _ input: ArchiveInput,
        scope: Scope,
        onProgress: (UInt64) -> Void
    ) throws -> ArchiveInspection {
        let reader = try ArchiveReader(input, access: .whole)
        var totals = ArchiveTotals()
        switch scope {
        case .hashes where reader.header != nil: try reader.provePieces(onProgress: onProgress)
        case .hashes:
            while let entry = try reader.next() {
                totals.count(entry)
                onProgress(reader.consumedBytes)
            }
        case .everything(let options):
            var options = options
            options.isLenient = reader.header == nil
            let extractor = ArchiveExtractor(restoringNothing: options)
            try extractor.extract(from: reader, onProgress: onProgress)
            totals = extractor.tally.totals
        }
        totals = reader.totals ?? totals
        if reader.header == nil { totals.dataBytes = totals.contentBytes }
        return ArchiveInspection(
            reader,
            totals: totals,
            archiveBytes: input.fileSize ?? input.position
        )
    }

    /// The parts of a damaged archive that can't be read, found by an extraction with `options`
    /// that restores nothing.
    package static func losses(
        of input: ArchiveInput,
        options: ArchiveExtractor.Options
    ) throws -> ArchiveExtractor {
        let reader = try ArchiveReader(input, access: .selective, toleratingDamage: true)
        var options = options
        options.passesOverDamage = true
        options.isLenient = reader.header == nil
        options.externalLinks = .keep
        options.extraMetadata = reader.header?.extraMetadata ?? []
        let extractor = ArchiveExtractor(restoringNothing: options)
        try extractor.extract(from: reader) { _ in }
        return extractor
    }
}
