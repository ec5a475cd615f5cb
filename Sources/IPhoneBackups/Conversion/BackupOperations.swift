internal import MigrationArchive
package import MigrationCore
package import MigrationSystem

/// Operations on iPhone backups, on a thread that may block.
package enum IPhoneBackupOperations {
    /// Lists the apps, groups and plugins of a backup.
    @concurrent
    package static func contents(
        of path: BytePath,
        options: sending IPhoneBackup.Options
    ) async throws -> (contents: BackupContents, warnings: [String]) {
        try await withOperation { operation in
            let backup = try IPhoneBackup(at: path, options: options, on: operation)
            return (try backup.contents(), backup.warnings)
        }
    }

    /// Takes one container out of a backup into an archive.
    ///
    /// - Returns: The report. No archive is written without a destination, or if something is lost
    ///   and `keepsGoing` isn't set.
    @concurrent
    package static func convert(
        _ domain: Domain,
        in path: BytePath,
        reading: sending IPhoneBackup.Options,
        options: ContainerConversion.Options,
        to destination: ArchiveDestination?
    ) async throws -> ContainerReport {
        try await withOperation(threadCount: options.threadCount) { operation in
            var conversion = try ContainerConversion(
                of: domain,
                in: path,
                reading,
                options,
                operation
            )
            guard let destination, conversion.isPossible else { return conversion.report }
            return try conversion.write(to: destination)
        }
    }

    /// Takes one container out of a backup into a container, whole or not at all.
    ///
    /// The archive goes through a pipe, so the process must ignore SIGPIPE.
    ///
    /// - Returns: The report, and that of the import; nothing is imported if something is lost.
    @concurrent
    package static func restore(
        _ domain: Domain,
        in path: BytePath,
        reading: sending IPhoneBackup.Options,
        options: ContainerConversion.Options,
        into container: MigrationDataContainer,
        importing: ImportOptions,
        by host: MigrationHost
    ) async throws -> (report: ContainerReport, imported: ImportReport?) {
        try await withOperation(threadCount: options.threadCount) { operation in
            var conversion = try ContainerConversion(
                of: domain,
                in: path,
                reading,
                options,
                operation
            )
            guard conversion.isPossible else { return (conversion.report, nil) }
            return try await conversion.write(
                into: container,
                importing,
                by: host,
                operation
            )
        }
    }
}

extension ContainerConversion {
    fileprivate init(
        of domain: Domain,
        in path: BytePath,
        _ reading: IPhoneBackup.Options,
        _ options: Options,
        _ operation: MigrationOperation
    ) throws {
        let backup = try IPhoneBackup(at: path, options: reading, on: operation)
        try self.init(of: domain, in: backup, options: options, on: operation)
    }

    /// Writes the archive into a pipe from which another thread imports it.
    fileprivate mutating func write(
        into container: MigrationDataContainer,
        _ importOptions: ImportOptions,
        by host: MigrationHost,
        _ operation: MigrationOperation
    ) async throws -> (report: ContainerReport, imported: ImportReport?) {
        let importing = try Importing(into: container, options: importOptions, by: host)
        let observation = operation.cancellation.observe { importing.task.cancel() }
        defer { withExtendedLifetime(observation) {} }
        do {
            let report = try write(to: importing.destination)
            importing.endInput()
            return (report, try await importing.task.value)
        } catch {
            importing.task.cancel()
            importing.endInput()
            // If the import ended early, writing fails; the import's own error gives the reason.
            let imported = await importing.task.result
            guard (error as? ArchiveError)?.cause?.isBrokenPipe ?? false,
                case .failure(let cause) = imported
            else { throw error }
            throw cause
        }
    }
}

/// An import from a pipe, and the pipe's writing end.
private final class Importing: Sendable {
    let task: Task<ImportReport, any Error>
    private let input: Monitor<OpenFile?>

    init(
        into container: MigrationDataContainer,
        options: ImportOptions,
        by host: MigrationHost
    ) throws {
        let (ours, theirs) = try DescriptorPair.pipe().takeEnds()
        input = Monitor(theirs)
        // Only the import holds the other end: once it ends, writing fails and doesn't wait.
        let thread = try OperationThread.start()
        task = Task(executorPreference: thread) {
            defer { thread.close() }
            return try await host.import(
                .descriptor(ours.descriptor.rawValue),
                into: container,
                options: options
            )
        }
    }

    var destination: ArchiveDestination {
        .descriptor(input.withLock { $0?.descriptor.rawValue ?? -1 })
    }

    func endInput() {
        input.withLock { $0 = nil }
    }
}
