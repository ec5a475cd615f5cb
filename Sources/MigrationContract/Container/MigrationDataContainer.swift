public import Foundation
internal import Glibc
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

    /// The path of the root in the file system.
    package let rootPath: BytePath

    /// The identifier that the person or the container's own files gave; `nil` if it is only a
    /// guess.
    package let knownIdentifier: String?

    /// The platform that the container is from, judged by its files.
    package let platform: MigrationPlatform
}

extension MigrationDataContainer {
    /// Makes a container of a directory, which need not exist before an import.
    ///
    /// The directory may be a plain container, an `.xcappdata` bundle (its `AppData` is the
    /// container) or a tree with Apple's container metadata. An addition to Apple's interface.
    ///
    /// - Parameters:
    ///   - directory: The directory; its last component must not be a symbolic link.
    ///   - bundleIdentifier: The app's bundle identifier, which overrides the container's own
    ///     files; `nil` takes the identifier from those files, or else the directory's name.
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

    /// Makes a container of the directory at a path of any bytes.
    package init(atPath path: BytePath, bundleIdentifier: String? = nil) throws(MigrationError) {
        let layout = try ContainerLayout(at: Self.resolve(path))
        try Self.checkIsDirectory(layout.root)
        self.init(
            root: layout.root,
            knownIdentifier: bundleIdentifier ?? layout.recordedIdentifier,
            platform: layout.isFromApple ? .iOS : .current
        )
    }

    /// Makes a container of the directory at `root`, which the caller has checked.
    package init(root: BytePath, knownIdentifier: String?, platform: MigrationPlatform = .current) {
        rootPath = root
        self.knownIdentifier = knownIdentifier
        self.platform = platform
        bundleIdentifier = knownIdentifier ?? String(decoding: root.lastComponent, as: UTF8.self)
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
            platform: platform
        )
    }

    private static func resolve(_ path: BytePath) throws(MigrationError) -> BytePath {
        do {
            return try BytePath(resolving: path)
        } catch {
            let message = "the container's parent directory can't be reached"
            throw MigrationError(.containerInvalid, message, path: path, cause: error)
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
            // Foundation's environment is text, but a path can be any bytes.
            let path = unsafe getenv(environmentVariable).map { unsafe BytePath(cString: $0) }
            guard let path, !path.bytes.isEmpty else { return nil }
            return try MigrationDataContainer(atPath: path)
        }
    }
}
