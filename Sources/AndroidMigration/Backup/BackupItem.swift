package import MigrationArchive
internal import MigrationSystem

/// The meaning of a backup's entry, according to its path.
package enum BackupItem: Sendable {
    /// Data of the package, with its path as on iOS.
    case data(package: String, domain: StorageDomain, path: EntryPath)

    /// The same for data that Android sends only if a rule names it.
    case neverSent(package: String, StorageDomain, EntryPath)

    /// The package's `_manifest`.
    case packageManifest(package: String)

    /// The package's `_cross_platform_manifest`.
    case crossPlatformManifest(package: String)

    /// A directory around the data, which can be ignored.
    case container

    /// An item that no iOS app can receive, and why.
    case other(package: String?, reason: String)

    /// An item of the data whose path can't be used, and why.
    case unusable(reason: String)

    /// Reads the path of an entry.
    ///
    /// A path that does not begin with `apps/` is from a plain tar file, with paths as on a device
    /// (`data/data/<package>/files/…`) or as in a raw tree (`files/…`, `_external/…`). The
    /// directories of packages at its top are removed from the paths.
    package init(_ entry: BackupEntry, below directories: PackageDirectories = .init()) {
        guard entry.path.count <= Self.pathLimit else {
            self = .unusable(reason: "the path is longer than 4,096 bytes")
            return
        }
        let names = Self.names(in: entry.path)
        guard !names.isEmpty else {
            self = .container
            return
        }
        let path = EntryPath(bytes: [UInt8](names.joined(separator: [UInt8(ascii: "/")])))
        if let violation = path.violation {
            self = .unusable(reason: violation)
            return
        }
        let words = names.prefix(2).map { String(decoding: $0, as: UTF8.self) }
        switch words.first {
        case "apps": self = Self.item(names, of: entry)
        case "shared": self = .other(package: nil, reason: "the shared storage of the device")
        default: self = Self.plainItem(names, of: entry, below: directories)
        }
        if isData, let reason = Self.obstacle(entry.typeFlag) {
            self = .other(package: package, reason: reason)
        }
    }

    /// The names in a path, without surrounding slashes and a leading `.`.
    static func names(in path: [UInt8]) -> [[UInt8]] {
        var names = path.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
            .map { [UInt8]($0) }
        if names.count > 1, names.last == [] { names.removeLast() }
        if names.first == [UInt8(ascii: ".")] { names.removeFirst() }
        if names.first == [] { names.removeFirst() }
        return names
    }

    /// The longest path that a device can have (Linux, PATH_MAX).
    static let pathLimit = 4096

    static let neverSentReason = "Android never sends it"

    /// The path of an item in the storage of `name`; `nil` for items elsewhere.
    func path(inStorageOf name: String) -> EntryPath? {
        switch self {
        case .data(name, _, let path), .neverSent(name, _, let path): path
        default: nil
        }
    }

    private var isData: Bool {
        switch self {
        case .data, .neverSent: true
        default: false
        }
    }

    /// The package of the item, if the path names it.
    package var package: String? {
        switch self {
        case .data(let package, _, _), .neverSent(let package, _, _), .packageManifest(let package),
            .crossPlatformManifest(let package):
            package
        case .other(let package, _): package
        case .container, .unusable: nil
        }
    }

    private static func item(_ names: [[UInt8]], of entry: BackupEntry) -> BackupItem {
        guard names.count > 2 else {
            return isDirectory(entry) ? .container : .other(package: nil, reason: "no domain")
        }
        let package = String(decoding: names[1], as: UTF8.self)
        let token = names[2]
        guard let domain = StorageDomain(token: token) else {
            if names.count == 3, !isDirectory(entry) {
                switch String(decoding: token, as: UTF8.self) {
                case PackageManifest.fileName: return .packageManifest(package: package)
                case CrossPlatformManifest.fileName:
                    return .crossPlatformManifest(package: package)
                default: break
                }
            }
            return .other(package: package, reason: reason(String(decoding: token, as: UTF8.self)))
        }
        guard names.count > 3 else { return .container }
        let path = EntryPath(bytes: [UInt8](names.dropFirst(3).joined(separator: [0x2F])))
        return .data(package: package, domain: domain, path: domain.iosPath(of: path))
    }

    private static func plainItem(
        _ names: [[UInt8]],
        of entry: BackupEntry,
        below directories: PackageDirectories
    ) -> BackupItem {
        var names = names
        var package = ""
        if directories.contains(names[0]) {
            package = String(decoding: names.removeFirst(), as: UTF8.self)
            if names.isEmpty { return .container }
        }
        let components: [[UInt8]]
        if let place = DevicePath(names) {
            components = place.components
            package = place.package
        } else if names[0] == [UInt8]("_external".utf8) {
            components =
                StorageDomain.external.iosPath.components.map { [UInt8]($0) }
                + names.dropFirst()
        } else if names[0] == [UInt8]("_device".utf8) {
            components =
                StorageDomain.deviceRoot.iosPath.components.map { [UInt8]($0) }
                + names.dropFirst()
        } else {
            components = [[UInt8]("app".utf8)] + names
        }
        let path = EntryPath(bytes: [UInt8](components.joined(separator: [0x2F])))
        guard let domain = StorageDomain(containing: path), domain.iosPath != path else {
            return .container
        }
        if Selection.isNeverSent(path) { return .neverSent(package: package, domain, path) }
        return .data(package: package, domain: domain, path: path)
    }

    private static func isDirectory(_ entry: BackupEntry) -> Bool {
        entry.typeFlag == TypeFlag.directory
    }

    private static func reason(_ token: String) -> String {
        switch token {
        case "a": "the app itself"
        case "obb": "an expansion file of the app"
        case "k": "key-value data, which only the app's own agent can read"
        case "_meta": "the state of widgets"
        case "c", "d_c": "a cache"
        case "nb", "d_nb": "data that is not to be backed up"
        default: "a domain that is not known"
        }
    }

    /// Why an entry of this kind is omitted; `nil` for files and directories.
    private static func obstacle(_ typeFlag: UInt8) -> String? {
        switch typeFlag {
        case TypeFlag.regular, TypeFlag.regularOfOldTar, TypeFlag.directory, TypeFlag.contiguous:
            nil
        case TypeFlag.symbolicLink: "a symbolic link"
        case TypeFlag.hardLink: "a hard link"
        case TypeFlag.characterDevice, TypeFlag.blockDevice: "a device"
        case TypeFlag.fifo: "a FIFO"
        case TypeFlag.gnuSparse: "a sparse file in GNU tar's form"
        default: "an entry of a kind that Android does not write"
        }
    }
}

extension BackupEntry {
    /// The entry as a list shows it; `nil` if its path is empty.
    package var archiveEntry: ArchiveEntry? {
        guard !path.isEmpty else { return nil }
        let isDirectory = typeFlag == TypeFlag.directory
        return ArchiveEntry(
            path: EntryPath(bytes: path.last == UInt8(ascii: "/") ? path.dropLast() : path),
            kind: isDirectory ? .directory : .file(size: size),
            permissions: permissions,
            modificationTime: FileTime(seconds: modificationTime)
        )
    }
}
