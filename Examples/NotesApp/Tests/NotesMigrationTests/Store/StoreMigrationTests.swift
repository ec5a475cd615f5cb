import Foundation
import StoreMigration
import Testing

@testable import NotesStore

/// Stepping through the versions of the store's format, as the app does at its launch.
struct StoreMigrationTests {
    @Test(arguments: ReleasedFormat.allCases)
    func `opens a store of every released version`(_ format: ReleasedFormat) async throws {
        try await withScratchDirectory { root in
            try format.write(to: root)
            let layout = StoreLayout(inContainerAt: root)
            #expect(try layout.version == format.rawValue)
            let store = try NotesStore(in: layout)
            #expect(try store.notes() == format.notes)
            #expect(try store.settings().sortOrder == .title)
            #expect(try layout.version == "3.0")
        }
    }

    @Test
    func `leaves nothing of an earlier version behind`() async throws {
        try await withScratchDirectory { root in
            try ReleasedFormat.version1.write(to: root)
            _ = try NotesStore(in: StoreLayout(inContainerAt: root))
            let names = try root.appending(path: "Documents/Notes").files.keys.sorted()
            #expect(names == ["c0ffee01.json", "c0ffee02.json", "format-version"])
            let documents = root.appending(path: "Documents").path
            #expect(try FileManager.default.contentsOfDirectory(atPath: documents) == ["Notes"])
        }
    }

    @Test(arguments: [
        ("1.0", ["1.0 to 2.0", "2.0 to 3.0"]), ("2.0", ["2.0 to 3.0"]),
    ])
    func `knows the steps from each version`(_ version: String, _ expected: [String]) throws {
        guard case .steps(let steps) = NotesFormat.plan.assess(version: StoreVersion(version))
        else {
            Issue.record("there are no steps")
            return
        }
        #expect(steps.map(\.description) == expected)
    }

    @Test(arguments: ["4.0", "3", "", "1.0.1"])
    func `refuses an unknown version with the data untouched`(_ version: String) async throws {
        try await withScratchDirectory { root in
            try ReleasedFormat.version2.write(to: root)
            let file = root.appending(path: "Documents/Notes/format-version")
            try Data(version.utf8).write(to: file)
            let before = try root.files
            #expect(throws: StoreError.unknownVersion(version)) {
                try NotesStore(in: StoreLayout(inContainerAt: root))
            }
            #expect(try root.files == before)
        }
    }

    @Test
    func `begins a migration anew that was cut off`() async throws {
        try await withScratchDirectory { root in
            try ReleasedFormat.version1.write(to: root)
            // The machine stopped while the copy was made.
            let copy = root.appending(path: "Documents/.Notes.migration/store/Notes")
            try FileManager.default.createDirectory(at: copy, withIntermediateDirectories: true)
            try Data("half".utf8).write(to: copy.appending(path: "c0ffee01.txt"))
            let store = try NotesStore(in: StoreLayout(inContainerAt: root))
            #expect(try store.notes() == ReleasedFormat.version1.notes)
            let documents = root.appending(path: "Documents").path
            #expect(try FileManager.default.contentsOfDirectory(atPath: documents) == ["Notes"])
        }
    }

    @Test
    func `looking into a new store writes nothing`() async throws {
        try await withScratchDirectory { root in
            let store = try NotesStore(in: StoreLayout(inContainerAt: root))
            #expect(try store.notes() == [])
            #expect(try root.files == [:])
        }
    }

    @Test
    func `a new store is in the current version`() async throws {
        try await withScratchDirectory { root in
            let layout = StoreLayout(inContainerAt: root)
            try NotesStore(in: layout).save(Note(title: "First", text: ""))
            #expect(try layout.version == "3.0")
            #expect(try NotesStore(in: layout).notes().map(\.title) == ["First"])
        }
    }
}
