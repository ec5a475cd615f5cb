internal import MigrationSystem

extension MigrationHost {
    /// Replaces this process by an app that runs `command` with the container to itself.
    ///
    /// The container's shared lock passes to the app and ends with it and whatever it started, so
    /// that no migration starts meanwhile. The environment tells the app its container.
    ///
    /// - Throws: ``MigrationError`` of code `containerBusy` while a migration is under way, or is to
    ///   be brought to its end when others let go of the container; ``SystemError`` where the command
    ///   can't be run. It returns only by throwing.
    package func execute(
        _ command: [[UInt8]],
        in container: MigrationDataContainer
    ) throws -> Never {
        let lock = try ContainerRecovery.lockWhole(container.rootPath)
        let assignment = ByteString(utf8: Self.containerVariable + "=") + container.rootPath.path
        try lock.root.descriptor.passToSuccessor()
        try ProcessReplacement.execute(command, settingVariable: assignment)
    }
}
