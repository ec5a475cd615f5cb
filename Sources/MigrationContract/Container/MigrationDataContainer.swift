public import Foundation
package import MigrationSystem

/// An app's data container: a directory with the app's documents and its other files.
///
/// Corresponds to AppMigrationKit's type of that name. An extension gets its container from the
/// system; a tool makes one with ``init(at:bundleIdentifier:)``.
public struct MigrationDataContainer: Sendable {
    /// The bundle identifier of the app whose container this is.
    public let bundleIdentifier: String

    /// The root directory of the container.
    ///
    /// This URL and those of the container's directories don't end with a slash. Make the URLs of
    /// files with `appending(path:)`, because `URL(filePath:relativeTo:)` would name a sibling of
    /// the directory.
    public let containerRootDirectory: URL

    /// The directory of the person's documents, `Documents` in the root.
    public var documentsDirectory: URL

    /// The directory of the app's own files, `Library/Application Support` in the root.
    public var applicationSupportDirectory: URL

    /// Where the container is.
    package let place: ContainerPlace

    /// The path of the root in the file system.
    package var rootPath: BytePath { place.containerPath }

    /// The identifier from the person or the container's own files; `nil` if it is only a guess.
    package let knownIdentifier: String?

    /// The identifier in an archive of the container: the known one, or else the name of the
    /// directory if that is an identifier; `nil` without either.
    package let exportedIdentifier: String?

    /// The container's platform, according to its files; `nil` if they don't show it.
    package let knownPlatform: MigrationPlatform?

    /// The identifiers in Apple's files and in the bookkeeping, if the two differ.
    private var contradiction: (apple: String, recorded: String)?

    /// The container's platform, or else this system's.
    package var platform: MigrationPlatform { knownPlatform ?? .current }
}

extension MigrationDataContainer {
    /// Makes a container from a directory, which need not exist before an import.
    ///
    /// The directory may be a plain container, an `.xcappdata` bundle (its `AppData` is the
    /// container) or a tree with Apple's container metadata. An addition to Apple's interface.
    ///
    /// - Parameters:
    ///   - directory: The directory; its last component must not be a symbolic link.
    ///   - bundleIdentifier: The app's bundle identifier, which overrides the container's own
    ///     files; `nil` takes the identifier from those files, from what an import recorded, or else
    ///     the directory's name.
    /// - Throws: ``MigrationError`` of code `containerInvalid` if the path isn't a directory, is a
    ///   link, or has no parent, and if the container's metadata can't be read.
    public init(at directory: URL, bundleIdentifier: String? = nil) throws(MigrationError) {
        guard let path = directory.fileSystemPath else {
            throw MigrationError(
                .containerInvalid,
                "the URL does not name a file",
                path: BytePath(directory.absoluteString)
            )
        }
        try self.init(atPath: path, bundleIdentifier: bundleIdentifier)
    }

    /// Makes a container from the directory at a path of any bytes.
    package init(atPath path: BytePath, bundleIdentifier: String? = nil) throws(MigrationError) {
        let layout = try ContainerLayout(at: Self.resolve(path))
        try Self.checkIsDirectory(layout.place.containerPath)
        let recorded = layout.recorded?.bundleIdentifier
        self.init(
            in: layout.place,
            knownIdentifier: bundleIdentifier ?? layout.appleIdentifier ?? recorded,
            platform: layout.recorded?.platform ?? (layout.isFromApple ? .iOS : nil),
            name: layout.place.path.lastComponent,
            namedIdentifier: layout.namedIdentifier
        )
        guard bundleIdentifier == nil, let apple = layout.appleIdentifier, let recorded,
            apple != recorded
        else { return }
        contradiction = (apple, recorded)
    }

    /// Makes a container of the app `bundleIdentifier`, if its app isn't known.
    ///
    /// - Throws: ``MigrationError`` of code `identifierMismatch` if the container belongs to another app.
    package init(atPath path: BytePath, naming bundleIdentifier: String?) throws(MigrationError) {
        let container = try MigrationDataContainer(atPath: path)
        guard let bundleIdentifier, let known = container.knownIdentifier else {
            try self.init(atPath: path, bundleIdentifier: bundleIdentifier)
            return
        }
        guard known == bundleIdentifier else {
            let message =
                "the container belongs to \(PrintableText.escaping(known)), not to "
                + PrintableText.escaping(bundleIdentifier)
            throw MigrationError(
                .identifierMismatch,
                message,
                path: container.rootPath,
                remedy: .changeApp
            )
        }
        self = container
    }

    /// Throws if the container's own files contradict each other about its app.
    ///
    /// - Throws: ``MigrationError`` of code `identifierMismatch`.
    package func checkIdentity() throws(MigrationError) {
        guard let contradiction else { return }
        let message =
            "the container's metadata names \(PrintableText.escaping(contradiction.apple)), and "
            + ".migration/\(ContainerIdentity.fileName) names "
            + "\(PrintableText.escaping(contradiction.recorded)): remove the one that is wrong"
        throw MigrationError(.identifierMismatch, message, path: rootPath)
    }

    /// Makes a container from the directory at `root`, which the caller has checked.
    package init(root: BytePath, knownIdentifier: String?, platform: MigrationPlatform? = nil) {
        self.init(
            in: ContainerPlace(root),
            knownIdentifier: knownIdentifier,
            platform: platform,
            name: root.lastComponent
        )
    }

    /// Makes a container in `place`, which the caller has checked.
    ///
    /// `name` is the name of the directory that a person sees, and `namedIdentifier` the identifier
    /// in that name.
    private init(
        in place: ContainerPlace,
        knownIdentifier: String?,
        platform: MigrationPlatform? = nil,
        name: [UInt8],
        namedIdentifier: String? = nil
    ) {
        self.place = place
        let root = place.containerPath
        self.knownIdentifier = knownIdentifier
        knownPlatform = platform
        exportedIdentifier = knownIdentifier ?? namedIdentifier
        bundleIdentifier =
            exportedIdentifier ?? String(decoding: name, as: UTF8.self)
        containerRootDirectory = URL(containerAtPath: root)
        documentsDirectory = containerRootDirectory.appending(
            path: "Documents",
            directoryHint: .notDirectory
        )
        applicationSupportDirectory = containerRootDirectory.appending(
            path: "Library/Application Support",
            directoryHint: .notDirectory
        )
    }

    /// The same container at another path that leads to it.
    package func located(at path: BytePath) -> MigrationDataContainer {
        MigrationDataContainer(
            root: path,
            knownIdentifier: bundleIdentifier,
            platform: knownPlatform
        )
    }

    /// A container of the same app in `place`, instead of this one, which doesn't exist yet.
    package func placed(in place: ContainerPlace) -> MigrationDataContainer {
        MigrationDataContainer(
            in: place,
            knownIdentifier: knownIdentifier,
            name: [UInt8](utf8: bundleIdentifier),
            namedIdentifier: exportedIdentifier
        )
    }

    private static func resolve(_ path: BytePath) throws(MigrationError) -> BytePath {
        do {
            return try BytePath(resolving: path)
        } catch {
            let message = "the container's parent directory can't be reached"
            throw MigrationError(.containerInvalid, message, path: path.parent, cause: error)
        }
    }

    private static func checkIsDirectory(_ root: BytePath) throws(MigrationError) {
        let kind: FileStatus.Kind
        do {
            kind = try FileDescriptor.status(atPath: root).kind
        } catch {
            if error.isMissing { return }
            let message = "the container can't be reached"
            throw MigrationError(.containerInvalid, message, path: root, cause: error)
        }
        switch kind {
        case .directory: return
        case .symbolicLink:
            let message = "the container is a symbolic link; name the directory itself"
            throw MigrationError(.containerInvalid, message, path: root)
        default:
            let message = "the container isn't a directory"
            throw MigrationError(.containerInvalid, message, path: root)
        }
    }
}

// MARK: - The container of a process

extension MigrationDataContainer {
    /// The environment variable that names the directory of a process's container.
    package static let environmentVariable = "MIGRATION_CONTAINER"

    /// The container that `MIGRATION_CONTAINER` names; `nil` if it isn't set.
    ///
    /// - Throws: ``MigrationError`` of code `containerInvalid` if it names something that isn't a
    ///   container.
    package static var namedByEnvironment: MigrationDataContainer? {
        get throws(MigrationError) {
            guard let path = Environment.path(in: environmentVariable) else { return nil }
            return try MigrationDataContainer(atPath: path)
        }
    }
}
