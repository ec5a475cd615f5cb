internal import Glibc

/// The app's search index: an SQLite database whose last changes are only in its log.
///
/// A migration that left the `-wal` file behind would lose them.
struct NotesDatabase {
    private static let path: EntryPath = "Library/Application Support/Notes/notes.sqlite"
    private static let schema = """
        CREATE TABLE folder (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
        CREATE TABLE note (
            id INTEGER PRIMARY KEY,
            folder INTEGER NOT NULL REFERENCES folder (id),
            title TEXT NOT NULL,
            body TEXT NOT NULL,
            modified INTEGER NOT NULL
        );
        CREATE INDEX note_by_modified ON note (modified);
        INSERT INTO folder (name) VALUES ('Home'), ('Work'), ('Travel'), ('Recipes'), ('日記');
        """

    private var generator: SeededGenerator

    init(seed: UInt64) {
        generator = SeededGenerator(seed: seed, part: "database")
    }

    consuming func write(to container: inout ContainerWriter) throws {
        try container.addDirectory("Library/Application Support/Notes")
        let file = "\(container.root)/\(Self.path.text)"
        try fill(file)
        for suffix in ["", "-wal", "-shm"] {
            var status = stat()
            guard stat(file + suffix, &status) == 0 else {
                throw SampleError.last("stat", file + suffix)
            }
            try container.adopt("\(Self.path.text)\(suffix)", length: Int(status.st_size))
        }
    }

    private mutating func fill(_ file: String) throws {
        let database = try SQLiteConnection(creating: file)
        try database.run("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0;")
        try database.run(Self.schema)
        try insertNotes(1...2_000, into: database)
        try database.run("PRAGMA wal_checkpoint(TRUNCATE);")
        try insertNotes(2_001...2_150, into: database)
        try database.run("UPDATE note SET title = 'Read: ' || title WHERE id % 40 = 0;")
    }

    private mutating func insertNotes(
        _ numbers: ClosedRange<Int>,
        into database: borrowing SQLiteConnection
    ) throws {
        try database.run("BEGIN;")
        for number in numbers {
            try database.insertNote(
                id: number,
                folder: generator.number(in: 1...5),
                title: Prose.title(using: &generator),
                body: Prose.paragraphs(2, using: &generator),
                modified: Timestamp.random(using: &generator).seconds
            )
        }
        try database.run("COMMIT;")
    }
}
