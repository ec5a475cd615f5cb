import Foundation

/// The places of an Android app's storage, by their paths in an importer's directory on iOS.
///
/// Google publishes this table with the rules for `cross-platform-transfer`. The comment of each case begins
/// with the domain that a rule names.
enum AndroidStorage: String, CaseIterable {
    /// `root`: `Context.getDir`, and everything that has no other place.
    case root = "app"

    /// `file`: `Context.getFilesDir`.
    case files = "app/files"

    /// `database`: `Context.getDatabasePath`.
    case databases = "app/databases"

    /// `sharedpref`: `Context.getSharedPreferences`.
    case sharedPreferences = "app/shared_prefs"

    /// `external`: `Context.getExternalFilesDir`.
    case externalFiles = "external/files"

    /// `device_root`: as `root`, readable before the device is unlocked.
    case deviceRoot = "device/app"

    /// `device_file`: as `file`, readable before the device is unlocked.
    case deviceFiles = "device/app/files"

    /// `device_database`: as `database`, readable before the device is unlocked.
    case deviceDatabases = "device/app/databases"

    /// `device_sharedpref`: as `sharedpref`, readable before the device is unlocked.
    case deviceSharedPreferences = "device/app/shared_prefs"

    /// The item `name` of this place, in the importer's `directory`.
    func url(of name: String, in directory: URL) -> URL {
        directory.appending(path: rawValue).appending(path: name)
    }
}
