internal import MigrationSystem

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
        let path = container.rootPath
        let lock = try wait(CancellationFlag()).untilFree(path) { () throws(MigrationError) in
            try ContainerRecovery.lockWhole(path)
        }
        let assignment = ByteString(utf8: Self.containerVariable + "=") + path.path
        try lock.root.descriptor.passToSuccessor()
        try ProcessReplacement.execute(command, settingVariable: assignment)
    }
}
