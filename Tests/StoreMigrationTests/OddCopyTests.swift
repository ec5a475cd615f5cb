import Foundation
import TestSupport
import Testing

@testable import StoreMigration

/// Steps that do to their copy what no step should, and places where there can be no copy.
@Suite(.scratchDirectory)
struct OddCopyTests {
    private func failure(
        _ place: Place,
        journal: String = "DELETE",
        _ step: @escaping @Sendable (StoreCopy) throws -> Void
    ) throws -> StoreMigrationError? {
        try TestDatabase.make(at: place["db"], titles: ["a"], journal: journal)
        let store = VersionedStore(at: place["db"], .sqlite(.userVersion))
        let before = try Data(contentsOf: place["db"])
        let error = #expect(throws: StoreMigrationError.self) {
            try StoreMigrator(store).migrate(notesPlan(step))
        }
        #expect(try Data(contentsOf: place["db"]) == before)
        #expect(try place.names == ["db"])
        return error
    }

    @Test func `a step that leaves the copy open fails`() throws {
        let open = Box<TestDatabase>()
        let error = try failure(Place(), journal: "WAL") { copy in
            try copy.execute("ALTER TABLE note ADD COLUMN folder TEXT")
            let database = try TestDatabase(at: copy.url)
            try database.run("BEGIN; SELECT * FROM note")
            open.value = database
        }
        open.value?.close()
        #expect(error?.code == .stepFailed)
        #expect(error?.message == "a step left the copy open")
    }

    @Test func `a step that ruins the copy isn't told to close it`() throws {
        let error = try failure(Place()) { copy in
            try Data(repeating: 0x78, count: 8192).write(to: copy.url)
        }
        #expect(error?.message != "a step left the copy open")
        #expect(error?.code == .damaged)
    }

    /// It would try without end if it didn't see that the directory is gone.
    @Test func `there is no copy where the store's directory is gone`() throws {
        let place = try Place()
        let directory = place["d"]
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: false)
        let file = directory.appending(path: "db")
        try TestDatabase.make(at: file, titles: ["a"])
        let found = try StorePlace(of: VersionedStore(at: file, .sqlite(.userVersion)))
        try FileManager.default.removeItem(at: directory)
        let error = #expect(throws: StoreMigrationError.self) { try found.begin() }
        #expect(error?.message == "can't make a directory beside the store")
    }

    /// What a step keeps after it has ended.
    private final class Box<Value>: @unchecked Sendable {
        var value: Value?
    }
}
