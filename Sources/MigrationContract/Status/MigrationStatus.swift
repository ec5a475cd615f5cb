public import Foundation
internal import MigrationSystem

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
    /// The container that the current task asks about, in place of the process's.
    @TaskLocal package static var given: MigrationDataContainer?

    private static let directory = Monitor<URL?>(nil)

    /// The container that ``importStatus`` speaks of where `MIGRATION_CONTAINER` is not set.
    ///
    /// An addition to Apple's interface, for a process that no system has told its container.
    public static var containerDirectory: URL? {
        get { directory.withLock { $0 } }
        set { directory.withLock { $0 = newValue } }
    }

    /// The container that the status is of; `nil` where nothing names one.
    package static var container: MigrationDataContainer? {
        get throws {
            if let given { return given }
            if let container = try MigrationDataContainer.namedByEnvironment { return container }
            return try containerDirectory.map { try MigrationDataContainer(at: $0) }
        }
    }
}
