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

    /// The names at a container's root that don't belong to the app and never move.
    package static let ownNames = [bookkeepingName, metadataName]

    /// The directories that a fresh container has.
    package static let skeleton = [
        "Documents", "Library", "Library/Application Support", "Library/Caches",
        "Library/Preferences", "tmp",
    ]

    /// The name of the directory in a bundle that is the container.
    package static let dataName = [UInt8](utf8: "AppData")

    /// The property list of a bundle, which names the app.
    package static let infoName = [UInt8](utf8: "AppDataInfo.plist")

    private static let bundleEnding = [UInt8](utf8: ".xcappdata")

    /// Where the container is: in the directory itself, or in the bundle.
    package let place: ContainerPlace

    /// The bundle identifier in Apple's files; `nil` if none has one.
    package let appleIdentifier: String?

    /// The identity that an import recorded; `nil` if none did.
    package let recorded: ContainerIdentity?

    /// The bundle identifier in the name of the directory or the bundle; `nil` if the name isn't
    /// one.
    package let namedIdentifier: String?

    /// Whether the container is from one of Apple's devices, by its files or its layout.
    package let isFromApple: Bool

    /// Examines the directory at `path`, which need not exist.
    ///
    /// An `.xcappdata` bundle has the container in `AppData` and the identifier in
    /// `AppDataInfo.plist` or, if that is missing, in its name. A directory with that ending is a
    /// bundle if it holds `AppData` or doesn't exist yet; `path` may also lead to its `AppData`.
    ///
    /// - Throws: ``MigrationError`` of code `containerInvalid`, also for a bundle with bookkeeping in its
    ///   `AppData`, which would go to the device with the data.
    package init(at path: BytePath) throws(MigrationError) {
        do throws(SystemError) {
            // Otherwise the error would name a file of Xcode that need not exist.
            _ = try FileDescriptor.open(path, .directory)
        } catch {
            if error.isDenied { throw Self.unreadable(path, cause: error) }
        }
        place = try Self.place(at: path)
        let root = place.containerPath
        if place.isBundle { try Self.checkBookkeeping(in: root) }
        let info = place.isBundle ? try Self.propertyList(at: place.path / Self.infoName) : nil
        let metadata = try Self.propertyList(at: root / Self.metadataName)
        appleIdentifier =
            metadata?["MCMMetadataIdentifier"]?.string
            ?? info.flatMap(Self.identifier)
        recorded = try ContainerIdentity.recorded(in: place.path)
        namedIdentifier = Self.identifier(inName: place.path.lastComponent)
        var isFromApple = place.isBundle || metadata != nil
        if !isFromApple, namedIdentifier != nil { isFromApple = try Self.isDeviceHubFolder(path) }
        self.isFromApple = isFromApple
    }

    /// Whether a directory of that name is an `.xcappdata` bundle if it holds `AppData`.
    package static func isNamedAsBundle(_ name: [UInt8]) -> Bool { name.hasSuffix(bundleEnding) }

    private static func place(at path: BytePath) throws(MigrationError) -> ContainerPlace {
        let name = path.lastComponent
        if name == dataName {
            let isInBundle = try isBundle(path.parent)
            return isInBundle ? ContainerPlace(path.parent, isBundle: true) : ContainerPlace(path)
        }
        if try isDirectory(path / dataName) {
            return ContainerPlace(path, isBundle: try isBundle(path))
        }
        guard isNamedAsBundle(name), try !exists(path) else { return ContainerPlace(path) }
        return ContainerPlace(path, isBundle: true)
    }

    /// Whether a directory with `AppData` in it is a bundle, by its name or its property list.
    private static func isBundle(_ path: BytePath) throws(MigrationError) -> Bool {
        if isNamedAsBundle(path.lastComponent) { return true }
        return try propertyList(at: path / infoName) != nil
    }

    /// Refuses bookkeeping in the container of a bundle, because it belongs beside it.
    private static func checkBookkeeping(in root: BytePath) throws(MigrationError) {
        let path = root / bookkeepingName
        guard try exists(path) else { return }
        let message =
            "the bundle has bookkeeping in 'AppData', where it would go to the device; move it beside "
            + "'AppData' to keep what it records, or remove it"
        throw MigrationError(.containerInvalid, message, path: path)
    }

    /// Whether the directory has the layout of containers downloaded by Device Hub in Xcode 27.
    private static func isDeviceHubFolder(_ path: BytePath) throws(MigrationError) -> Bool {
        for name in ["Documents", "Library", "tmp"] {
            guard try isDirectory(path / BytePath(name)) else { return false }
        }
        return try !exists(path / bookkeepingName)
    }

    /// The bundle identifier in `name`, without the ending and the date of a bundle's name.
    ///
    /// A name counts only if it has at least three labels, each of which begins with a letter.
    private static func identifier(inName name: [UInt8]) -> String? {
        var name = name[...]
        if name.hasSuffix(bundleEnding) {
            name = name.dropLast(bundleEnding.count)
            let parts = name.split(separator: UInt8(ascii: " "), maxSplits: 1)
            let date = parts.dropFirst().first?.first
            if let date, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(date) { name = parts[0] }
        }
        let labels = name.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard labels.count >= 3, labels.allSatisfy(isLabel) else { return nil }
        return String(decoding: name, as: UTF8.self)
    }

    private static func isLabel(_ label: ArraySlice<UInt8>) -> Bool {
        func isLetter(_ byte: UInt8) -> Bool {
            (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
        }
        guard let first = label.first, isLetter(first) else { return false }
        return label.allSatisfy { byte in
            isLetter(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
        }
    }

    private static func identifier(inAppDataInfo info: PropertyListValue) -> String? {
        let keys = ["bundleIdentifier", "CFBundleIdentifier", "MCMMetadataIdentifier"]
        return keys.lazy.compactMap { info[$0]?.string }.first
    }

    private static func isDirectory(_ path: BytePath) throws(MigrationError) -> Bool {
        try kind(of: path) == .directory
    }

    private static func exists(_ path: BytePath) throws(MigrationError) -> Bool {
        try kind(of: path) != nil
    }

    private static func kind(of path: BytePath) throws(MigrationError) -> FileStatus.Kind? {
        do {
            return try FileDescriptor.status(atPath: path).kind
        } catch {
            if error.isMissing || error.isNotDirectory { return nil }
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

extension BidirectionalCollection<UInt8> {
    /// Whether the bytes end with `ending`.
    fileprivate func hasSuffix(_ ending: [UInt8]) -> Bool {
        suffix(ending.count).elementsEqual(ending)
    }
}
