import Foundation
import StoreMigration
import TestSupport
import Testing

/// The directory of a test, with the files that are in it.
struct Place {
    let directory: URL

    init() throws {
        directory = try #require(ScratchDirectory.current)
    }

    subscript(name: String) -> URL { directory.appending(path: name) }

    /// The names of everything in the directory.
    var names: Set<String> {
        get throws { Set(try FileManager.default.contentsOfDirectory(atPath: directory.path)) }
    }

    /// The bytes of each file below the directory.
    var files: [String: Data] {
        get throws {
            try FileManager.default.subpathsOfDirectory(atPath: directory.path).reduce(into: [:]) {
                var isDirectory: ObjCBool = false
                let file = directory.appending(path: $1)
                _ = FileManager.default.fileExists(atPath: file.path, isDirectory: &isDirectory)
                $0[$1] = isDirectory.boolValue ? Data() : try Data(contentsOf: file)
            }
        }
    }

    /// Makes a database in the state that a crash leaves: its last notes are in the log only.
    func makeCrashedDatabase(_ name: String, version: Int = 1) throws {
        let live = directory.appending(path: "live")
        try FileManager.default.createDirectory(at: live, withIntermediateDirectories: false)
        let source = live.appending(path: "db")
        try TestDatabase.make(at: source, version: version, titles: ["Old"], journal: "WAL")
        let database = try TestDatabase(at: source)
        try database.run("INSERT INTO note (title) VALUES ('In the log')")
        for suffix in ["", "-wal", "-shm"] {
            let (file, copy) = (URL(filePath: source.path + suffix), self[name + suffix])
            try Data(contentsOf: file).write(to: copy)
        }
        try FileManager.default.removeItem(at: live)
    }
}

/// A plan for a table of notes, from version 1 to version 3.
func notesPlan(
    _ last: @escaping @Sendable (StoreCopy) throws -> Void = {
        try $0.execute("ALTER TABLE note ADD COLUMN folder TEXT")
    }
) -> StoreMigrationPlan {
    StoreMigrationPlan(
        current: 3,
        steps: [
            StoreStep(from: 1, to: 2) { try $0.execute("ALTER TABLE note ADD COLUMN tags TEXT") },
            StoreStep(from: 2, to: 3, last),
        ]
    )
}

/// Expects that `body` throws the library's error with `code`.
func expect(
    _ code: StoreMigrationError.Code,
    sourceLocation: SourceLocation = #_sourceLocation,
    _ body: () throws -> Void
) {
    let error = #expect(
        throws: StoreMigrationError.self,
        sourceLocation: sourceLocation,
        performing: body
    )
    #expect(error?.code == code, "\(error?.description ?? "")", sourceLocation: sourceLocation)
}
