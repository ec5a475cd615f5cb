import Foundation
import StoreMigration
import TestSupport
import Testing

/// A store with one schema that is migrated to another, as `Fixtures/SchemaPairs` lists them.
struct SchemaPair: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let verdict: String
    let codes: [String]
    let hints: [String]
    let old: String
    let new: String
    /// A query, and the text that it returns afterwards.
    let query: (text: String, result: String)?

    static let all: [SchemaPair] = {
        let url = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "Fixtures/SchemaPairs/pairs.txt")
        let text = (try? String(contentsOf: url, encoding: .utf8)) ?? ""
        return text.split(separator: "=== ").map { SchemaPair(String($0)) }
    }()

    private init(_ block: String) {
        let lines = block.split(separator: "\n", maxSplits: 1).map(String.init)
        let head = lines[0].components(separatedBy: " | ")
        let words = head[1].split(separator: " ").map(String.init)
        (testDescription, verdict, codes) = (head[0], words[0], words.dropFirst().sorted())
        hints = head.count > 2 ? head[2].split(separator: " ").map(String.init) : []
        let parts = lines[1].components(separatedBy: "\n---\n")
        (old, new) = (parts[0], parts[1])
        let answer = parts.count > 2 ? parts[2].components(separatedBy: "\n=> ") : []
        query =
            answer.count == 2
            ? (answer[0], answer[1].trimmingCharacters(in: .newlines)) : nil
    }

    var renames: [String: String] {
        let pairs = hints.compactMap { hint -> (String, String)? in
            let names = hint.components(separatedBy: "=")
            return names.count == 2 ? (names[0], names[1]) : nil
        }
        return Dictionary(pairs, uniquingKeysWith: { $1 })
    }

    var drops: Set<String> { Set(hints.filter { !$0.contains("=") }) }
}

/// Steps that are inferred from two schemas.
@Suite(.scratchDirectory)
struct InferenceTests {
    @Test func `knows at least sixty pairs`() {
        #expect(SchemaPair.all.count >= 60)
    }

    @Test(arguments: SchemaPair.all, ["DELETE", "WAL"])
    func `brings a store to a schema, or says why not`(
        _ pair: SchemaPair,
        _ journal: String
    ) throws {
        let place = try Place()
        let made = try TestDatabase(at: place["db"])
        try made.run("PRAGMA journal_mode = \(journal)")
        try made.run(pair.old)
        try made.run("PRAGMA wal_checkpoint(TRUNCATE)")
        made.close()
        let before = try place.files
        let store = VersionedStore(at: place["db"], .sqlite(.userVersion))
        let schema = try StoreSchema(pair.new)
        func infer() throws -> SchemaInference {
            try SchemaInference(of: store, to: schema, renames: pair.renames, drops: pair.drops)
        }
        let inference = try infer()
        #expect(inference.verdict.rawValue == pair.verdict, "\(inference.reasons)")
        #expect(Set(inference.reasons.map(\.code.rawValue)).sorted() == pair.codes)
        #expect(try place.files == before)
        let plan = StoreMigrationPlan(
            inferredFrom: schema,
            renames: pair.renames,
            drops: pair.drops
        )
        switch inference.verdict {
        case .impossible, .newer:
            expect(inference.verdict == .newer ? .newer : .notInferable) {
                try StoreMigrator(store).migrate(plan)
            }
            #expect(try place.files == before)
        case .current:
            #expect(try StoreMigrator(store).migrate(plan) == .current)
        case .inferred:
            #expect(try StoreMigrator(store).migrate(plan) != .current)
        }
        guard pair.codes.isEmpty, inference.verdict != .newer else { return }
        #expect(try infer().verdict == .current)
        #expect(try place.names == ["db"])
        let database = try TestDatabase(at: place["db"])
        #expect(try database.texts("PRAGMA integrity_check") == ["ok"])
        #expect(try database.texts("SELECT 1 FROM pragma_foreign_key_check").isEmpty)
        #expect(try database.texts("PRAGMA journal_mode") == [journal.lowercased()])
        if let query = pair.query { #expect(try database.texts(query.text) == [query.result]) }
    }

    @Test(arguments: [
        ("CREATE TABLE a (x);\nINSERT INTO a VALUES (1)", "line 2: INSERT"),
        ("ATTACH 'other' AS o", "line 1: ATTACH"),
        ("\n\nCREATE TABLE a AS SELECT 1", "line 3: CREATE TABLE ... AS SELECT"),
        ("CREATE TEMP TABLE a (x)", "line 1: CREATE TEMP"),
        ("PRAGMA journal_mode = WAL", "line 1: PRAGMA journal_mode"),
        ("DROP TABLE a", "line 1: DROP"), ("CREATE TABLE a (", "line 1: SQLite says"),
        ("/* c */ BEGIN; CREATE TABLE a (x); COMMIT", "line 1: BEGIN"),
    ])
    func `refuses SQL that does more than declare`(_ sql: String, _ reason: String) {
        let error = #expect(throws: StoreMigrationError.self) { try StoreSchema(sql) }
        #expect(error?.code == .invalidSchema)
        #expect(error?.message.hasPrefix(reason) ?? false, "\(error?.message ?? "")")
    }

    @Test func `ends a written plan with an inferred step`() throws {
        let place = try Place()
        try TestDatabase.make(at: place["db"], titles: ["a"])
        let schema = try StoreSchema(
            "CREATE TABLE note (id INTEGER PRIMARY KEY, title TEXT NOT NULL, tags TEXT, folder TEXT)"
        )
        let plan = StoreMigrationPlan(
            current: 3,
            steps: [
                StoreStep(from: 1, to: 2) {
                    try $0.execute("ALTER TABLE note ADD COLUMN tags TEXT")
                },
                .inferred(from: 2, to: 3, schema),
            ]
        )
        let store = VersionedStore(at: place["db"], .sqlite(.userVersion))
        #expect(try StoreMigrator(store).migrate(plan) == .migrated(from: 1))
        #expect(try store.version == 3)
        let inference = try SchemaInference(of: store, to: schema)
        #expect(inference.verdict == .current, "\(inference)")
    }

    @Test func `works in place only where no table is rebuilt, and tells the room`() throws {
        let place = try Place()
        try TestDatabase.make(at: place["db"])
        let store = VersionedStore(at: place["db"], .sqlite(.userVersion))
        let columns = "id INTEGER PRIMARY KEY, title TEXT"
        let light = try StoreSchema("CREATE TABLE note (\(columns), tags TEXT)")
        let heavy = try StoreSchema("CREATE TABLE note (\(columns) NOT NULL)")
        let (inPlace, byCopy) = (
            try SchemaInference(of: store, to: light), try SchemaInference(of: store, to: heavy)
        )
        #expect(inPlace.isInPlace && inPlace.bytesNeeded == 0)
        #expect(!byCopy.isInPlace && byCopy.bytesNeeded >= 3 * 8192)
        #expect(byCopy.steps.map(\.description) == ["rebuild table note"])
    }

    @Test func `opens a store only once it has the schema`() throws {
        let place = try Place()
        try TestDatabase.make(at: place["db"])
        let store = VersionedStore(at: place["db"], .sqlite(.userVersion))
        let schema = try StoreSchema(
            "CREATE TABLE note (id INTEGER PRIMARY KEY, title TEXT, tags TEXT)"
        )
        let plan = StoreMigrationPlan(inferredFrom: schema)
        expect(.notCurrent) { try plan.open(store) { _ in } }
        try StoreMigrator(store).migrate(plan)
        #expect(try plan.open(store) { $0 } == store.url)
        let other = StoreMigrationPlan(inferredFrom: try StoreSchema("CREATE TABLE a (x)"))
        expect(.notInferable) { try other.open(store) { _ in } }
    }
}
