public import MigrationArchive

/// A part of an app's storage on Android, with its names in rules, streams and the layout on iOS.
///
/// The cases are in the order in which Android's backup agent walks through them.
public enum StorageDomain: String, CaseIterable, Hashable, Sendable, Codable {
    /// Files in the app's directory that are in no other domain.
    case root

    /// The same in the storage that is readable before a device is first unlocked.
    case deviceRoot = "device_root"

    /// `files`.
    case file

    /// `files` of the device-protected storage.
    case deviceFile = "device_file"

    /// `databases`.
    case database

    /// `databases` of the device-protected storage.
    case deviceDatabase = "device_database"

    /// `shared_prefs`.
    case sharedPreferences = "sharedpref"

    /// `shared_prefs` of the device-protected storage.
    case deviceSharedPreferences = "device_sharedpref"

    /// The app's files on the shared storage.
    case external

    /// The name of the domain in a backup's paths.
    public var token: String {
        switch self {
        case .root: "r"
        case .deviceRoot: "d_r"
        case .file: "f"
        case .deviceFile: "d_f"
        case .database: "db"
        case .deviceDatabase: "d_db"
        case .sharedPreferences: "sp"
        case .deviceSharedPreferences: "d_sp"
        case .external: "ef"
        }
    }

    /// Where an app on iOS receives the domain, below the directory of an import.
    public var iosPath: EntryPath {
        switch self {
        case .root: EntryPath("app")
        case .deviceRoot: EntryPath("device/app")
        case .file: EntryPath("app/files")
        case .deviceFile: EntryPath("device/app/files")
        case .database: EntryPath("app/databases")
        case .deviceDatabase: EntryPath("device/app/databases")
        case .sharedPreferences: EntryPath("app/shared_prefs")
        case .deviceSharedPreferences: EntryPath("device/app/shared_prefs")
        case .external: EntryPath("external/files")
        }
    }

    /// The domain that has this name in a backup's paths, if any.
    ///
    /// - Parameter token: The part of a path after the package's name.
    public init?(token: some Collection<UInt8>) {
        guard let domain = Self.allCases.first(where: { $0.token.utf8.elementsEqual(token) })
        else { return nil }
        self = domain
    }

    /// The domain in which `path`, a path as on iOS, is sent; `nil` if no domain contains it.
    package init?(containing path: EntryPath) {
        let domain = Self.allCases
            .filter { path.isEqual(toOrBelow: $0.iosPath) }
            .max { $0.iosPath.bytes.count < $1.iosPath.bytes.count }
        guard let domain else { return nil }
        self = domain
    }

    /// The part of `path`, a path as on iOS, below this domain; `nil` if it is elsewhere.
    package func relativePath(of path: EntryPath) -> EntryPath? {
        let prefix = iosPath
        guard path.isEqual(toOrBelow: prefix) else { return nil }
        return EntryPath(bytes: [UInt8](path.bytes.dropFirst(prefix.bytes.count + 1)))
    }

    /// The path as on iOS of `path` below this domain.
    package func iosPath(of path: EntryPath) -> EntryPath {
        path.bytes.isEmpty
            ? iosPath : EntryPath(bytes: iosPath.bytes + [UInt8(ascii: "/")] + path.bytes)
    }

    /// The domain whose directory is inside this one's but is walked separately.
    var roots: [StorageDomain] {
        switch self {
        case .root: [.file, .database, .sharedPreferences]
        case .deviceRoot: [.deviceFile, .deviceDatabase, .deviceSharedPreferences]
        default: []
        }
    }

    /// The directories that Android never sends, whatever the rules (BackupAgent.onFullBackup).
    static let neverSent =
        ["cache", "code_cache", "no_backup", "lib"].map { EntryPath("app/\($0)") }
        + ["cache", "code_cache", "no_backup"].map { EntryPath("device/app/\($0)") }
}
