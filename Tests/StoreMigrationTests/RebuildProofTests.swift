import Foundation
import Testing

@testable import StoreMigration

/// The proof that a rebuilt table has every row and value of the old one.
struct RebuildProofTests {
    private static let rows = "SELECT id, typeof(title), title, typeof(n), n FROM note ORDER BY id"

    private let database: SQLiteConnection
    private let inference: SchemaInference

    init() throws {
        database = try SQLiteConnection.openInMemory()
        try database.execute(
            """
            CREATE TABLE note (id INTEGER PRIMARY KEY, title TEXT, n);
            INSERT INTO note VALUES (1, 'plants', 5), (2, '\(String(repeating: "long ", count: 20))', 2.5),
                (3, NULL, x'00FF'), (4, 'fern', NULL);
            """
        )
        let schema = try StoreSchema(
            "CREATE TABLE note (id INTEGER PRIMARY KEY CHECK (id > 0), title TEXT, n)"
        )
        inference = try SchemaGoal(schema: schema, renames: [:], drops: [])
            .inference(for: database)
    }

    /// The inference, with another query for the rows of the new table.
    private func copying(by query: String) throws -> SchemaInference {
        var changed = inference
        changed.steps = try inference.steps.map { step in
            let proof = try #require(step.proof)
            let statements = step.statements.map { statement in
                guard let select = statement.range(of: "SELECT ") else { return statement }
                return statement[..<select.lowerBound] + query
            }
            return SchemaInference.Step(step.kind, step.object, statements, proof)
        }
        return changed
    }

    @Test(arguments: [
        "id, title, n FROM migration_old_note WHERE id <> 2",
        "id, title, n FROM migration_old_note UNION ALL SELECT 9, 'plants', 5",
        "id + 1, title, n FROM migration_old_note",
        "id, ifnull(title, ''), n FROM migration_old_note",
        "id, title, CAST(n AS TEXT) FROM migration_old_note",
        "id, title, ifnull(n, 0) FROM migration_old_note",
        "id, rtrim(title), n FROM migration_old_note",
        "id, replace(title, 'l', 'L'), n FROM migration_old_note",
        "5 - id, title, n FROM migration_old_note",
        """
        id, (SELECT title FROM migration_old_note AS o WHERE o.id = CASE n.id WHEN 1 THEN 2 \
        WHEN 2 THEN 1 ELSE n.id END), n FROM migration_old_note AS n
        """,
    ])
    func `refuses rows that were lost, added, changed or mixed up`(_ query: String) throws {
        let before = try database.rows(of: Self.rows)
        let changed = try copying(by: "SELECT " + query)
        let error = #expect(throws: StoreMigrationError.self) { try changed.run(in: database) }
        #expect(error?.message.contains("differ after the table was rebuilt") == true)
        #expect(try database.rows(of: Self.rows) == before)
    }

    @Test(arguments: ["", " ORDER BY title DESC"])
    func `takes the same rows in any order`(_ order: String) throws {
        let before = try database.rows(of: Self.rows)
        try copying(by: "SELECT id, title, n FROM migration_old_note" + order).run(in: database)
        #expect(try database.rows(of: Self.rows) == before)
        let rest = "SELECT 1 FROM sqlite_schema WHERE name LIKE 'migration%'"
        #expect(try database.values(rest).isEmpty)
    }
}
