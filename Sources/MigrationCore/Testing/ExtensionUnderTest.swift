internal import Foundation
internal import Glibc
internal import MigrationSystem

/// The extension that tests are of, and its app's container.
package struct ExtensionUnderTest: Sendable {
    /// What a test declared in code; `nil` where it declared nothing.
    @TaskLocal static var current: ExtensionUnderTest?

    static let extensionVariable = "MIGRATION_EXTENSION"
    static let entitlementsVariable = "MIGRATION_ENTITLEMENTS"
    static let groupsVariable = "MIGRATION_GROUPS"

    let appExtension: MigrationExtension
    let container: MigrationDataContainer
    private let kept = TestDirectories()

    /// Says that tests are of `appExtension` and use `container`.
    package init(_ appExtension: MigrationExtension, container: MigrationDataContainer) {
        self.appExtension = appExtension
        self.container = container
    }

    /// Runs a test in which testers, the status of imports and app groups are those of this extension.
    package func perform<Result>(
        _ test: @concurrent @Sendable () async throws -> Result
    ) async throws -> Result {
        // What a test calls of its extension itself finds the same places as what a host calls.
        let paths = try SessionPaths(linking: directories(), because: .ownProcess)
        defer { paths.remove() }
        let context = ExtensionContext(
            container: container.located(at: paths.shown(container.rootPath)),
            groups: appExtension.applicationGroups.mapValues { url in
                URL(containerAtPath: paths.shown(ByteString(pathOf: url)))
            },
            temporaryDirectory: nil
        )
        return try await ExtensionContext.$current.withValue(context) {
            try await MigrationStatus.$given.withValue(container) {
                try await Self.$current.withValue(self) { try await test() }
            }
        }
    }

    private func directories() throws(MigrationError) -> [SessionDirectory] {
        let groups = try appExtension.groupDirectories(apartFrom: container.rootPath)
        return [SessionDirectory(path: container.rootPath, label: "container", isListed: true)]
            + groups.values.map { SessionDirectory(path: $0, label: "group", isListed: true) }
    }

    /// Keeps a tester's directory until the test is over, however early the test lets go of the tester.
    func keep(_ directory: PrivateDirectory) {
        kept.keep(directory)
    }
}

extension ExtensionUnderTest {
    /// What a test declared, else what the environment says.
    ///
    /// - Throws: ``MigrationError`` of code `nothingToTest` where neither says it all, of code
    ///   `containerInvalid` where the environment names no container, and of code `invalidOption` where
    ///   its app groups are malformed.
    static func find() throws(MigrationError) -> ExtensionUnderTest {
        if let current { return current }
        guard let program = path(in: extensionVariable) else { throw missing(extensionVariable) }
        guard let container = try MigrationDataContainer.namedByEnvironment else {
            throw missing(MigrationHost.containerVariable)
        }
        var appExtension = MigrationExtension.executable(at: URL(fileAtPath: program))
        appExtension.entitlements = path(in: entitlementsVariable).map { URL(fileAtPath: $0) }
        try appExtension.readGroups(of: path(in: groupsVariable) ?? [])
        return ExtensionUnderTest(appExtension, container: container)
    }

    private static func path(in variable: String) -> ByteString? {
        // Foundation's environment is text, and a path need not be.
        let path = unsafe getenv(variable).map { unsafe ByteString(cString: $0) }
        return path.flatMap { $0.isEmpty ? nil : $0 }
    }

    private static func missing(_ variable: String) -> MigrationError {
        let message = """
            there is no extension to test: give the suite the trait .migration(of:) or \
            .migration(executable:) of AppMigrationTesting, or set \(extensionVariable) to the path of \
            the extension's program and \(MigrationHost.containerVariable) to the directory of its \
            app's container; \(variable) is not set
            """
        return MigrationError(.nothingToTest, message)
    }
}

extension MigrationExtension {
    /// Takes app groups from `list`: a line `identifier=directory` each, without a directory where the
    /// group is left out.
    fileprivate mutating func readGroups(of list: ByteString) throws(MigrationError) {
        for line in list.split(separator: UInt8(ascii: "\n")) {
            guard let end = line.firstIndex(of: UInt8(ascii: "=")), end > line.startIndex else {
                let variable = ExtensionUnderTest.groupsVariable
                let message = "\(variable) has a line that is not of the form identifier=directory"
                throw MigrationError(.invalidOption, message, path: ByteString(line))
            }
            let identifier = String(decoding: line[..<end], as: UTF8.self)
            let directory = ByteString(line[(end + 1)...])
            if directory.isEmpty {
                omittedGroups.insert(identifier)
            } else {
                applicationGroups[identifier] = URL(fileAtPath: directory)
            }
        }
    }
}

/// The directories of the testers in one test.
private final class TestDirectories: Sendable {
    private let directories = Monitor<[PrivateDirectory]>([])

    func keep(_ directory: PrivateDirectory) {
        directories.withLock { $0.append(directory) }
    }
}

// MARK: - Containers for tests

extension MigrationDataContainer {
    /// Makes a fresh container in `directory`, as a migration imports into.
    ///
    /// Where nothing says whose it is, it is of the app that the extension's entitlement names.
    ///
    /// - Throws: ``MigrationError`` of code `outputFailed`.
    package static func makeFresh(
        in directory: PrivateDirectory,
        bundleIdentifier: String?,
        for appExtension: MigrationExtension
    ) throws(MigrationError) -> MigrationDataContainer {
        let path = PathName(parent: directory.path.path, name: ByteString(utf8: "container"))
        do throws(SystemError) {
            let parent = try FileDescriptor.open(path.parent, .directory)
            try parent.makeDirectory(path.name, permissions: 0o755)
            try ContainerLayout.makeSkeleton(
                in: OpenFile(try parent.open(path.name, .directory))
            )
        } catch {
            let message = "a container can't be made"
            throw MigrationError(.outputFailed, message, path: path.path, cause: error)
        }
        let container = MigrationDataContainer(root: path, knownIdentifier: bundleIdentifier)
        guard bundleIdentifier == nil else { return container }
        // What is wrong with the entitlement a tester says.
        let entitled = try? Entitlement.check(appExtension, for: container)
        return MigrationDataContainer(root: path, knownIdentifier: entitled?.identifier)
    }

    /// Replaces everything in the container, its bookkeeping too, by the directories of a fresh one.
    ///
    /// It waits for its turn as testers do.
    ///
    /// - Throws: ``MigrationError`` of codes `containerBusy`, `containerInvalid` and `outputFailed`;
    ///   `CancellationError`.
    package func clear() throws {
        let lock = try MigrationHost.forTests.wait(CancellationFlag()).lock(rootPath)
        defer { lock.release() }
        do throws(SystemError) {
            let listing = try DirectoryListing(of: lock.root.descriptor)
            for index in 0..<listing.count where listing[index] != ContainerLayout.metadataName {
                try lock.root.descriptor.removeTree(listing[index])
            }
            try ContainerLayout.makeSkeleton(in: lock.root)
        } catch {
            let message = "the container can't be emptied"
            throw MigrationError(.outputFailed, message, path: rootPath.path, cause: error)
        }
    }
}
