import Foundation

/// The places of an Android app's storage, by the paths at which iOS hands them to an importer.
///
/// Google publishes this table with the rules for `cross-platform-transfer`; the domain that a rule names
/// stands above each.
enum AndroidStorage: String, CaseIterable {
    /// `root`: `Context.getDir(_:)`, and all that is in no other place.
    case root = "app"

    /// `file`: `Context.getFilesDir()`.
    case files = "app/files"

    /// `database`: `Context.getDatabasePath(_:)`.
    case databases = "app/databases"

    /// `sharedpref`: `Context.getSharedPreferences(_:)`.
    case sharedPreferences = "app/shared_prefs"

    /// `external`: `Context.getExternalFilesDir(_:)`.
    case externalFiles = "external/files"

    /// `device_root`: the same as `root`, before the person has unlocked the device.
    case deviceRoot = "device/app"

    /// `device_file`: the same as `file`, before the person has unlocked the device.
    case deviceFiles = "device/app/files"

    /// `device_database`: the same as `database`, before the person has unlocked the device.
    case deviceDatabases = "device/app/databases"

    /// `device_sharedpref`: the same as `sharedpref`, before the person has unlocked the device.
    case deviceSharedPreferences = "device/app/shared_prefs"

    /// Where `name` of this place lies in the directory that an importer gets.
    func url(of name: String, in directory: URL) -> URL {
        directory.appending(path: rawValue).appending(path: name)
    }
}
