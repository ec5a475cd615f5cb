internal import Foundation
internal import MigrationCore
internal import MigrationSystem

/// The directories that a session gives to an extension.
struct SessionDirectories {
    /// The task of the extension.
    enum Role {
        case exporting
        case importing
    }

    let role: Role
    let container: MigrationDataContainer
    let temporaryDirectory: BytePath
    /// The directories of the app groups, by identifier.
    let groups: [String: BytePath]
    /// The files and directories that the person granted outside these directories.
    let grants: SessionGrants
    var appendPolicy: AppendPolicy

    /// The import directory, and the directory that holds only it and the container; `nil` if they
    /// are separate.
    var importDirectory: (path: BytePath, holder: BytePath?)?

    /// The owner of the container, if root works for them.
    let owner: FileOwner?

    /// The temporary directory, if it ends with the session.
    private let ownDirectory: PrivateDirectory?

    /// Prepares the directories of a session in `container` for `appExtension`.
    init(
        _ role: Role,
        container: MigrationDataContainer,
        for appExtension: MigrationExtension
    ) throws(MigrationError) {
        self.role = role
        appendPolicy = role == .exporting ? .ahead : .answered
        self.container = container
        owner = try Self.owner(of: container.rootPath)
        groups = try appExtension.groupDirectories(apartFrom: container.rootPath)
        grants = SessionGrants(
            try appExtension.resolvedGrants(apartFrom: [container.rootPath] + groups.values)
        )
        if case .executable = appExtension.kind {
            let directory = try PrivateDirectory()
            temporaryDirectory =
                if let owner {
                    try directory.makeDirectory([UInt8](utf8: "files"), for: owner)
                } else {
                    directory.path
                }
            ownDirectory = directory
        } else {
            temporaryDirectory = try Self.commonDirectory()
            ownDirectory = nil
        }
    }

    /// Removes the extension's temporary directory.
    func remove() {
        ownDirectory?.remove()
    }

    /// Opens the directories that the extension may export from; it knows them by `paths`.
    func sourceRoots(as paths: SessionPaths) throws(MigrationError) -> SourceRoots {
        var roots = SourceRoots()
        do throws(SystemError) {
            try roots.add(container.rootPath, .container)
            for group in groups.values { try roots.add(group, .applicationGroup) }
            try roots.add(temporaryDirectory, .temporaryDirectory)
            // A resource inside another one must be found before the outer one.
            for grant in grants.grants.reversed() { try roots.add(grant.path, .grantedResource) }
        } catch {
            let message = "the directories that the extension may export can't be opened"
            let path = container.rootPath
            throw MigrationError(.containerInvalid, message, path: path, cause: error)
        }
        for alias in paths.aliases { roots.addAlias(alias.path, of: alias.directory) }
        return roots
    }

    /// The directories whose paths the extension gets.
    var all: [SessionDirectory] {
        var directories: [SessionDirectory] = []
        if let holder = importDirectory?.holder {
            directories.append(SessionDirectory(path: holder, label: "staging", isListed: false))
        } else {
            let root = container.rootPath
            directories.append(SessionDirectory(path: root, label: "container", isListed: true))
            if let path = importDirectory?.path {
                directories.append(SessionDirectory(path: path, label: "import", isListed: true))
            }
        }
        for (_, path) in groups.sorted(by: { $0.key < $1.key }) {
            directories.append(SessionDirectory(path: path, label: "group", isListed: true))
        }
        // An extension in its host's process uses the process's temporary directory.
        guard ownDirectory != nil else { return directories }
        let temporary = temporaryDirectory
        return directories
            + [SessionDirectory(path: temporary, label: "temporary", isListed: true)]
    }

    /// The directories that the extension may fill.
    ///
    /// One in its host's process shares the temporary directory with others.
    var filled: [BytePath] {
        let written = role == .importing ? [container.rootPath] + groups.values : []
        return written + (ownDirectory == nil ? [] : [temporaryDirectory])
    }

    /// The directories for the extension's code in its host's process.
    func context(as paths: SessionPaths) -> ExtensionContext {
        ExtensionContext(
            container: container.located(at: paths.shown(container.rootPath)),
            groups: groups.mapValues { URL(containerAtPath: paths.shown($0)) },
            temporaryDirectory: URL(directoryAtPath: temporaryDirectory),
            grants: grants
        )
    }

    private static func owner(of container: BytePath) throws(MigrationError) -> FileOwner? {
        do {
            return try FileOwner(servedIn: FileDescriptor.open(container, .directory))
        } catch {
            let message = "the container can't be opened"
            throw MigrationError(
                .containerInvalid,
                message,
                path: container,
                cause: error
            )
        }
    }

    private static func commonDirectory() throws(MigrationError) -> BytePath {
        let path = Environment.temporaryDirectory
        do {
            return try BytePath(resolving: path)
        } catch {
            let message = "the directory of temporary files can't be reached"
            throw MigrationError(.outputFailed, message, path: path, cause: error)
        }
    }
}

/// A directory that a session gives to an extension.
struct SessionDirectory {
    let path: BytePath

    /// Its role in a word.
    let label: String

    /// Whether the extension may list it, and not only its contents.
    let isListed: Bool
}
