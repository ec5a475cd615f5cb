public import Foundation
package import MigrationSystem

/// An app's data container: a directory with the app's documents and what it keeps beside them.
///
/// Corresponds to AppMigrationKit's type of that name. An extension gets its container from the
/// system; a tool makes one with ``init(at:bundleIdentifier:)``.
public struct MigrationDataContainer: Sendable {
    /// The bundle identifier of the app whose container this is.
    public let bundleIdentifier: String

    /// The root directory of the container.
    ///
    /// This URL and those of the directories in the container have no slash at their ends. Make those of
    /// files with `appending(path:)`: `URL(filePath:relativeTo:)` would name what is beside the directory.
    public let containerRootDirectory: URL

    /// The directory of the person's documents, `Documents` in the root.
    public var documentsDirectory: URL

    /// The directory of the app's own files, `Library/Application Support` in the root.
    public var applicationSupportDirectory: URL

    /// The root as the file system names it.
    package let rootPath: PathName

    /// What the container's own files, or the person, said of its identifier; `nil` for a mere guess.
    package let knownIdentifier: String?

    /// The platform that the container is from, by what lies in it.
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
    ///   - bundleIdentifier: The app's bundle identifier, whatever the container's own files say;
    ///     `nil` takes what those say, else the directory's name.
    /// - Throws: ``MigrationError`` of code `containerInvalid` where the path is no directory, is a
    ///   link, or has a parent that is missing, and where the container's metadata can't be read.
    public init(at directory: URL, bundleIdentifier: String? = nil) throws(MigrationError) {
        guard let path = directory.fileSystemPath else {
            throw MigrationError(
                .containerInvalid,
                "is no path of a file system",
                path: ByteString(utf8: directory.absoluteString)
            )
        }
        try self.init(atPath: path, bundleIdentifier: bundleIdentifier)
    }

    /// Makes a container of the directory at a path of any bytes.
    package init(atPath path: [UInt8], bundleIdentifier: String? = nil) throws(MigrationError) {
        let layout = try ContainerLayout(at: Self.resolve(path))
        try Self.checkIsDirectory(layout.root)
        self.init(
            root: layout.root,
            knownIdentifier: bundleIdentifier ?? layout.recordedIdentifier,
            platform: layout.isFromApple ? .iOS : .current
        )
    }

    /// Makes a container of the directory at `root`, which is known to be one.
    package init(root: PathName, knownIdentifier: String?, platform: MigrationPlatform = .current) {
        rootPath = root
        self.knownIdentifier = knownIdentifier
        self.platform = platform
        bundleIdentifier = knownIdentifier ?? String(decoding: root.name, as: UTF8.self)
        containerRootDirectory = URL(containerAtPath: root.path)
        documentsDirectory = containerRootDirectory.appending(
            path: "Documents",
            directoryHint: .notDirectory
        )
        applicationSupportDirectory = containerRootDirectory.appending(
            path: "Library/Application Support",
            directoryHint: .notDirectory
        )
    }

    /// The same container by another path that leads to it.
    package func located(at path: PathName) -> MigrationDataContainer {
        MigrationDataContainer(
            root: path,
            knownIdentifier: bundleIdentifier,
            platform: platform
        )
    }

    private static func resolve(_ path: [UInt8]) throws(MigrationError) -> PathName {
        do {
            return try PathName(resolving: path)
        } catch {
            let message = "the container's parent directory can't be reached"
            throw MigrationError(.containerInvalid, message, path: path, cause: error)
        }
    }

    private static func checkIsDirectory(_ root: PathName) throws(MigrationError) {
        let kind: FileStatus.Kind
        do {
            kind = try FileDescriptor.status(atPath: root.path).kind
        } catch {
            if error.isMissing { return }
            let message = "the container can't be reached"
            throw MigrationError(.containerInvalid, message, path: root.path, cause: error)
        }
        switch kind {
        case .directory: return
        case .symbolicLink:
            let message = "the container is a symbolic link; name the directory itself"
            throw MigrationError(.containerInvalid, message, path: root.path)
        default:
            let message = "the container is no directory"
            throw MigrationError(.containerInvalid, message, path: root.path)
        }
    }
}

extension MigrationPlatform {
    /// The platform that this process runs on.
    package static var current: MigrationPlatform {
        #if os(macOS)
        .macOS
        #else
        .linux
        #endif
    }
}
