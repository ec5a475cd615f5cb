internal import Foundation
internal import MigrationContainers
internal import MigrationCore
internal import MigrationSystem

/// The extension under test, and its app's container.
package struct ExtensionUnderTest: Sendable {
    /// The declaration of the current test; `nil` if it has none.
    @TaskLocal static var current: ExtensionUnderTest?

    private static let extensionVariable = "MIGRATION_EXTENSION"
    private static let entitlementsVariable = "MIGRATION_ENTITLEMENTS"
    fileprivate static let groupsVariable = "MIGRATION_GROUPS"
    fileprivate static let grantsVariable = "MIGRATION_GRANTS"

    let appExtension: MigrationExtension
    let container: MigrationDataContainer
    private let kept = TestDirectories()

    /// Declares that tests use `appExtension` and `container`.
    package init(_ appExtension: MigrationExtension, container: MigrationDataContainer) {
        self.appExtension = appExtension
        self.container = container
    }

    /// Runs a test whose testers, import status and app groups belong to this extension.
    package func perform<Result>(
        _ test: @concurrent @Sendable () async throws -> Result
    ) async throws -> Result {
        // If a test calls its extension directly, the extension finds the same directories as in a
        // session.
        let directories = try directories()
        let paths = try SessionPaths(linking: directories, because: .ownProcess)
        defer { paths.remove() }
        let grants = try appExtension.resolvedGrants(apartFrom: directories.map(\.path))
        let context = ExtensionContext(
            container: container.located(at: paths.shown(container.rootPath)),
            groups: appExtension.applicationGroups.mapValues { url in
                URL(containerAtPath: paths.shown(BytePath(of: url)))
            },
            temporaryDirectory: nil,
            grants: SessionGrants(grants)
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

    /// Keeps a tester's directory until the test ends, even if the tester is released earlier.
    func keep(_ directory: PrivateDirectory) {
        kept.keep(directory)
    }
}

extension ExtensionUnderTest {
    /// The declaration of the current test, or else of the environment.
    ///
    /// - Throws: ``MigrationError`` of code `nothingToTest` if both are incomplete, of code
    ///   `containerInvalid` if the environment names something other than a container, and of code
    ///   `invalidOption` if its app groups or grants are malformed.
    static func find() throws(MigrationError) -> ExtensionUnderTest {
        if let current { return current }
        guard let program = url(in: extensionVariable) else { throw missing(extensionVariable) }
        guard let container = try MigrationDataContainer.namedByEnvironment else {
            throw missing(MigrationHost.containerVariable)
        }
        var appExtension = MigrationExtension.executable(at: program)
        appExtension.entitlements = url(in: entitlementsVariable)
        try appExtension.readGroups(of: Environment.path(in: groupsVariable)?.bytes ?? [])
        try appExtension.readGrants(of: Environment.path(in: grantsVariable)?.bytes ?? [])
        return ExtensionUnderTest(appExtension, container: container)
    }

    private static func url(in variable: String) -> URL? {
        Environment.path(in: variable).map { URL(fileAtPath: $0) }
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
    /// Reads app groups from `list`: one line `identifier=directory` each, without a directory for
    /// a group to omit.
    fileprivate mutating func readGroups(of list: [UInt8]) throws(MigrationError) {
        let variable = ExtensionUnderTest.groupsVariable
        for (identifier, directory) in try Self.assignments(in: list, of: variable) {
            if directory.isEmpty {
                omittedGroups.insert(identifier)
            } else {
                applicationGroups[identifier] = URL(fileAtPath: BytePath(directory))
            }
        }
    }

    /// Reads granted resources from `list`: one line `name=path` each, with `:rw` after the path of
    /// one that the extension may change.
    fileprivate mutating func readGrants(of list: [UInt8]) throws(MigrationError) {
        let variable = ExtensionUnderTest.grantsVariable
        for (name, value) in try Self.assignments(in: list, of: variable) {
            let end = value.suffix(3)
            let isWritable = end.elementsEqual(":rw".utf8)
            let path = isWritable || end.elementsEqual(":ro".utf8) ? value.dropLast(3) : value
            guard !path.isEmpty else {
                throw MigrationError(.invalidOption, "\(variable) gives '\(name)' no path")
            }
            grantedResources.append(
                GrantedResource(
                    name: name,
                    url: URL(fileAtPath: BytePath(path)),
                    isWritable: isWritable
                )
            )
        }
    }

    /// Reads the lines `name=value` of an environment variable.
    private static func assignments(
        in list: [UInt8],
        of variable: String
    ) throws(MigrationError) -> [(name: String, value: ArraySlice<UInt8>)] {
        var assignments: [(name: String, value: ArraySlice<UInt8>)] = []
        for line in list.split(separator: UInt8(ascii: "\n")) {
            guard let end = line.firstIndex(of: UInt8(ascii: "=")), end > line.startIndex,
                let name = String(validating: line[..<end], as: UTF8.self)
            else {
                let message = "\(variable) has a line that is not of the form name=path"
                throw MigrationError(.invalidOption, message, path: BytePath(line))
            }
            assignments.append((name, line[(end + 1)...]))
        }
        return assignments
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
    /// Makes a fresh container in `directory`, like the one that a migration imports into.
    ///
    /// Without a bundle identifier, it belongs to the app that the extension's entitlement names.
    ///
    /// - Throws: ``MigrationError`` of code `outputFailed`.
    package static func makeFresh(
        in directory: PrivateDirectory,
        bundleIdentifier: String?,
        for appExtension: MigrationExtension
    ) throws(MigrationError) -> MigrationDataContainer {
        let path = directory.path / "container"
        do throws(SystemError) {
            let parent = try FileDescriptor.open(path.parent, .directory)
            try parent.makeDirectory(path.lastComponent, permissions: 0o755)
            try ContainerLayout.makeSkeleton(
                in: OpenFile(try parent.open(path.lastComponent, .directory))
            )
        } catch {
            let message = "a container can't be made"
            throw MigrationError(.outputFailed, message, path: path, cause: error)
        }
        let container = MigrationDataContainer(root: path, knownIdentifier: bundleIdentifier)
        guard bundleIdentifier == nil else { return container }
        // A tester reports problems with the entitlement.
        let entitled = try? Entitlement.check(appExtension, for: container)
        return MigrationDataContainer(root: path, knownIdentifier: entitled?.identifier)
    }

    /// Replaces everything in the container, including its bookkeeping, with the directories of a
    /// fresh one.
    ///
    /// It waits like a tester.
    ///
    /// - Throws: ``MigrationError`` of codes `containerBusy`, `containerInvalid` and
    ///   `outputFailed`; `CancellationError`.
    package func clear() throws {
        let lock = try MigrationHost.forTests.wait(on: MigrationOperation()).lockForWriting(self)
        defer { lock.release() }
        do throws(SystemError) {
            for name in try DirectoryListing(of: lock.root.descriptor)
            where name != ContainerLayout.metadataName {
                try lock.root.descriptor.removeTree(name)
            }
            let name = ContainerLayout.bookkeepingName
            if try lock.directory.descriptor.statusIfPresent(of: name) != nil {
                try lock.directory.descriptor.removeTree(name)
            }
            try ContainerLayout.makeSkeleton(in: lock.root)
        } catch {
            let message = "the container can't be emptied"
            throw MigrationError(.outputFailed, message, path: rootPath, cause: error)
        }
    }
}
