package import MigrationSystem

/// The system side of a migration: what iOS does around an app's extension, for anyone to call.
///
/// A host locks the container, asks the extension, writes or reads the archive, commits in one step,
/// and persists the outcome. With no extension of the app's own, the whole container is moved.
///
///     let container = try MigrationDataContainer(
///         at: directory,
///         bundleIdentifier: "com.example.notes"
///     )
///     let report = try await MigrationHost().exportContainer(container, to: .file(archive))
///
/// The work is done on threads of the host's own; cancelling the calling task ends it, with
/// everything cleaned up and a `CancellationError`.
public struct MigrationHost: Sendable {
    /// The version of this library.
    public static let version = "0.1.0"

    /// The environment variable that tells an app's process its container.
    public static let containerVariable = MigrationDataContainer.environmentVariable

    package static let creator = "migrate \(version)"

    /// How long an operation waits for a container that another process uses; by default not at all.
    ///
    /// The time for which the machine sleeps does not count. An operation that waited in vain throws a
    /// ``MigrationError`` of code `containerBusy`, which names the process.
    public var waitLimit = Duration.zero

    /// Is told once, where an operation begins to wait, what it waits for.
    public var waitHandler: (@Sendable (MigrationError) -> Void)?

    /// Whether operations of this process, which end by themselves, are waited for as long as it takes.
    var queues = false

    /// Makes a host.
    public init() {}

    /// How long an operation waits that `cancellation` ends.
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
    /// Replaces this process by an app that runs `command` with the container to itself.
    ///
    /// The container's shared lock passes to the app and ends with it and whatever it started, so
    /// that no migration starts meanwhile. The environment tells the app its container.
    ///
    /// - Throws: ``MigrationError`` of code `containerBusy` while a migration is under way, or is to
    ///   be brought to its end when others let go of the container, and for ``waitLimit`` after; ``SystemError`` where the command
    ///   can't be run. It returns only by throwing.
    package func execute(
        _ command: [[UInt8]],
        in container: MigrationDataContainer
    ) throws -> Never {
        let lock = try lockWhole(container)
        try lock.root.descriptor.passToSuccessor()
        try ProcessReplacement.execute(command, settingVariable: Self.assignment(of: container))
    }

    /// Starts an app that runs `command` with the container to itself, as ``execute(_:in:)`` does, beside
    /// this process.
    package func start(
        _ command: [ByteString],
        in container: MigrationDataContainer,
        _ signals: ForegroundProcess.Signals
    ) throws -> ForegroundProcess {
        let lock = try lockWhole(container)
        try lock.root.descriptor.passToSuccessor()
        return try ForegroundProcess.start(
            command,
            settingVariable: Self.assignment(of: container),
            signals
        )
    }

    private func lockWhole(_ container: MigrationDataContainer) throws -> ContainerLock {
        let path = container.rootPath
        return try wait(CancellationFlag()).untilFree(path) { () throws(MigrationError) in
            try ContainerRecovery.lockWhole(path)
        }
    }

    private static func assignment(of container: MigrationDataContainer) -> ByteString {
        ByteString(utf8: containerVariable + "=") + container.rootPath.path
    }
}
