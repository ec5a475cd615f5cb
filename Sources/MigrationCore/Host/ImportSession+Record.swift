internal import Foundation
internal import MigrationArchive
internal import MigrationSystem

/// What is kept of how an import ended.
extension ImportSession {
    /// The record of `outcome`: what the importer was told of the source, which may differ from what the
    /// archive says of itself.
    func record(
        _ outcome: ImportRecord.Outcome,
        _ header: ArchiveHeader?,
        _ token: StagingToken,
        fingerprint: Fingerprint? = nil
    ) -> ImportRecord {
        let source = options.source
        return ImportRecord(
            outcome: outcome,
            date: Date(),
            bundleIdentifier: source.bundleIdentifier ?? header?.bundleIdentifier,
            platform: source.platform?.rawValue ?? header?.platform,
            resourcesVersion: source.version ?? header?.resourcesVersion,
            fingerprint: fingerprint?.description,
            staging: token.text
        )
    }

    /// Whether the import was refused rather than failed: whoever asked for it can ask otherwise, and
    /// what is known of an earlier import stays.
    static func isRefusal(_ error: any Error) -> Bool {
        if let error = error as? ArchiveError { return error.isAboutKey }
        guard let error = error as? MigrationError else { return false }
        switch error.code {
        case .confinementUnavailable, .containerBusy, .containerHoldsData, .entitlementInvalid,
            .extensionUnsuitable, .identifierMismatch, .invalidOption, .pathNeedsEncoding,
            .signatureInvalid, .signingFailed:
            return true
        default: return false
        }
    }

    /// Takes back that an import had begun, in the container whose root is locked.
    func withdraw(in root: OpenFile) throws {
        guard let bookkeeping = try BookkeepingDirectory(in: root),
            try ImportJournal.read(from: bookkeeping)?.phase == .staging
        else { return }
        try RecordReserve.remove(from: bookkeeping)
        try bookkeeping.remove(BookkeepingDirectory.journalName)
        do {
            try root.descriptor.removeDirectory(ContainerLayout.bookkeepingName)
        } catch {
            guard error.isNotEmpty || error.isExisting else { throw error }
        }
    }

    /// Persists why the import failed, in the container whose root is locked.
    func recordFailure(
        _ error: any Error,
        _ header: ArchiveHeader?,
        in root: OpenFile,
        _ reserve: RecordReserve?,
        _ token: StagingToken
    ) throws {
        let bookkeeping = try BookkeepingDirectory.make(in: root)
        let journal = try ImportJournal.read(from: bookkeeping)
        // A commit that could not be undone goes on at the next command; it did not fail yet.
        guard journal == nil || journal?.phase == .staging else { return }
        let outcome: ImportRecord.Outcome
        if error is CancellationError {
            outcome = .interrupted
        } else {
            outcome = ImportRecord.Outcome(failure: error)
        }
        let data = try BookkeepingCoding.encode(record(outcome, header, token))
        if try reserve?.write(data) != true {
            try bookkeeping.write(data, as: BookkeepingDirectory.recordName)
        }
        try bookkeeping.remove(BookkeepingDirectory.journalName)
    }

    /// Names the container in errors that know only the system's call.
    static func located(_ error: any Error, at path: PathName) -> any Error {
        guard let error = error as? SystemError else { return error }
        let code: MigrationError.Code = error.isOutOfSpace ? .outOfSpace : .outputFailed
        return MigrationError(code, "the import failed", path: path.path, cause: error)
    }
}
