public import Foundation
internal import MigrationSystem
internal import PropertyLists

/// Says which model made a SQLite store of Core Data, and whether a compiled model can open it.
///
/// Core Data writes into each store the version hash of every entity of its model, and the compiler
/// writes those of all versions of a model into `VersionInfo.plist`. A model opens a store if the
/// hashes are the same. Nothing else in the store is read, and nothing is ever written.
///
/// Core Data doesn't document whether it could migrate a store by itself, which entities a
/// configuration of a model has, and how a hash is computed. No verdict depends on those.
public struct CoreDataStoreInspector: Sendable {
    /// Core Data's metadata about the model of the store.
    public let metadata: CoreDataMetadata

    /// Reads the metadata of a store, which isn't changed.
    ///
    /// - Parameter store: The path of the SQLite file.
    /// - Throws: ``StoreMigrationError`` with `damaged` if it isn't a store of Core Data, `missing`,
    ///   `storeBusy` or `failed`.
    public init(store: URL) throws {
        let path = try VersionedStore(at: store, .sqlite(.coreDataMetadata)).location()
        let database = try SQLiteConnection.openForReading(at: path)
        guard let metadata = try CoreDataMetadata(in: database, at: path) else {
            let message = "Core Data did not write it: it has no table Z_METADATA"
            throw StoreMigrationError(
                .damaged,
                message,
                at: String(decoding: path.bytes, as: UTF8.self)
            )
        }
        self.metadata = metadata
    }

    /// How a compiled model relates to a store.
    public enum Verdict: Hashable, Sendable {
        /// The current version of the model made the store, or one with the same entities, and opens it.
        case opens
        /// An earlier version of the model made the store, so that Core Data must migrate it.
        case needsMigration(from: String)
        /// The store has some entities of a version of the model, unchanged. A configuration of exactly
        /// these entities opens it; `VersionInfo.plist` doesn't name configurations.
        case hasPart(of: String)
        /// No version of the model made the store. The entities differ from those of the current version.
        case isOfOtherModel(differing: [String])
    }

    /// Says whether a model can open the store.
    public func verdict(for model: CoreDataModel) -> Verdict {
        let hashes = metadata.entityVersionHashes
        if hashes == model.entityVersionHashes[model.currentVersion] { return .opens }
        if let version = model.version(ofStoreWith: hashes) {
            return .needsMigration(from: version)
        }
        let current = model.entityVersionHashes[model.currentVersion] ?? [:]
        let names = [model.currentVersion] + model.entityVersionHashes.keys.sorted()
        for name in names where !hashes.isEmpty {
            let version = model.entityVersionHashes[name] ?? [:]
            if hashes.allSatisfy({ version[$0.key] == $0.value }) { return .hasPart(of: name) }
        }
        let all = Set(hashes.keys).union(current.keys)
        return .isOfOtherModel(differing: all.filter { hashes[$0] != current[$0] }.sorted())
    }
}

/// The metadata about the model of a store that Core Data writes into the table `Z_METADATA`.
public struct CoreDataMetadata: Hashable, Sendable {
    /// The version hash of each entity of the model, by its name.
    public let entityVersionHashes: [String: Data]

    /// The identifiers that the developer gave the model, sorted and without empty ones.
    public let versionIdentifiers: [String]

    /// The identifier of the store, a UUID; `nil` if there is none.
    public let storeIdentifier: String?

    /// The only identifier of the model; `nil` if there are none or several.
    var versionIdentifier: String? { versionIdentifiers.count == 1 ? versionIdentifiers[0] : nil }

    /// Reads the metadata; `nil` if Core Data did not write the database.
    init?(in database: SQLiteConnection, at path: BytePath) throws(StoreMigrationError) {
        guard try database.hasTable("Z_METADATA") else { return nil }
        let rows = try database.values("SELECT Z_PLIST FROM Z_METADATA", limit: 1)
        let list: PropertyListValue?
        switch rows.first {
        // A list that can't be read, for whatever reason, isn't one that Core Data wrote.
        case .blob(let bytes): list = try? PropertyListValue.read(bytes)
        case .text(let text): list = try? PropertyListValue.read([UInt8](text.utf8))
        default: list = nil
        }
        guard let hashes = list?["NSStoreModelVersionHashes"]?.hashes else {
            let message = "Core Data's metadata can't be read"
            throw StoreMigrationError(
                .damaged,
                message,
                at: String(decoding: path.bytes, as: UTF8.self)
            )
        }
        entityVersionHashes = hashes
        let identifiers = list?["NSStoreModelVersionIdentifiers"]?.array ?? []
        let texts = identifiers.compactMap(\.string)
        versionIdentifiers = texts.filter { !$0.isEmpty }.sorted()
        storeIdentifier = try database.values("SELECT Z_UUID FROM Z_METADATA", limit: 1).first?.text
    }
}

/// A compiled model of Core Data, `.momd`, with the entities of all its versions.
public struct CoreDataModel: Hashable, Sendable {
    /// The name of the version that a program uses.
    public let currentVersion: String

    /// The version hash of each entity, by the name of the version and that of the entity.
    public let entityVersionHashes: [String: [String: Data]]

    /// Reads `VersionInfo.plist` in a compiled model.
    ///
    /// - Parameter url: The path of the `.momd` directory, or of its `VersionInfo.plist`. A single
    ///   `.mom` file doesn't have one: Apple has not documented the format of its hashes.
    /// - Throws: ``StoreMigrationError`` with `missing`, or `damaged` if it isn't a model's version
    ///   list.
    public init(at url: URL) throws {
        let isList = url.pathExtension == "plist"
        let file = isList ? url : url.appending(path: "VersionInfo.plist")
        let path = BytePath(of: file)
        let bytes: [UInt8]
        do {
            let file = try FileDescriptor.openFollowingLinks(path, .reading)
            bytes = try file.readAll(limit: 64 << 20) ?? []
        } catch {
            throw StoreMigrationError(error, message: "can't read the compiled model", at: path)
        }
        // For any problem with the list, the error says that it isn't a model's version list.
        guard let list = try? PropertyListValue.read(bytes),
            let current = list["NSManagedObjectModel_CurrentVersionName"]?.string,
            let versions = list["NSManagedObjectModel_VersionHashes"]?.dictionary,
            case let hashes = versions.compactMapValues(\.hashes), hashes.count == versions.count,
            hashes[current] != nil
        else {
            let message = "it is not the list of versions of a compiled model"
            throw StoreMigrationError(.damaged, message, at: file.path)
        }
        currentVersion = current
        entityVersionHashes = hashes
    }

    /// The name of the version with exactly these entities; `nil` if there is none.
    ///
    /// - Parameter hashes: The version hash of each entity, as a store has them.
    /// - Returns: The name, preferably that of the current version.
    public func version(ofStoreWith hashes: [String: Data]) -> String? {
        let names = [currentVersion] + entityVersionHashes.keys.sorted()
        return names.first { entityVersionHashes[$0] == hashes }
    }
}

extension PropertyListValue {
    /// The version hash of each entity; `nil` if the value isn't a dictionary of data.
    fileprivate var hashes: [String: Data]? {
        guard let dictionary else { return nil }
        let hashes = dictionary.compactMapValues { $0.data.map { Data($0) } }
        return hashes.count == dictionary.count ? hashes : nil
    }
}
