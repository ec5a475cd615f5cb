public import Foundation
internal import Synchronization

/// How the migration into the app's container ended, for the app to ask at its first launch.
///
/// Corresponds to AppMigrationKit's type of that name. The process that asks finds its container by
/// the environment variable `MIGRATION_CONTAINER`, else by ``containerDirectory``; in a test whose
/// trait gave it a container, that is it.
public enum MigrationStatus {
    /// The data was imported.
    case success

    /// The import failed, and the container holds nothing of it.
    case failure(any Error)

    /// How the import ended; `nil` where none did since the status was cleared.
    ///
    /// The error of a failure is an `NSError` with the domain, the code and the description of what
    /// was thrown, and as much of its other information as ``PersistedError`` carries, or a ``MigrationError`` of code `interrupted` where the import was cut off. Where the
    /// persisted status can't be read, the result is a failure with a ``MigrationError`` of code
    /// `statusUnreadable`, or `containerInvalid` where there is no container, and the status stays as
    /// it is.
    public static var importStatus: MigrationStatus? {
        do {
            guard let container = try currentContainer else { return nil }
            guard let record = try container.importRecord() else { return nil }
            // A container that takes no changes has a status all the same.
            try? container.noteReading(of: record)
            return MigrationStatus(record)
        } catch {
            return .failure(error)
        }
    }

    /// Sets the status to `nil`, because the person was told.
    ///
    /// Where the status can't be removed it stays; ``MigrationDataContainer/clearImportRecord()`` says why.
    public static func clearImportStatus() {
        // Apple's interface has no way to report a failure here; the status then stays set.
        try? currentContainer?.clearImportRecord()
    }

    private init(_ record: ImportRecord) {
        switch record.outcome {
        case .success: self = .success
        case .failure(let error): self = .failure(error.error)
        case .interrupted:
            let error = MigrationError(.interrupted, "the import was interrupted")
            self = .failure(error)
        }
    }
}

@available(*, unavailable)
extension MigrationStatus: Sendable {}

extension MigrationStatus {
    private static let directory = Mutex<URL?>(nil)

    /// The container that ``importStatus`` speaks of where `MIGRATION_CONTAINER` is not set.
    ///
    /// An addition to Apple's interface, for a process that no system has told its container.
    public static var containerDirectory: URL? {
        get { directory.withLock { $0 } }
        set { directory.withLock { $0 = newValue } }
    }

    private static var currentContainer: MigrationDataContainer? {
        get throws {
            if let tested = ExtensionUnderTest.current { return tested.container }
            if let container = try MigrationDataContainer.namedByEnvironment { return container }
            return try containerDirectory.map { try MigrationDataContainer(at: $0) }
        }
    }
}
