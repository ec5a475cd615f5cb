internal import Foundation
internal import MigrationArchive
internal import MigrationSystem

/// One import of a tester, from a directory into the live container.
struct TesterImport {
    let subject: TestSubject
    let directory: URL
    let request: ResourcesImportRequest?
    let progress: Progress?
    let cancellation: CancellationFlag

    func run() throws {
        let (path, opened) = try openDirectory()
        let root = subject.container.rootPath
        let lock = try MigrationHost.forTests.wait(cancellation).lock(root)
        defer { lock.release() }
        try ContainerRecovery.recover(root, root: lock.root)
        let host = try AppExtensionHost.begin(
            .importing,
            subject.appExtension,
            in: subject.container,
            from: (path, holder: nil),
            cancellation: cancellation
        )
        defer { host.end() }
        let call = call(from: path, to: host)
        subject.noteImport(call)
        let session = AppExtensionImport(host: host, call: call)
        let report = try session.run(progress: progress, cancellation: cancellation) {
            try UnreadFiles(in: opened, at: path.path, cancellation)
        }
        subject.noteImport(report)
        progress?.complete(of: progress?.totalUnitCount ?? 0)
    }

    private func openDirectory() throws(MigrationError) -> (PathName, OpenFile) {
        let given = ByteString(pathOf: directory)
        do throws(SystemError) {
            let path = try PathName(resolvingWhole: given)
            return (path, OpenFile(try FileDescriptor.open(path.path, .directory)))
        } catch {
            let message = "the directory of the resources can't be opened"
            throw MigrationError(.invalidOption, message, path: given, cause: error)
        }
    }

    private func call(from path: PathName, to host: AppExtensionHost) -> ImportCall {
        if let request {
            return ImportCall(
                directory: Data(path.path),
                source: request.sourceAppIdentifier,
                sourceVersion: request.sourceVersion
            )
        }
        return ImportCall(
            directory: Data(path.path),
            source: MigrationAppIdentifier(
                storeIdentifier: subject.platform.defaultStore,
                bundleIdentifier: host.container.bundleIdentifier,
                platform: subject.platform
            ),
            sourceVersion: subject.exportedVersion
                ?? host.description.exports?.resourcesVersion
                ?? ExportOptions().resourcesVersion
        )
    }
}
