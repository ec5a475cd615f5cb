internal import Foundation
internal import MigrationArchive
internal import MigrationSystem

/// One export: the container locked, an extension asked, an archive written and committed.
struct ExportSession {
    let container: MigrationDataContainer
    let destination: ArchiveDestination
    let options: ExportOptions
    let appExtension: MigrationExtension?
    let progress: Progress?
    let cancellation: CancellationFlag
    let wait: LockWait

    func run() throws -> ExportReport {
        let lock = try wait.lock(container.rootPath)
        defer { lock.release() }
        try ContainerRecovery.recover(container.rootPath, root: lock.root)
        let hosted = try hostedExtension(root: lock.root)
        defer { hosted.end() }
        let file = try ArchiveFile.make(at: destination, cancellation: cancellation)
        let report: ExportReport
        do {
            let properties = try hosted.properties(availableSpace: file.availableSpace)
            progress?.setTotal(Int64(clamping: properties.sizeEstimate))
            try checkSpace(for: properties, available: file.availableSpace)
            report = try write(hosted, properties, to: file.output, file.identity, root: lock.root)
        } catch {
            file.discard()
            throw error
        }
        try file.commit()
        return report
    }

    private func hostedExtension(root: OpenFile) throws -> any ExportingExtension {
        guard let appExtension else {
            return WholeContainerExtension(
                container,
                root: root,
                options: options,
                cancellation: cancellation
            )
        }
        let host = try AppExtensionHost.begin(
            .exporting,
            appExtension,
            in: container,
            cancellation: cancellation
        )
        let call = ExportCall(
            platform: options.destinationPlatform,
            options: options.destinationOptions
        )
        return AppExtensionExport(host: host, call: call)
    }

    /// Throws where the archive can't fit, whatever compression makes of the content.
    private func checkSpace(for properties: ExportProperties, available: UInt64?) throws {
        guard let available else { return }
        let content = properties.allocatedBytes ?? properties.sizeEstimate
        let needed = properties.isCompressible ? content / 4 : content
        guard needed > available else { return }
        let message =
            "the archive needs about \(needed) bytes or more, and \(available) are free"
        guard case .file(let path, _) = destination.place else { return }
        throw MigrationError(.outOfSpace, message, path: path)
    }

    private func write(
        _ hosted: any ExportingExtension,
        _ properties: ExportProperties,
        to output: ArchiveOutput,
        _ identity: FileStatus.Identity?,
        root: OpenFile
    ) throws -> ExportReport {
        let header = header(properties, of: hosted.container)
        let writer = try ArchiveWriter(
            writingTo: output,
            header: header,
            level: options.compressionLevel,
            threadCount: threadCount,
            cancellation: cancellation
        )
        let archiver = ItemArchiver(
            writingTo: writer,
            outputIdentity: identity,
            progress: progress,
            threadCount: threadCount - 1,
            isStrict: options.isStrict,
            cancellation: cancellation
        )
        archiver.entries.reader = try FileOwner(servedIn: root.descriptor).map { UserIdentity($0) }
        do {
            try hosted.exportResources(to: archiver)
            let left = try hosted.leftBehind(by: archiver)
            if options.expectsComplete, let failure = left?.failure {
                throw failure
            }
            let summary = try writer.finish()
            return report(header, summary, of: archiver, hosted, left)
        } catch {
            writer.abandon()
            throw error
        }
    }

    private var threadCount: Int {
        ThreadCount.resolve(options.threadCount, compressionLevel: options.compressionLevel)
    }

    private func report(
        _ header: ArchiveHeader,
        _ summary: ArchiveWriter.Summary,
        of archiver: ItemArchiver,
        _ hosted: any ExportingExtension,
        _ left: LeftBehind?
    ) -> ExportReport {
        ExportReport(
            header: header,
            totals: summary.totals,
            archiveBytes: summary.archiveBytes,
            streamBytes: summary.streamBytes,
            compressedStreamBytes: summary.compressedStreamBytes,
            fingerprint: summary.fingerprint,
            omissions: omissions(of: archiver),
            externalLinks: archiver.entries.externalLinks,
            externalLinkCount: archiver.entries.externalLinkCount,
            leftBehind: left,
            appExtension: hosted.report(of: summary.totals)
        )
    }

    private func omissions(of archiver: ItemArchiver) -> OmissionList {
        var omissions = archiver.entries.omissions
        for omission in appExtension?.groupOmissions ?? [] { omissions.append(omission) }
        return omissions
    }

    private func header(
        _ properties: ExportProperties,
        of container: MigrationDataContainer
    ) -> ArchiveHeader {
        ArchiveHeader(
            bundleIdentifier: container.bundleIdentifier,
            platform: (options.platform ?? container.platform).rawValue,
            resourcesVersion: properties.resourcesVersion,
            sizeEstimate: properties.sizeEstimate,
            isCompressible: properties.isCompressible,
            creator: MigrationHost.creator
        )
    }
}
