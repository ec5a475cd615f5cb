public import Foundation
internal import MigrationSystem

/// The outcome of the migration into the app's container, which the app reads at its first launch.
///
/// Corresponds to AppMigrationKit's type of that name. The status is that of the container which
/// the environment variable `MIGRATION_CONTAINER` names, or else of ``containerDirectory``. In a
/// test whose trait gives it a container, it is the status of that container.
public enum MigrationStatus {
    /// The data was imported.
    case success

    /// The import failed, and the container holds none of its data.
    case failure(any Error)

    package init(_ record: ImportRecord) {
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
    /// The container whose status the current task reads, instead of the process's.
    @TaskLocal package static var given: MigrationDataContainer?

    private static let directory = Monitor<URL?>(nil)

    /// The container whose status ``importStatus`` is, if `MIGRATION_CONTAINER` is not set.
    ///
    /// An addition to Apple's interface, for a process that was not started for a container.
    public static var containerDirectory: URL? {
        get { directory.withLock { $0 } }
        set { directory.withLock { $0 = newValue } }
    }

    /// The container whose status is read; `nil` if nothing names one.
    package static var container: MigrationDataContainer? {
        get throws {
            if let given { return given }
            if let container = try MigrationDataContainer.namedByEnvironment { return container }
            return try containerDirectory.map { try MigrationDataContainer(at: $0) }
        }
    }
}
