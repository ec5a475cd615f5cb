import Foundation
import NotesStore
import Testing

@testable import NotesMigration

/// The files that the system brings for an import.
struct ImportedResourcesTests {
    @Test
    func `are moved, not copied`() async throws {
        try await withScratchDirectory { root in
            let directory = root.appending(path: "import", directoryHint: .isDirectory)
            try ReleasedFormat.version3.copyResources(to: directory)
            let layout = StoreLayout(inContainerAt: root)
            let resources = ImportedResources(in: directory, for: layout)
            let files = try resources.files()
            #expect(files.count == 4)
            for file in files {
                let number = try file.source.fileNumber
                try resources.move(file)
                #expect(try file.destination.fileNumber == number)
            }
            #expect(try directory.files == [:])
            #expect(try NotesStore(in: layout).notes().count == 2)
        }
    }

    @Test(arguments: ["readme.txt", "Notes/deep/a.json", "Attachments/loose"])
    func `are refused where they belong nowhere`(_ path: String) async throws {
        try await withScratchDirectory { root in
            let file = root.appending(path: path)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(),
                withIntermediateDirectories: true
            )
            try Data("?".utf8).write(to: file)
            let resources = ImportedResources(in: root, for: StoreLayout(inContainerAt: root))
            #expect(throws: NotesMigrationError.unknownFile(path)) { try resources.files() }
        }
    }
}
