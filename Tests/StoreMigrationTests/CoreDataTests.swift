import Foundation
import StoreMigration
import TestSupport
import Testing

/// Stores as Core Data writes them, made by hand, because Linux has no Core Data.
@Suite(.scratchDirectory)
struct CoreDataTests {
    private static func hashes(_ entities: [String: UInt8]) -> [String: Data] {
        entities.mapValues { Data(repeating: $0, count: 32) }
    }

    /// Makes a compiled model with the versions `Notes`, `Notes 2` and `Notes 3`, the current one.
    private func makeModel(_ place: Place) throws -> URL {
        let model = place["Notes.momd"]
        try FileManager.default.createDirectory(at: model, withIntermediateDirectories: false)
        let list: [String: Any] = [
            "NSManagedObjectModel_CurrentVersionName": "Notes 3",
            "NSManagedObjectModel_VersionHashes": [
                "Notes": Self.hashes(["Note": 1]),
                "Notes 2": Self.hashes(["Note": 2, "Tag": 2]),
                "Notes 3": Self.hashes(["Note": 3, "Tag": 2, "Folder": 3]),
            ],
        ]
        let data = try PropertyListSerialization.data(
            fromPropertyList: list,
            format: .binary,
            options: 0
        )
        try data.write(to: model.appending(path: "VersionInfo.plist"))
        return model
    }

    private func makeStore(
        _ place: Place,
        _ entities: [String: UInt8],
        identifiers: [String] = [""]
    ) throws -> URL {
        let store = place["Notes.sqlite"]
        let database = try TestDatabase(at: store)
        // The table as Core Data declares it.
        try database.run(
            """
            CREATE TABLE Z_METADATA
            (Z_VERSION INTEGER PRIMARY KEY, Z_UUID VARCHAR(255), Z_PLIST BLOB)
            """
        )
        let list: [String: Any] = [
            "NSStoreModelVersionHashes": Self.hashes(entities),
            "NSStoreModelVersionHashesVersion": 3,
            "NSStoreModelVersionIdentifiers": identifiers,
            "NSStoreType": "SQLite",
        ]
        let data = try PropertyListSerialization.data(
            fromPropertyList: list,
            format: .binary,
            options: 0
        )
        try database.insert(
            [UInt8](data),
            by: "INSERT INTO Z_METADATA VALUES (1, '11111111-2222-3333-4444-555555555555', ?1)"
        )
        return store
    }

    @Test(
        arguments: [
            (["Note": 3, "Tag": 2, "Folder": 3], .opens),
            (["Note": 2, "Tag": 2], .needsMigration(from: "Notes 2")),
            (["Note": 1], .needsMigration(from: "Notes")),
            (["Note": 3, "Folder": 3], .hasPart(of: "Notes 3")),
            (["Tag": 2], .hasPart(of: "Notes 3")),
            (["Note": 9, "Tag": 2], .isOfOtherModel(differing: ["Folder", "Note"])),
            ([:], .isOfOtherModel(differing: ["Folder", "Note", "Tag"])),
        ] as [([String: UInt8], CoreDataStoreInspector.Verdict)]
    )
    func `knows what a model is to a store`(
        _ entities: [String: UInt8],
        _ verdict: CoreDataStoreInspector.Verdict
    ) throws {
        let place = try Place()
        let model = try CoreDataModel(at: makeModel(place))
        let store = try makeStore(place, entities)
        let before = try place.files
        let inspector = try CoreDataStoreInspector(store: store)
        #expect(inspector.verdict(for: model) == verdict)
        #expect(inspector.metadata.storeIdentifier == "11111111-2222-3333-4444-555555555555")
        #expect(try place.files == before)
    }

    @Test(
        arguments: [
            (["v2"], "v2"), (["", "v2"], "v2"), ([""], nil), ([], nil), (["a", "b"], nil),
        ] as [([String], String?)]
    )
    func `takes the only identifier of the model for the version`(
        _ identifiers: [String],
        _ version: String?
    ) throws {
        let place = try Place()
        let url = try makeStore(place, ["Note": 1], identifiers: identifiers)
        let store = VersionedStore(at: url, .sqlite(.coreDataMetadata))
        #expect(try store.version?.text == version)
    }

    @Test func `never writes the metadata itself`() throws {
        let place = try Place()
        let url = try makeStore(place, ["Note": 1], identifiers: ["v1"])
        let before = try place.files
        let store = VersionedStore(at: url, .sqlite(.coreDataMetadata))
        let plan = StoreMigrationPlan(
            current: "v2",
            steps: [StoreStep(from: "v1", to: "v2") { _ in }]
        )
        expect(.stepFailed) { try StoreMigrator(store).migrate(plan) }
        #expect(try place.files == before)
    }

    @Test func `says what is not a store of Core Data`() throws {
        let place = try Place()
        try TestDatabase.make(at: place["db"])
        expect(.damaged) { _ = try CoreDataStoreInspector(store: place["db"]) }
        try Data("text".utf8).write(to: place["text"])
        expect(.damaged) { _ = try CoreDataStoreInspector(store: place["text"]) }
        expect(.missing) { _ = try CoreDataStoreInspector(store: place["none"]) }
        try TestDatabase(at: place["db"]).run(
            """
            CREATE TABLE Z_METADATA (Z_VERSION, Z_UUID, Z_PLIST);
            INSERT INTO Z_METADATA VALUES (1, 'x', 'y')
            """
        )
        expect(.damaged) { _ = try CoreDataStoreInspector(store: place["db"]) }
    }

    @Test func `says what is not a compiled model`() throws {
        let place = try Place()
        expect(.missing) { _ = try CoreDataModel(at: place["None.momd"]) }
        let model = try makeModel(place)
        let list = model.appending(path: "VersionInfo.plist")
        #expect(try CoreDataModel(at: list).currentVersion == "Notes 3")
        try Data("<plist/>".utf8).write(to: list)
        expect(.damaged) { _ = try CoreDataModel(at: model) }
    }
}
