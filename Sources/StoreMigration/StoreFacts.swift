public import Foundation
internal import MigrationSystem

/// What can be seen of a store without knowing its plan.
public struct StoreFacts: Sendable {
    /// What a store is made of.
    public enum Kind: String, Codable, Sendable {
        case coreData, directory, json, sqlite
    }

    /// What the store is made of.
    public let kind: Kind

    /// The bytes of its files.
    public let bytes: Int64

    /// The number that a SQLite file keeps for the application; `nil` for other stores.
    public let userVersion: Int?

    /// The value of the key that a JSON document has its version in; `nil` where it hasn't the key.
    public let documentVersion: String?

    /// The bytes of a SQLite file's write-ahead log that aren't in the file yet.
    public let logBytes: Int64

    /// What SQLite finds wrong with the structure of its pages; `nil` where they are sound.
    public let damage: String?

    /// Whether a migration was cut off after the exchange, and must be completed or undone.
    public let isInterrupted: Bool

    /// The model of a store of Core Data; `nil` for other stores.
    public let coreData: CoreDataMetadata?

    /// Looks at a store, which isn't changed.
    ///
    /// - Parameters:
    ///   - url: The path of the store.
    ///   - key: The key that has the version of a JSON document.
    /// - Throws: ``StoreMigrationError`` with `missing`, `storeBusy`, `failed`, or `damaged` where it is
    ///   neither a SQLite file nor a JSON document nor a directory.
    public init(of url: URL, key: String = "version") throws {
        let place = try StorePlace(of: VersionedStore(at: url, .json(key: key)))
        bytes = try place.survey().bytes
        isInterrupted = try place.isInterrupted
        logBytes = Int64(try place.size(suffix: "-wal"))
        if try place.isDirectory {
            (kind, userVersion, documentVersion) = (.directory, nil, nil)
            (damage, coreData) = (nil, nil)
            return
        }
        guard try place.beginsLikeSQLite else {
            documentVersion = try VersionedDocument(at: place.path).version(ofKey: key)
            (kind, userVersion, damage, coreData) = (.json, nil, nil, nil)
            return
        }
        let database = try SQLiteConnection.openForReading(at: place.path)
        userVersion = try database.text("PRAGMA user_version").flatMap { Int($0) }
        documentVersion = nil
        let finding = try database.text("PRAGMA quick_check(1)")
        damage = finding == "ok" ? nil : finding
        coreData = try CoreDataMetadata(in: database, at: place.path)
        kind = coreData == nil ? .sqlite : .coreData
    }
}
