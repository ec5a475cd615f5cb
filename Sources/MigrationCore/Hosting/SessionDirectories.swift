internal import Foundation
internal import MigrationSystem

/// The directories that a session gives to an extension.
struct SessionDirectories {
    /// What the extension is there for.
    enum Role {
        case exporting
        case importing
    }

    let role: Role
    let container: MigrationDataContainer
    let temporaryDirectory: PathName
    /// The directories of the app groups, by identifier.
    let groups: [String: PathName]
    var appendPolicy: AppendPolicy

    /// The directory that an import is from, and the one in which it lies together with the container
    /// and nothing else; `nil` where they are apart.
    var importDirectory: (path: PathName, holder: PathName?)?

    /// Who owns the container, where root works for them.
    let owner: FileOwner?

    /// The temporary directory, where it ends with the session.
    private let ownDirectory: PrivateDirectory?

    /// Prepares the directories of a session in `container`, as `appExtension` asks for them.
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
        if case .executable = appExtension.kind {
            let directory = try PrivateDirectory()
            temporaryDirectory =
                if let owner {
                    try directory.makeDirectory(ByteString(utf8: "files"), for: owner)
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

    /// Opens the places that the extension, which knows them by `paths`, may export from.
    func sourceRoots(as paths: SessionPaths) throws(MigrationError) -> SourceRoots {
        var roots = SourceRoots()
        do throws(SystemError) {
            try roots.add(container.rootPath.path, .container)
            for group in groups.values { try roots.add(group.path, .applicationGroup) }
            try roots.add(temporaryDirectory.path, .temporaryDirectory)
        } catch {
            let message = "what the extension may export can't be opened"
            let path = container.rootPath.path
            throw MigrationError(.containerInvalid, message, path: path, cause: error)
        }
        for alias in paths.aliases { roots.addAlias(alias.path, of: alias.directory) }
        return roots
    }

    /// The directories whose paths the extension is told.
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
        // An extension in its host's process asks the system for that of the process.
        guard ownDirectory != nil else { return directories }
        let temporary = temporaryDirectory
        return directories
            + [SessionDirectory(path: temporary, label: "temporary", isListed: true)]
    }

    /// The directories as the extension's code asks for them in its host's process.
    func context(as paths: SessionPaths) -> ExtensionContext {
        ExtensionContext(
            container: container.located(at: paths.shown(container.rootPath)),
            groups: groups.mapValues { URL(containerAtPath: paths.shown($0.path)) },
            temporaryDirectory: URL(directoryAtPath: temporaryDirectory.path)
        )
    }

    private static func owner(of container: PathName) throws(MigrationError) -> FileOwner? {
        do {
            return try FileOwner(servedIn: FileDescriptor.open(container.path, .directory))
        } catch {
            let message = "the container can't be opened"
            throw MigrationError(
                .containerInvalid,
                message,
                path: container.path,
                cause: error
            )
        }
    }

    private static func commonDirectory() throws(MigrationError) -> PathName {
        let path = ByteString(pathOf: FileManager.default.temporaryDirectory)
        do {
            return try PathName(resolving: path)
        } catch {
            let message = "the directory of temporary files can't be reached"
            throw MigrationError(.outputFailed, message, path: path, cause: error)
        }
    }
}

/// A directory that a session gives to an extension.
struct SessionDirectory {
    let path: PathName

    /// What it is to the extension, in a word.
    let label: String

    /// Whether the extension may list it; else only what is in it.
    let isListed: Bool
}
