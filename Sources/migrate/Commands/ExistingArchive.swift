internal import MigrationCore
internal import MigrationReports
internal import MigrationSystem

/// An archive that already exists where an export would write one.
struct ExistingArchive: Sendable {
    /// The ways in which an export treats an existing archive.
    enum Policy: String, CaseIterable, Sendable {
        /// Leaves it as it is.
        case keep
        /// Leaves it as it is if it is what the export would write, and fails otherwise.
        case verify
        /// Replaces the archive.
        case replace
    }

    private let name: ArchiveName
    private let policy: Policy

    /// Finds the archive `name`; `nil` if there is none, or if `policy` replaces it.
    init?(_ name: ArchiveName, policy: Policy) throws {
        guard policy != .replace,
            try FileDescriptor.statusIfPresent(atPath: BytePath(resolving: name.path)) != nil
        else { return nil }
        self.name = name
        self.policy = policy
    }

    /// Checks the archive as the policy says.
    ///
    /// - Parameters:
    ///   - key: The key that signs the archive if it has no signature yet; `nil` for none.
    ///   - fingerprint: Computes the fingerprint of the container's data.
    /// - Returns: The answer of an export that leaves the archive as it is.
    /// - Throws: ``MigrationError`` of code `outputExists` if the archive is not whole, or of other
    ///   data.
    func answer(
        signedWith key: BytePath?,
        comparedWith fingerprint: () async throws -> Fingerprint
    ) async throws -> ExistingArchiveAnswer {
        let signature = try SignatureFlags.path(nil, of: name)
        let needsSignature =
            try key != nil && FileDescriptor.statusIfPresent(atPath: signature) == nil
        guard policy == .verify || needsSignature else {
            return ExistingArchiveAnswer(name, .kept, fingerprint: nil)
        }
        let inspection = try await inspection()
        if policy == .verify, try await fingerprint() != inspection.fingerprint {
            let message = "an archive of other data has that name"
            throw MigrationError(.outputExists, message, path: name.path)
        }
        if needsSignature, let key {
            try ArchiveStatement(inspection).sign(
                keyPath: key,
                toPath: signature,
                replacesExisting: false,
                on: MigrationOperation(cancellation: SignalWatch.interruption)
            )
        }
        return ExistingArchiveAnswer(
            name,
            policy == .verify ? .unchanged : .kept,
            fingerprint: inspection.fingerprint?.description
        )
    }

    private func inspection() async throws -> ArchiveInspection {
        let source = ArchiveSource.file(path: name.path)
        do {
            // An encrypted archive is opened with the keys of the environment.
            let keys = try DecryptionFlags().decryption()
            return try await (keys.map { source.decrypted(with: $0) } ?? source).verify(.hashes)
        } catch let error as ArchiveError where ExitCode(error.code) == .badArchive {
            let message = "a file of that name is there that is not a whole archive"
            throw MigrationError(.outputExists, message, path: name.path, cause: error)
        }
    }
}
