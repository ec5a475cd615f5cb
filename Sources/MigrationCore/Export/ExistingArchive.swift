package import MigrationArchive
package import MigrationSystem

/// An archive that already exists where an export would write one.
package struct ExistingArchive: Sendable {
    /// The ways in which an export treats an existing archive.
    package enum Policy: String, CaseIterable, Sendable {
        /// Leaves it as it is.
        case keep
        /// Leaves it as it is if it is what the export would write, and fails otherwise.
        case verify
        /// Replaces the archive.
        case replace
    }

    /// The codes of errors that say nothing about the archive itself.
    private static let codesOfReading: [ArchiveError.Code] = [
        .inputFailed, .keyInvalid, .keyMissing, .keyRefused, .passphraseWrong,
    ]

    private let path: BytePath
    private let policy: Policy

    /// Finds the archive at `path`; `nil` if there is none, or if `policy` replaces it.
    package init?(at path: BytePath, policy: Policy) throws {
        guard policy != .replace,
            try FileDescriptor.statusIfPresent(atPath: BytePath(resolving: path)) != nil
        else { return nil }
        (self.path, self.policy) = (path, policy)
    }

    /// Checks the archive as the policy says.
    ///
    /// - Parameters:
    ///   - keys: Opens the archive if it is encrypted; read only if the archive is.
    ///   - key: The key that signs the archive if it has no signature yet; `nil` for none.
    ///   - signature: The path of the signature.
    ///   - operation: The operation that waits for `ssh-keygen`.
    ///   - fingerprint: Computes the fingerprint of the container's data.
    /// - Returns: The archive's fingerprint; `nil` if the archive was not read.
    /// - Throws: ``MigrationError`` of code `outputExists` if the archive is not whole, or of other
    ///   data.
    package func check(
        openedWith keys: @autoclosure () throws -> ArchiveDecryption?,
        signedWith key: BytePath?,
        in signature: BytePath,
        on operation: MigrationOperation,
        comparedWith fingerprint: () async throws -> Fingerprint
    ) async throws -> Fingerprint? {
        let needsSignature =
            try key != nil && FileDescriptor.statusIfPresent(atPath: signature) == nil
        guard policy == .verify || needsSignature else { return nil }
        let inspection = try await inspection(openedWith: keys())
        if policy == .verify, try await fingerprint() != inspection.fingerprint {
            let message = "an archive of other data has that name"
            throw MigrationError(.outputExists, message, path: path)
        }
        if needsSignature, let key {
            try ArchiveStatement(inspection).sign(
                keyPath: key,
                toPath: signature,
                replacesExisting: false,
                on: operation
            )
        }
        return inspection.fingerprint
    }

    private func inspection(openedWith keys: ArchiveDecryption?) async throws -> ArchiveInspection {
        let source = ArchiveSource.file(path: path)
        do {
            return try await (keys.map { source.decrypted(with: $0) } ?? source).verify(.hashes)
        } catch let error as ArchiveError where !Self.codesOfReading.contains(error.code) {
            let message = "a file of that name is there that is not a whole archive"
            throw MigrationError(.outputExists, message, path: path, cause: error)
        }
    }
}
