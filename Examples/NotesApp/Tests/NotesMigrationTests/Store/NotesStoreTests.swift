import Foundation
import NotesStore
import Testing

/// The notes of a person.
struct NotesStoreTests {
    @Test
    func `keeps notes, tags, attachments and settings`() async throws {
        try await withScratchDirectory { root in
            let store = try NotesStore(in: StoreLayout(inContainerAt: root))
            let early = Date(timeIntervalSince1970: 1)
            let late = Date(timeIntervalSince1970: 2)
            var note = Note(id: "a", title: "A", text: "text", tags: ["x"], created: early)
            try store.save(note)
            try store.save(Note(id: "b", title: "B", text: "", created: late))
            #expect(try store.notes().map(\.id) == ["b", "a"])
            var settings = try store.settings()
            settings.sortOrder = .title
            try store.save(settings)
            #expect(try store.notes().map(\.id) == ["a", "b"])
            let file = root.appending(path: "plan.txt")
            try Data("plan".utf8).write(to: file)
            try store.attach(file, to: "a")
            note.attachments = ["plan.txt"]
            #expect(try store.note("a") == note)
            #expect(try root.files["Documents/Attachments/a/plan.txt"] == Data("plan".utf8))
            try Data("another plan".utf8).write(to: file)
            #expect(throws: (any Error).self) { try store.attach(file, to: "a") }
            #expect(try root.files["Documents/Attachments/a/plan.txt"] == Data("plan".utf8))
            #expect(try store.note("a") == note)
        }
    }

    @Test
    func `a note under another's name is no note`() async throws {
        try await withScratchDirectory { root in
            let store = try NotesStore(in: StoreLayout(inContainerAt: root))
            try store.save(Note(id: "a", title: "A", text: ""))
            let notes = root.appending(path: "Documents/Notes")
            try FileManager.default.moveItem(
                at: notes.appending(path: "a.json"),
                to: notes.appending(path: "b.json")
            )
            #expect(throws: StoreError.unreadableNote("b.json")) { try store.notes() }
        }
    }

    @Test
    func `a note that there is not is named`() async throws {
        try await withScratchDirectory { root in
            let store = try NotesStore(in: StoreLayout(inContainerAt: root))
            #expect(throws: StoreError.noSuchNote("a")) { try store.note("a") }
        }
    }
}
