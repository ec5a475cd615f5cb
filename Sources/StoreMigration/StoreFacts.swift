public import Foundation
internal import MigrationSystem

/// The facts about a store that can be determined without its plan.
public struct StoreFacts: Sendable {
    /// The kind of a store.
    public enum Kind: String, Codable, Sendable {
        case coreData, directory, json, sqlite
    }

    /// The kind of the store.
    public let kind: Kind

    /// The bytes of its files.
    public let bytes: Int64

    /// The number that a SQLite file keeps for the application; `nil` for other stores.
    public private(set) var userVersion: Int?

    /// The value of the key that holds a JSON document's version; `nil` if the key is missing.
    public private(set) var documentVersion: String?

    /// The bytes of a SQLite file's write-ahead log that aren't in the file yet.
    public let logBytes: Int64

    /// Problems with the structure of its pages that SQLite finds, up to a hundred; `nil` if there
    /// are none.
    public private(set) var damage: String?

    /// Rows that a migration keeps unchanged: they break a constraint, or their foreign key refers
    /// to a missing row.
    ///
    /// Up to a hundred of the first kind are listed.
    public private(set) var findings: [String] = []

    /// The parts that SQLite can't check here, and why, such as a table with a collation that only
    /// the app has.
    public private(set) var notChecked: [String] = []

    /// How many names the file of the store has; a migration refuses one with several.
    public let nameCount: Int

    /// Whether a migration was interrupted after the migrated store was in place, and must be
    /// completed.
    public let isInterrupted: Bool

    /// The model of a store of Core Data; `nil` for other stores.
    public private(set) var coreData: CoreDataMetadata?

    /// Examines a store, which isn't changed.
    ///
    /// Cancelling the current task stops it.
    ///
    /// - Parameters:
    ///   - url: The path of the store.
    ///   - key: The key that holds the version of a JSON document.
    /// - Throws: ``StoreMigrationError`` with `missing`, `storeBusy`, `failed`, or `damaged` if it
    ///   is neither a SQLite file nor a JSON document nor a directory; `CancellationError`.
    public init(of url: URL, key: String = "version") throws {
        let place = try StorePlace(of: VersionedStore(at: url, .json(key: key)))
        bytes = try place.survey().bytes
        isInterrupted = try place.isInterrupted
        logBytes = Int64(clamping: try place.size(suffix: "-wal"))
        nameCount = try place.nameCount
        let isDirectory = try place.isDirectory
        guard try !isDirectory && place.beginsLikeSQLite else {
            kind = isDirectory ? .directory : .json
            if isDirectory { return }
            documentVersion = try VersionedDocument(at: place.path).version(ofKey: key)
            return
        }
        let (database, knowsConstraints) = try SQLiteConnection.openForChecking(at: place.path)
        kind = try Self.isOfCoreData(database) ? .coreData : .sqlite
        do {
            try look(at: database, place.path, knowsConstraints)
        } catch let error as StoreMigrationError where error.code == .cancelled {
            throw CancellationError()
        }
    }

    private static func isOfCoreData(
        _ database: SQLiteConnection
    ) throws(StoreMigrationError) -> Bool {
        do throws(StoreMigrationError) {
            return try database.hasTable("Z_METADATA")
        } catch  where error.mayBeLeftUnchecked {
            return false
        }
    }

    private mutating func look(
        at database: SQLiteConnection,
        _ path: BytePath,
        _ knowsConstraints: Bool
    ) throws {
        userVersion = try database.values("PRAGMA user_version").first?.integer.map { Int($0) }
        let check = try DatabaseCheck(of: database)
        damage = check.damage.isEmpty ? nil : check.damage.joined(separator: "; ")
        (findings, notChecked) = (check.rows, check.notChecked)
        if check.damage.isEmpty {
            let keys = try ForeignKeyViolations(in: database)
            findings += keys.descriptions
            notChecked += keys.notChecked
        }
        if !knowsConstraints {
            notChecked.append("CHECK constraints: the store can't be opened for writing now")
        }
        if kind == .coreData { coreData = try CoreDataMetadata(in: database, at: path) }
    }
}
