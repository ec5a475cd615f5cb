internal import Foundation
package import MigrationSystem
internal import PropertyLists

/// The layout of a directory that a person names: where the container is, and which app owns it.
package struct ContainerLayout {
    /// The property list in which Apple's container manager keeps a container's identifier.
    package static let metadataName = [UInt8](
        utf8: ".com.apple.mobile_container_manager.metadata.plist"
    )

    /// The directory at a container's root that holds this project's bookkeeping.
    package static let bookkeepingName = [UInt8](utf8: ".migration")

    /// The names at a container's root that do not belong to the app, so they never move.
    package static let ownNames = [bookkeepingName, metadataName]

    /// The directories that a fresh container has.
    package static let skeleton = [
        "Documents", "Library", "Library/Application Support", "Library/Caches",
        "Library/Preferences", "tmp",
    ]

    /// The root of the container.
    package let root: BytePath

    /// The bundle identifier in the container's own files; `nil` if none has one.
    package let recordedIdentifier: String?

    /// Whether files of Apple's system show that the container is from one of its devices.
    package let isFromApple: Bool

    /// Examines the directory at `path`, which need not exist.
    ///
    /// An `.xcappdata` bundle, as Xcode downloads it, has the container in `AppData` and the
    /// identifier in `AppDataInfo.plist`.
    package init(at path: BytePath) throws(MigrationError) {
        do throws(SystemError) {
            // Otherwise the error would name a file of Xcode's that need not exist.
            _ = try FileDescriptor.open(path, .directory)
        } catch {
            if error.isDenied { throw Self.unreadable(path, cause: error) }
        }
        let appData = path / "AppData"
        let info = try Self.propertyList(at: path / "AppDataInfo.plist")
        let hasAppData = try Self.isDirectory(appData)
        let isBundle = info != nil && hasAppData
        root = isBundle ? appData : path
        let metadata = try Self.propertyList(at: root / Self.metadataName)
        let fromMetadata = metadata?["MCMMetadataIdentifier"]?.string
        let fromInfo = isBundle ? info.flatMap(Self.identifier) : nil
        recordedIdentifier = fromMetadata ?? fromInfo
        isFromApple = isBundle || metadata != nil
    }

    private static func identifier(inAppDataInfo info: PropertyListValue) -> String? {
        let keys = ["bundleIdentifier", "CFBundleIdentifier", "MCMMetadataIdentifier"]
        return keys.lazy.compactMap { info[$0]?.string }.first
    }

    private static func isDirectory(_ path: BytePath) throws(MigrationError) -> Bool {
        do {
            return try FileDescriptor.status(atPath: path).kind == .directory
        } catch {
            if error.isMissing || error.isNotDirectory { return false }
            throw unreadable(path, cause: error)
        }
    }

    /// Reads a property list; returns `nil` if there is no file.
    private static func propertyList(
        at path: BytePath
    ) throws(MigrationError) -> PropertyListValue? {
        let bytes: [UInt8]?
        do throws(SystemError) {
            let file = try FileDescriptor.open(path, .reading)
            bytes = try file.readAll(limit: PropertyListValue.fileSizeLimit)
        } catch {
            if error.isMissing || error.isNotDirectory { return nil }
            throw unreadable(path, cause: error)
        }
        do {
            return try PropertyListValue.read(dictionaryIn: bytes)
        } catch {
            let message = "the file can't be read as a property list: \(error)"
            throw MigrationError(.containerInvalid, message, path: path)
        }
    }

    private static func unreadable(_ path: BytePath, cause error: SystemError) -> MigrationError {
        let message = "the container can't be read"
        return MigrationError(.containerInvalid, message, path: path, cause: error)
    }
}
