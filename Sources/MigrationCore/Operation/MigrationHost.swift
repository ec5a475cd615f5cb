public import MigrationContainers
public import MigrationContract
package import MigrationSystem

/// The system side of a migration: what iOS does around an app's extension.
///
/// A host locks the container, asks the extension, writes or reads the archive, commits in one
/// step, and persists the outcome. If the app has no extension, the host moves the whole container.
///
///     let container = try MigrationDataContainer(
///         at: directory,
///         bundleIdentifier: "com.example.notes"
///     )
///     let report = try await MigrationHost().export(container, to: .file(archive))
///
/// The work runs on the host's own threads. Cancelling the calling task stops it: the host cleans
/// up and throws `CancellationError`.
public struct MigrationHost: Sendable {
    /// The version of this library.
    public static let version = "0.1.0"

    /// The day of the version, as manual pages name it.
    package static let releaseDate = "November 23, 2026"

    /// The environment variable that names the container to an app's process.
    public static let containerVariable = MigrationDataContainer.environmentVariable

    package static let creator = "migrate \(version)"

    /// How long an operation waits for a container that another process uses; by default not at
    /// all.
    ///
    /// Time during which the machine sleeps does not count. If the container is still in use after
    /// that, the operation throws a ``MigrationError`` of code `containerBusy`, which names the
    /// process.
    public var waitLimit = Duration.zero

    /// Called once if an operation has to wait, with the error that names the reason.
    public var waitHandler: (@Sendable (MigrationError) -> Void)?

    /// Whether an operation waits without limit for other operations of this process.
    var queues = false

    /// Makes a host.
    public init() {}

    /// How an operation that `cancellation` stops waits for its container.
    func wait(_ cancellation: CancellationFlag) -> LockWait {
        LockWait(
            limit: waitLimit,
            queues: queues,
            cancellation: cancellation,
            handler: waitHandler
        )
    }
}

// MARK: - Apps in a container

extension MigrationHost {
    /// Replaces this process with an app that runs `command` while no migration uses the container.
    ///
    /// The app inherits the container's shared lock. The lock ends with the app and its child
    /// processes, so no migration starts before that. The environment tells the app its container.
    ///
    /// - Throws: ``MigrationError`` of code `containerBusy` if a migration is still running after
    /// ``waitLimit``, or if an interrupted one waits for other processes to release the container;
    ///   ``SystemError`` if the command can't be run. The method returns only by throwing.
    package func execute(
        _ command: [[UInt8]],
        in container: MigrationDataContainer
    ) throws -> Never {
        let lock = try lockWhole(container)
        try lock.directory.descriptor.passToSuccessor()
        try ProcessReplacement.execute(command, settingVariable: Self.assignment(of: container))
    }

    /// Starts an app that runs `command`, as ``execute(_:in:)`` does, as a child of this process.
    package func start(
        _ command: [[UInt8]],
        in container: MigrationDataContainer,
        signals: ForegroundProcess.Signals
    ) throws -> ForegroundProcess {
        let lock = try lockWhole(container)
        try lock.directory.descriptor.passToSuccessor()
        return try ForegroundProcess.start(
            command,
            settingVariable: Self.assignment(of: container),
            signals: signals
        )
    }

    private func lockWhole(_ container: MigrationDataContainer) throws -> ContainerLock {
        let place = container.place
        return try wait(CancellationFlag()).untilFree(place.path) { () throws(MigrationError) in
            try ContainerRecovery.lockWhole(place, for: .app)
        }
    }

    private static func assignment(of container: MigrationDataContainer) -> [UInt8] {
        [UInt8](utf8: containerVariable + "=") + container.rootPath.bytes
    }
}

// MARK: - Interrupted imports

extension MigrationHost {
    /// Finishes an interrupted import, or gives it up.
    ///
    /// Every export and import does the same before it begins; this method also reports the
    /// outcome. It gives an import up only on request.
    ///
    /// - Parameters:
    ///   - container: The container, which nobody else may be using.
    ///   - discards: Whether to give up an import that can't be finished, or bookkeeping that can't
    ///     be understood. Old data returns to its place where that is free. All other data is kept
    ///     in the directories `.migration-kept-1` and so on in the container.
    /// - Returns: What was done, and where data was kept.
    /// - Throws: ``MigrationError`` of code `containerBusy` if someone uses the container, and of
    ///   code `containerInvalid` if the import can only be given up.
    public func recover(
        _ container: MigrationDataContainer,
        discards: Bool = false
    ) throws(MigrationError) -> RecoveryReport {
        try ContainerRecovery.recover(container, discards: discards)
    }
}
