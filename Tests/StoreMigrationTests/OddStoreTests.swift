import CSQLite
import Foundation
import StoreMigration
import Synchronization
import TestSupport
import Testing

/// Stores that are odder than an author expects.
@Suite(.scratchDirectory)
struct OddStoreTests {
    private func store(_ place: Place) -> VersionedStore {
        VersionedStore(at: place["db"], .sqlite(.userVersion))
    }

    private func columns(_ url: URL) throws -> [String] {
        try TestDatabase(at: url).texts("SELECT name FROM pragma_table_info('note')")
    }

    /// A plan from version 1 to version 2 of one step.
    private func plan(_ statements: String) -> StoreMigrationPlan {
        StoreMigrationPlan(
            current: 2,
            steps: [StoreStep(from: 1, to: 2) { try $0.execute(statements) }]
        )
    }

    /// The findings of a migration, sorted.
    private func findings(_ place: Place, _ plan: StoreMigrationPlan) throws -> [String] {
        let found = Mutex<[String]>([])
        try StoreMigrator(store(place)).migrate(plan) { text in
            found.withLock { $0.append(text) }
        }
        return found.withLock { $0 }
    }

    // MARK: SQL text

    @Test(arguments: ["-- tags", "/* tags", "; ;-- a;b", "/* ; */ -- \n/* x"])
    func `statements that end in a comment are carried out`(_ comment: String) throws {
        let place = try Place()
        try TestDatabase.make(at: place["db"])
        let plan = plan("ALTER TABLE note ADD COLUMN tags TEXT; \(comment)")
        #expect(try StoreMigrator(store(place)).migrate(plan) == .migrated(from: 1))
        #expect(try columns(place["db"]) == ["id", "title", "tags"])
    }

    @Test(arguments: [
        "ALTER TABLE note ADD COLUMN tags TEXT;\u{0}", "COMMIT", "ROLLBACK; BEGIN",
        "COMMIT; BEGIN", "END", "PRAGMA foreign_keys = ON", "SELECT nothing()",
    ])
    func `statements that don't do what they say fail the step`(_ statements: String) throws {
        for isInPlace in [false, true] {
            let place = try Place()
            try? FileManager.default.removeItem(at: place["db"])
            try TestDatabase.make(at: place["db"])
            let before = try place.files
            let step: StoreStep =
                isInPlace
                ? .inPlace(from: 1, to: 2) {
                    try $0.execute("DELETE FROM note")
                    try $0.execute(statements)
                } : StoreStep(from: 1, to: 2) { try $0.execute(statements) }
            let plan = StoreMigrationPlan(current: 2, steps: [step])
            let error = #expect(throws: StoreMigrationError.self) {
                try StoreMigrator(store(place)).migrate(plan)
            }
            #expect([.stepFailed, .failed].contains(error?.code), "\(error?.description ?? "")")
            #expect(try place.files == before)
        }
    }

    // MARK: The version

    @Test(arguments: [
        ("", "1", "integer", "2"), ("TEXT", "'1'", "text", "2"), ("", "'1'", "text", "2"),
        ("", "NULL", "integer", "2"), ("REAL", "1", "real", "2.0"), ("", "x'31'", "blob", "2"),
    ])
    func `the version keeps its storage class`(
        _ type: String,
        _ old: String,
        _ storage: String,
        _ target: String
    ) throws {
        let place = try Place()
        try TestDatabase.make(at: place["db"])
        try TestDatabase(at: place["db"])
            .run("CREATE TABLE meta (version \(type)); INSERT INTO meta VALUES (\(old))")
        let store = VersionedStore(
            at: place["db"],
            .sqlite(.table("meta", column: "version")),
            unwrittenVersion: 1
        )
        let source: StoreVersion = storage == "real" ? "1.0" : 1
        let plan = StoreMigrationPlan(
            current: StoreVersion(target),
            steps: [StoreStep(from: source, to: StoreVersion(target)) { _ in }]
        )
        #expect(try StoreMigrator(store).migrate(plan) == .migrated(from: source))
        let database = try TestDatabase(at: place["db"])
        #expect(try database.texts("SELECT typeof(version) FROM meta") == [storage])
        #expect(try store.version?.text == target)
    }

    @Test func `a number is not replaced by a text`() throws {
        let place = try Place()
        try TestDatabase.make(at: place["db"])
        try TestDatabase(at: place["db"])
            .run("CREATE TABLE meta (version); INSERT INTO meta VALUES (1)")
        let store = VersionedStore(at: place["db"], .sqlite(.table("meta", column: "version")))
        let plan = StoreMigrationPlan(
            current: "2b",
            steps: [StoreStep(from: 1, to: "2b") { _ in }]
        )
        let before = try place.files
        expect(.stepFailed) { try StoreMigrator(store).migrate(plan) }
        #expect(try place.files == before)
    }

    @Test(arguments: ["UTF-16le", "UTF-16be"])
    func `a store in another encoding is migrated`(_ encoding: String) throws {
        let place = try Place()
        try TestDatabase(at: place["db"]).run("PRAGMA encoding = '\(encoding)'; CREATE TABLE a (b)")
        try TestDatabase.make(at: place["db"], titles: ["Grün"])
        try TestDatabase(at: place["db"])
            .run("CREATE TABLE meta (version TEXT); INSERT INTO meta VALUES ('1')")
        let facts = try StoreFacts(of: place["db"])
        #expect(facts.damage == nil && facts.userVersion == 1)
        let store = VersionedStore(at: place["db"], .sqlite(.table("meta", column: "version")))
        #expect(try StoreMigrator(store).migrate(notesPlan()) == .migrated(from: 1))
        let database = try TestDatabase(at: place["db"])
        #expect(try database.texts("PRAGMA encoding") == [encoding])
        #expect(try database.texts("SELECT title FROM note") == ["Grün"])
    }

    // MARK: Foreign keys

    private func makeOrphans(_ place: Place) throws {
        try TestDatabase.make(at: place["db"])
        try TestDatabase(at: place["db"]).run(
            """
            CREATE TABLE tag (id INTEGER PRIMARY KEY, note REFERENCES note);
            CREATE TABLE loose (note REFERENCES note);
            INSERT INTO tag VALUES (1, 1), (2, 99); INSERT INTO loose VALUES (98), (97)
            """
        )
    }

    @Test(arguments: [
        "INSERT INTO tag VALUES (3, 77)", "UPDATE tag SET note = 1 - (id = 1) * 50",
        "DELETE FROM note", "DROP TABLE note", "INSERT INTO loose VALUES (5)",
        "CREATE TABLE new (x REFERENCES note); INSERT INTO new VALUES (9)",
    ])
    func `a step that breaks a foreign key fails`(_ statements: String) throws {
        for isInPlace in [false, true] {
            let place = try Place()
            try? FileManager.default.removeItem(at: place["db"])
            try makeOrphans(place)
            let before = try place.files
            let step: StoreStep =
                isInPlace
                ? .inPlace(from: 1, to: 2) { try $0.execute(statements) }
                : StoreStep(from: 1, to: 2) { try $0.execute(statements) }
            expect(.stepFailed) {
                try StoreMigrator(store(place))
                    .migrate(StoreMigrationPlan(current: 2, steps: [step]))
            }
            #expect(try place.files == before)
        }
    }

    @Test(arguments: [
        "ALTER TABLE tag ADD COLUMN colour", "ALTER TABLE tag RENAME TO label",
        "ALTER TABLE note RENAME TO page", "DELETE FROM loose WHERE note = 98",
        "CREATE TABLE n (note REFERENCES note); INSERT INTO n SELECT * FROM loose; "
            + "DROP TABLE loose; ALTER TABLE n RENAME TO loose",
    ])
    func `rows without a parent don't keep a store from its upgrade`(
        _ statements: String
    ) throws {
        for isInPlace in [false, true] {
            let place = try Place()
            try? FileManager.default.removeItem(at: place["db"])
            try makeOrphans(place)
            let step: StoreStep =
                isInPlace
                ? .inPlace(from: 1, to: 2) { try $0.execute(statements) }
                : StoreStep(from: 1, to: 2) { try $0.execute(statements) }
            let found = try findings(place, StoreMigrationPlan(current: 2, steps: [step]))
            let expected = [
                "2 rows of 'loose' without a row of 'note'",
                "1 row of 'tag' without a row of 'note'",
            ]
            #expect(found == (isInPlace ? [] : expected))
            #expect(try store(place).version == 2)
        }
    }

    // MARK: What only the app knows

    @Test(arguments: [
        ("CREATE INDEX i ON note(title COLLATE NOCASE)", "NOCASE", "LOCALIZED"),
        ("CREATE INDEX i ON note(upper(title))", "upper", "theirs"),
        ("CREATE VIRTUAL TABLE v USING fts5(x)", "fts5", "theirs"),
        ("CREATE TABLE odd (a CHECK (upper(a) > 0))", "upper", "theirs"),
        ("CREATE TABLE odd (a, b AS (upper(a)) NOT NULL)", "upper", "theirs"),
        ("CREATE TABLE odd (a) STRICT", "(a) STRICT", "(a) FANCY"),
    ])
    func `what only the app knows is not checked, and is no reason to refuse the store`(
        _ statement: String,
        _ known: String,
        _ unknown: String
    ) throws {
        let place = try Place()
        try TestDatabase.make(at: place["db"])
        let database = try TestDatabase(at: place["db"])
        // SQLite stands in for the app that knows the name.
        try database.run(statement.replacing("(a) STRICT", with: "(a)"))
        if statement.contains("odd") { try database.run("INSERT INTO odd (a) VALUES (1)") }
        try database.run(
            """
            PRAGMA writable_schema = ON;
            UPDATE sqlite_schema SET sql = '\(statement.replacing(known, with: unknown))'
            WHERE name IN ('i', 'odd', 'v');
            """
        )
        let facts = try StoreFacts(of: place["db"])
        #expect(facts.userVersion == 1 && facts.damage == nil, "\(facts.damage ?? "")")
        // SQLite reads neither a virtual table nor the expressions of an index here.
        let isChecked = !statement.contains("VIRTUAL") && !statement.contains("note(upper")
        if isChecked {
            #expect(facts.notChecked.joined().contains(unknown.split(separator: " ").last ?? ""))
        }
        // A step that needs none of it uses its own connection, which may know the name.
        let plan = StoreMigrationPlan(current: 2, steps: [StoreStep(from: 1, to: 2) { _ in }])
        let found = try findings(place, plan)
        #expect(found.isEmpty != isChecked, "\(found)")
        #expect(try store(place).version == 2)
        guard !statement.contains("FANCY"), known != "(a) STRICT" else { return }
        let light = StoreMigrationPlan(
            current: 3,
            steps: [
                .inPlace(from: 2, to: 3) { try $0.execute("CREATE TABLE more (x)") }
            ]
        )
        #expect(try StoreMigrator(store(place)).migrate(light) == .migrated(from: 2))
    }

    @Test func `a step that needs what only the app knows fails by its name`() throws {
        let place = try Place()
        try TestDatabase.make(at: place["db"])
        try TestDatabase(at: place["db"]).run(
            """
            CREATE INDEX i ON note(title COLLATE NOCASE); PRAGMA writable_schema = ON;
            UPDATE sqlite_schema SET sql = replace(sql, 'NOCASE', 'LOCALIZED') WHERE name = 'i'
            """
        )
        let error = #expect(throws: StoreMigrationError.self) {
            try StoreMigrator(store(place)).migrate(plan("INSERT INTO note (title) VALUES ('x')"))
        }
        #expect(error?.message.contains("LOCALIZED") ?? false, "\(error?.message ?? "")")
    }

    @Test func `rows that break a later constraint are told apart from damage`() throws {
        for journal in ["DELETE", "WAL"] {
            let place = try Place()
            try? FileManager.default.removeItem(at: place["db"])
            try TestDatabase.make(at: place["db"], journal: journal)
            try TestDatabase(at: place["db"]).run(
                """
                INSERT INTO note (title) VALUES (NULL); PRAGMA writable_schema = ON;
                UPDATE sqlite_schema SET sql =
                'CREATE TABLE note (id INTEGER PRIMARY KEY CHECK (id < 2), title TEXT NOT NULL)'
                WHERE name = 'note'
                """
            )
            let facts = try StoreFacts(of: place["db"])
            #expect(facts.damage == nil)
            let expected: Set = ["NULL value in note.title", "CHECK constraint failed in note"]
            #expect(Set(facts.findings) == expected, "\(facts.notChecked)")
            #expect(try place.names == ["db"])
            let found = try findings(place, plan("CREATE INDEX i ON note(title)"))
            #expect(Set(found) == expected)
            #expect(try store(place).version == 2)
        }
    }

    @Test func `a step may leave another journal mode behind`() throws {
        for mode in ["PERSIST", "TRUNCATE", "WAL", "DELETE"] {
            for old in ["DELETE", "WAL"] {
                let place = try Place()
                try? FileManager.default.removeItem(at: place["db"])
                try TestDatabase.make(at: place["db"], journal: old)
                let plan = StoreMigrationPlan(
                    current: 2,
                    steps: [
                        StoreStep(from: 1, to: 2) { copy in
                            let database = try TestDatabase(at: copy.url)
                            try database.run("PRAGMA journal_mode = \(mode)")
                            try database.run("INSERT INTO note (title) VALUES ('New')")
                        }
                    ]
                )
                try StoreMigrator(store(place)).migrate(plan)
                #expect(try place.names == ["db"])
                let database = try TestDatabase(at: place["db"])
                #expect(try database.texts("PRAGMA journal_mode") == [old.lowercased()])
                #expect(try database.texts("SELECT count(*) FROM note") == ["2"])
            }
        }
    }

    @Test(arguments: ["WAL", "DELETE"])
    func `a step may change the size of pages`(_ journal: String) throws {
        let place = try Place()
        let titles = (0..<500).map { "Title \($0)" }
        try TestDatabase.make(at: place["db"], titles: titles, journal: journal)
        let plan = StoreMigrationPlan(
            current: 2,
            steps: [
                StoreStep(from: 1, to: 2) { copy in
                    let database = try TestDatabase(at: copy.url)
                    try database.run("PRAGMA journal_mode = DELETE")
                    try database.run("PRAGMA page_size = 1024; VACUUM")
                }
            ]
        )
        try StoreMigrator(store(place)).migrate(plan)
        #expect(try place.names == ["db"])
        let database = try TestDatabase(at: place["db"])
        #expect(try database.texts("PRAGMA page_size") == ["1024"])
        #expect(try database.texts("PRAGMA journal_mode") == [journal.lowercased()])
        #expect(try database.texts("SELECT title FROM note ORDER BY id") == titles)
        #expect(try database.texts("PRAGMA integrity_check") == ["ok"])
    }

    // MARK: The file

    @Test func `a store with a second name is refused`() throws {
        let place = try Place()
        try TestDatabase.make(at: place["db"])
        try FileManager.default.linkItem(at: place["db"], to: place["other"])
        let before = try place.files
        expect(.severalNames) { try StoreMigrator(store(place)).migrate(notesPlan()) }
        #expect(try place.files == before)
        #expect(try StoreFacts(of: place["db"]).nameCount == 2)
        try Data(#"{"version":1}"#.utf8).write(to: place["a.json"])
        try FileManager.default.linkItem(at: place["a.json"], to: place["b.json"])
        let document = VersionedStore(at: place["a.json"], .json(key: "version"))
        expect(.severalNames) { try StoreMigrator(document).migrate(notesPlan()) }
    }

    @Test func `the file keeps its identity, and with it attributes and rights`() throws {
        let place = try Place()
        try TestDatabase.make(at: place["db"], journal: "WAL")
        let path = place["db"].path
        try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: path)
        try BytePath(path).setAttribute("user.note", [UInt8]("kept".utf8))
        let before = try TreeSnapshot(of: BytePath(place.directory.path))
        var (old, new) = (stat(), stat())
        #expect(lstat(path, &old) == 0)
        try StoreMigrator(store(place)).migrate(notesPlan())
        #expect(lstat(path, &new) == 0)
        #expect(old.st_ino == new.st_ino && old.st_mode == new.st_mode)
        let after = try TreeSnapshot(of: BytePath(place.directory.path))
        let changed = after.differences(from: before).map { "\($0)" }
        #expect(!changed.joined().contains("user.note"), "\(changed)")
    }

    @Test func `an encrypted store is called that`() throws {
        let place = try Place()
        let bytes = (0..<8192).map { UInt8(truncatingIfNeeded: ($0 &* 2_654_435_761) >> 7 | 0x80) }
        try Data(bytes).write(to: place["db"])
        for body in [
            { _ = try StoreFacts(of: place["db"]) }, { _ = try store(place).version },
        ] as [() throws -> Void] {
            let error = #expect(throws: StoreMigrationError.self, performing: body)
            #expect(error?.code == .damaged)
            #expect(error?.message.contains("perhaps it is encrypted") ?? false)
        }
    }

    @Test(arguments: ["-wal", "-journal"], ["a FIFO", "a symbolic link", "a directory"])
    func `what SQLite can't read beside a store is refused without waiting`(
        _ suffix: String,
        _ kind: String
    ) throws {
        let place = try Place()
        try TestDatabase.make(at: place["db"])
        let file = BytePath(place["db" + suffix].path)
        switch kind {
        case "a FIFO": try file.makeFIFO()
        case "a directory": try file.makeDirectory()
        default: try file.makeSymbolicLink(to: "/etc/passwd")
        }
        for body in [
            { _ = try StoreFacts(of: place["db"]) }, { _ = try store(place).version },
            { try StoreMigrator(store(place)).migrate(notesPlan()) },
        ] as [() throws -> Void] {
            let error = #expect(throws: StoreMigrationError.self, performing: body)
            #expect(error?.code == .damaged)
            #expect(error?.message.contains("'\(suffix)' beside the store is \(kind)") ?? false)
        }
    }

    @Test(arguments: [String.Encoding.utf16LittleEndian, .utf16BigEndian, .utf32LittleEndian])
    func `a document in another encoding isn't taken for one without a version`(
        _ encoding: String.Encoding
    ) throws {
        let place = try Place()
        let text = try #require(#"{"version":2}"#.data(using: encoding))
        try text.write(to: place["document"])
        let store = VersionedStore(
            at: place["document"],
            .json(key: "version"),
            unwrittenVersion: 1
        )
        expect(.damaged) { _ = try store.version }
        let error = #expect(throws: StoreMigrationError.self) { try StoreFacts(of: store.url) }
        #expect(error?.message.contains("only UTF-8 can be read") ?? false)
    }

    @Test func `a path that SQLite can't take is called too long`() throws {
        let place = try Place()
        var directory = place.directory
        while directory.path.utf8.count < 500 {
            directory.append(path: String(repeating: "d", count: 60))
        }
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        try TestDatabase.make(at: place["db"])
        let url = directory.appending(path: "db")
        try FileManager.default.moveItem(at: place["db"], to: url)
        let error = #expect(throws: StoreMigrationError.self) { try StoreFacts(of: url) }
        #expect(error?.message.contains("and SQLite takes at most 504") ?? false)
    }

    /// SQLite ignores the case of ASCII letters only.
    @Test func `the foreign keys of a table with a foreign letter are checked`() throws {
        let place = try Place()
        let database = try TestDatabase(at: place["db"])
        try database.run(
            """
            CREATE TABLE "Ö" (id INTEGER PRIMARY KEY); PRAGMA user_version = 1;
            CREATE TABLE "Äpfel" (id INTEGER PRIMARY KEY, tree REFERENCES "Ö" (id));
            INSERT INTO "Äpfel" VALUES (1, 99)
            """
        )
        database.close()
        let finding = "1 row of 'Äpfel' without a row of 'Ö'"
        #expect(try StoreFacts(of: place["db"]).findings == [finding])
        let statement = #"INSERT INTO "Äpfel" VALUES (2, 98)"#
        let plan = StoreMigrationPlan(
            current: 2,
            steps: [.inPlace(from: 1, to: 2) { try $0.execute(statement) }]
        )
        expect(.stepFailed) { try StoreMigrator(store(place)).migrate(plan) }
    }

    /// The journal of a transaction on several databases names a file that SQLite deletes.
    @Test(arguments: [("victim", false), ("other.db-mj1A2B3C9D4", true)])
    func `a hostile journal deletes no file that isn't SQLite's`(
        _ name: String,
        _ isJournal: Bool
    ) throws {
        let place = try Place()
        try TestDatabase.make(at: place["db"])
        let pages = UInt32(try Data(contentsOf: place["db"]).count / 4096)
        try Data("precious".utf8).write(to: place[name])
        let victim = [UInt8](place[name].path.utf8)
        let mark: [UInt8] = [0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7]
        func numbers(_ values: [UInt32]) -> [UInt8] {
            values.flatMap { value in (0..<4).map { UInt8(value >> (24 - 8 * $0) & 255) } }
        }
        var journal = mark + numbers([0, 0, pages, 512, 4096])
        journal += [UInt8](repeating: 0, count: 512 - journal.count)
        let sum = victim.reduce(0) { $0 + UInt32($1) }
        journal += numbers([262_145]) + victim + numbers([UInt32(victim.count), sum]) + mark
        try Data(journal).write(to: place["db-journal"])
        let facts = Result { try StoreFacts(of: place["db"]) }
        if isJournal {
            #expect(try facts.get().userVersion == 1)
        } else {
            let error = #expect(throws: StoreMigrationError.self) { try facts.get() }
            #expect(error?.message.contains("would make SQLite delete another file") ?? false)
            expect(.damaged) { _ = try store(place).version }
            expect(.damaged) { try StoreMigrator(store(place)).migrate(notesPlan()) }
            #expect(try Data(contentsOf: place[name]) == Data("precious".utf8))
        }
    }

    @Test func `a computed value of a hostile store takes no memory`() throws {
        let place = try Place()
        try TestDatabase.make(at: place["db"])
        try TestDatabase(at: place["db"]).run(
            """
            CREATE TABLE bomb (a, b AS (hex(zeroblob(450000000))) NOT NULL);
            INSERT INTO bomb (a) VALUES (1)
            """
        )
        let facts = try StoreFacts(of: place["db"])
        #expect(facts.userVersion == 1)
        #expect(facts.notChecked.joined().contains("too big"), "\(facts.notChecked)")
    }

    @Test func `a list of Core Data that refers to itself takes no time`() throws {
        let place = try Place()
        try TestDatabase(at: place["db"])
            .run("CREATE TABLE Z_METADATA (Z_VERSION, Z_UUID, Z_PLIST)")
        // Arrays of two references to the next one, forty of them.
        var list = [UInt8]("bplist00".utf8)
        var offsets: [UInt8] = []
        for index in 0..<40 {
            offsets.append(UInt8(list.count))
            let next = UInt8((index + 1) % 40)
            list += [0xA2, next, next]
        }
        let table = UInt8(list.count)
        list += offsets + [0, 0, 0, 0, 0, 0, 1, 1]
        for number in [40, 0, Int(table)] {
            list += (0..<8).map { UInt8(number >> (56 - 8 * $0) & 255) }
        }
        try TestDatabase(at: place["db"])
            .insert(list, by: "INSERT INTO Z_METADATA VALUES (1, 'u', ?1)")
        expect(.damaged) { _ = try CoreDataStoreInspector(store: place["db"]) }
        expect(.damaged) { _ = try StoreFacts(of: place["db"]) }
    }
}
