package import MigrationSystem

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
