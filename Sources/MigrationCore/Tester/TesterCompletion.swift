internal import Foundation
internal import MigrationSystem

/// The status that a tester leaves for the app's next launch.
struct TesterCompletion {
    private let path: PathName
    private let record: ImportRecord

    init(_ subject: TestSubject, _ outcome: ImportRecord.Outcome) {
        path = subject.container.rootPath
        let imported = subject.importedSource
        record = ImportRecord(
            outcome: outcome,
            date: Date(),
            bundleIdentifier: imported?.source.bundleIdentifier,
            platform: (imported?.source.platform ?? subject.platform).rawValue,
            resourcesVersion: imported?.sourceVersion ?? subject.exportedVersion,
            fingerprint: nil
        )
    }

    /// Persists the status in the container.
    func register(_ cancellation: CancellationFlag) throws {
        let lock = try MigrationHost.forTests.wait(cancellation).lock(path)
        defer { lock.release() }
        try ContainerRecovery.recover(path, root: lock.root)
        let data = try BookkeepingCoding.encode(record)
        do throws(SystemError) {
            let bookkeeping = try BookkeepingDirectory.make(in: lock.root)
            try bookkeeping.write(data, as: BookkeepingDirectory.recordName)
        } catch {
            let message = "the import status can't be written"
            throw MigrationError(.outputFailed, message, path: path.path, cause: error)
        }
    }
}

extension ImportRecord.Outcome {
    /// What a real import that ended so would persist.
    init(_ status: MigrationStatus) {
        switch status {
        case .success: self = .success
        case .failure(let error as MigrationError) where error.code == .interrupted:
            self = .interrupted
        case .failure(let error as MigrationError): self.init(failure: error)
        case .failure(let error):
            // So a host hands on what an extension threw.
            let failure = MigrationError(.extensionFailed, "the extension failed", cause: error)
            self.init(failure: failure)
        }
    }
}
