import Foundation
import StoreMigration
import TestSupport
import Testing

/// Migrating JSON documents and directories.
@Suite(.scratchDirectory)
struct FileMigrationTests {
    private let plan = StoreMigrationPlan(
        current: 3,
        steps: [StoreStep(from: 1, to: 2) { _ in }, StoreStep(from: 2, to: 3) { _ in }]
    )

    /// Documents of version 1, with `@` in place of the version.
    @Test(arguments: [
        #"{"a":1.0,"version":@,"b":[{"version":7}]}"#,
        "{ \"version\" : \"@\" ,\n\"b\":\"\\\"version\\\":9\"}",
        #"{"nested":{"version":8},"v\u0065rsion":@ }"#,
        #"{"big":12345678901234567890.10,"version":@}"#,
    ])
    func `changes nothing of a document but its version`(_ text: String) throws {
        let place = try Place()
        try Data(text.replacing("@", with: "1").utf8).write(to: place["doc.json"])
        let store = VersionedStore(at: place["doc.json"], .json(key: "version"))
        #expect(try StoreMigrator(store).migrate(plan) == .migrated(from: 1))
        let migrated = try String(contentsOf: place["doc.json"], encoding: .utf8)
        #expect(migrated == text.replacing("@", with: "3"))
        #expect(try place.names == ["doc.json"])
    }

    @Test(arguments: [
        ("{}", #"{"version":3}"#), (#" { "a" : {} }"#, #" {"version":3, "a" : {} }"#),
    ])
    func `writes a version that was not written`(_ text: String, _ expected: String) throws {
        let place = try Place()
        try Data(text.utf8).write(to: place["doc.json"])
        let unversioned = VersionedStore(at: place["doc.json"], .json(key: "version"))
        expect(.unknownVersion) { try StoreMigrator(unversioned).migrate(plan) }
        #expect(try String(contentsOf: place["doc.json"], encoding: .utf8) == text)
        let store = VersionedStore(
            at: place["doc.json"],
            .json(key: "version"),
            unwrittenVersion: 1
        )
        try StoreMigrator(store).migrate(plan)
        #expect(try String(contentsOf: place["doc.json"], encoding: .utf8) == expected)
    }

    @Test(arguments: ["", "[1]", "{", "7", #"{"version":true}"#, #"{"version":[]}"#, "\u{0}{}"])
    func `refuses what is not a document with a version`(_ text: String) throws {
        let place = try Place()
        try Data(text.utf8).write(to: place["doc.json"])
        let store = VersionedStore(at: place["doc.json"], .json(key: "version"))
        expect(.damaged) { try StoreMigrator(store).migrate(plan) }
        #expect(try String(contentsOf: place["doc.json"], encoding: .utf8) == text)
    }

    private func makeDirectory(_ place: Place) throws -> URL {
        let notes = place["Notes"]
        let folder = notes.appending(path: "deep/deeper")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data("1\n".utf8).write(to: notes.appending(path: "version"))
        try Data("text".utf8).write(to: folder.appending(path: "note"))
        try FileManager.default.createSymbolicLink(
            atPath: notes.appending(path: "link").path,
            withDestinationPath: "deep/deeper/note"
        )
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSince1970: 1_000_000), .posixPermissions: 0o400],
            ofItemAtPath: folder.appending(path: "note").path
        )
        return notes
    }

    @Test func `brings a directory to the current version, with everything in it`() throws {
        let place = try Place()
        let notes = try makeDirectory(place)
        let before = try TreeSnapshot(of: BytePath(notes.appending(path: "deep").path))
        let plan = StoreMigrationPlan(
            current: 3,
            steps: [
                StoreStep(from: 1, to: 3) {
                    try Data().write(to: $0.url.appending(path: "added"))
                    let empty = try FileManager.default.contentsOfDirectory(atPath: $0.url.path)
                    #expect(empty.count == 4)
                }
            ]
        )
        let store = VersionedStore(at: notes, .directory(versionFile: "version"))
        #expect(try StoreMigrator(store).migrate(plan) == .migrated(from: 1))
        #expect(try store.version == 3)
        let after = try TreeSnapshot(of: BytePath(notes.appending(path: "deep").path))
        #expect(after.differences(from: before) == [])
        let files = try FileManager.default.contentsOfDirectory(atPath: notes.path)
        #expect(Set(files) == ["added", "deep", "link", "version"])
        #expect(try place.names == ["Notes"])
    }

    @Test func `a directory that changes meanwhile is not replaced`() throws {
        let place = try Place()
        let notes = try makeDirectory(place)
        let plan = StoreMigrationPlan(
            current: 3,
            steps: [
                StoreStep(from: 1, to: 3) { _ in
                    try Data("late".utf8).write(to: notes.appending(path: "deep/late"))
                }
            ]
        )
        let store = VersionedStore(at: notes, .directory(versionFile: "version"))
        expect(.storeChanged) { try StoreMigrator(store).migrate(plan) }
        #expect(try store.version == 1)
        #expect(try Data(contentsOf: notes.appending(path: "deep/late")) == Data("late".utf8))
        #expect(try place.names == ["Notes"])
    }

    @Test func `a document that changes meanwhile is not replaced`() throws {
        let place = try Place()
        let document = place["doc.json"]
        try Data(#"{"version":1}"#.utf8).write(to: document)
        let plan = StoreMigrationPlan(
            current: 3,
            steps: [
                StoreStep(from: 1, to: 3) { _ in
                    try Data(#"{"version":1,"late":true}"#.utf8).write(to: document)
                }
            ]
        )
        let store = VersionedStore(at: document, .json(key: "version"))
        expect(.storeChanged) { try StoreMigrator(store).migrate(plan) }
        let text = try String(contentsOf: document, encoding: .utf8)
        #expect(text == #"{"version":1,"late":true}"#)
    }
}
