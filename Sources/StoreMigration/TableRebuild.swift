/// The statements that give a table another declaration, and the proof that no value is lost.
///
/// The old table is renamed, the new one is made by the schema's own SQL, and the rows are copied
/// (sqlite.org/lang_altertable.html, 7). Triggers and indexes of the old table are dropped with it.
struct TableRebuild {
    /// Two queries that must return the same before the old table is dropped.
    struct Proof: Hashable, Sendable {
        let table: String
        let before: String
        let after: String
        /// The statements that run first.
        let leading: Int
    }

    private let old: SchemaContent.Table
    private let new: SchemaContent.Table
    private let sql: String
    private let aside: String

    init(
        of old: SchemaContent.Table,
        to new: SchemaContent.Table,
        sql: String,
        avoiding names: Set<String>
    ) {
        (self.old, self.new, self.sql) = (old, new, sql)
        var aside = "migration_old_" + old.name
        while names.contains(aside.foldedSQLName) { aside += "_" }
        self.aside = aside
    }

    /// A column of the new table, and the old table's expression for it.
    struct Source {
        let column: String
        let expression: String
    }

    /// The new table's columns that get values from the old one.
    ///
    /// In the `filled` columns the default replaces NULL.
    static func sources(
        from old: SchemaContent.Table,
        to new: SchemaContent.Table,
        filling filled: Set<String>,
        source: (String) -> String
    ) -> [Source] {
        var sources: [Source] = []
        let oldRowid = old.rowidName(source)
        for column in new.columns where !column.isGenerated {
            let folded = column.name.foldedSQLName
            if old.column(column.name) != nil {
                let name = source(folded).quotedSQLName
                let value = filled.contains(folded) ? column.defaultValue : nil
                sources.append(
                    Source(
                        column: column.name,
                        expression: value.map { "ifnull(\(name), \($0))" } ?? name
                    )
                )
            } else if folded == new.rowidColumn, let rowid = oldRowid {
                sources.append(Source(column: column.name, expression: rowid))
            }
        }
        if new.rowidColumn == nil, let name = new.rowidName, let rowid = oldRowid {
            sources.append(Source(column: name, expression: rowid))
        }
        // Rows count even if none of their columns remain.
        if sources.isEmpty, let column = new.columns.first(where: { !$0.isGenerated }) {
            let value = column.defaultValue ?? "NULL"
            sources.append(Source(column: column.name, expression: value))
        }
        return sources
    }

    /// The step, which replaces NULL in some columns and converts the values of others.
    func step(filling filled: Set<String>, converting converted: Set<String>)
        -> SchemaInference.Step
    {
        let sources = Self.sources(from: old, to: new, filling: filled) { name in
            old.column(name)?.name ?? name
        }
        let (table, aside) = (new.name.quotedSQLName, aside.quotedSQLName)
        var statements = putAside(aside)
        statements.append(sql)
        let columns = sources.map {
            $0.column.isRowidName(of: new) ? $0.column : $0.column.quotedSQLName
        }
        statements.append(
            "INSERT INTO \(table) (\(columns.joined(separator: ", "))) SELECT "
                + sources.map(\.expression).joined(separator: ", ") + " FROM \(aside)"
        )
        if old.isAutoincrement, new.isAutoincrement { statements += keepCounter }
        let leading = statements.count
        statements.append("DROP TABLE \(aside)")
        let changed = filled.union(converted)
        let kept = zip(columns, sources).filter {
            !changed.contains($0.1.column.foldedSQLName)
        }
        let proof = Proof(
            table: new.name,
            before: Self.digest(kept.map(\.1.expression), of: aside),
            after: Self.digest(kept.map(\.0), of: table),
            leading: leading
        )
        return SchemaInference.Step(.rebuildTable, new.name, statements, proof)
    }

    private static func digest(_ terms: [String], of table: String) -> String {
        "SELECT migration_digest(\(terms.joined(separator: ", "))) FROM main.\(table)"
    }

    /// Renames the old table.
    private func putAside(_ aside: String) -> [String] {
        let table = old.name.quotedSQLName
        // SQLite can't rename a table that its own constraints refer to without changing other
        // tables too.
        guard old.definition.namesItself(old.name) else {
            return ["ALTER TABLE \(table) RENAME TO \(aside)"]
        }
        let columns = old.columns.map(\.name.quotedSQLName).joined(separator: ", ")
        let rowid = old.rowidColumn == nil ? old.rowidName.map { "\($0), " } ?? "" : ""
        let alias = old.rowidColumn.map { name in
            old.columns.map {
                $0.name.quotedSQLName
                    + ($0.name.foldedSQLName == name ? " INTEGER PRIMARY KEY" : "")
            }.joined(separator: ", ")
        }
        return [
            "CREATE TABLE \(aside) (\(alias ?? columns))",
            "INSERT INTO \(aside) (\(rowid)\(columns)) SELECT \(rowid)\(columns) FROM \(table)",
        ] + (old.isAutoincrement ? [copyCounter] : []) + ["DROP TABLE \(table)"]
    }

    private var copyCounter: String {
        "INSERT INTO sqlite_sequence (name, seq) SELECT \(aside.quotedSQLText), seq FROM sqlite_sequence "
            + "WHERE name = \(old.name.quotedSQLText)"
    }

    /// Lets the new table continue counting where the old one stopped.
    private var keepCounter: [String] {
        let (name, aside) = (new.name.quotedSQLText, aside.quotedSQLText)
        let highest = "SELECT max(seq) FROM sqlite_sequence WHERE name IN (\(name), \(aside))"
        return [
            "INSERT INTO sqlite_sequence (name, seq) SELECT \(name), 0 WHERE NOT EXISTS "
                + "(SELECT 1 FROM sqlite_sequence WHERE name = \(name)) AND EXISTS "
                + "(SELECT 1 FROM sqlite_sequence WHERE name = \(aside))",
            "UPDATE sqlite_sequence SET seq = (\(highest)) WHERE name = \(name)",
            "DELETE FROM sqlite_sequence WHERE name = \(aside)",
        ]
    }
}

extension String {
    /// Whether it names the rowid of a table rather than a column.
    fileprivate func isRowidName(of table: SchemaContent.Table) -> Bool {
        table.column(self) == nil
    }
}

extension SchemaInference {
    /// Runs the steps in a transaction of `database`, and proves each table that is rebuilt.
    func run(in database: SQLiteConnection) throws {
        try database.addDigest()
        try database.execute("PRAGMA legacy_alter_table = ON; PRAGMA foreign_keys = OFF")
        try database.transaction {
            for step in steps {
                let isRename = step.kind == .renameTable || step.kind == .renameColumn
                // A rename by the author changes references to the table; a rename by a rebuild
                // must not.
                try database.execute("PRAGMA legacy_alter_table = \(isRename ? "OFF" : "ON")")
                try Self.run(step, in: database)
            }
        }
    }

    private static func run(_ step: Step, in database: SQLiteConnection) throws {
        guard let proof = step.proof else {
            for statement in step.statements { try database.execute(statement) }
            return
        }
        for statement in step.statements[..<proof.leading] { try database.execute(statement) }
        guard try database.values(proof.before) == database.values(proof.after) else {
            throw StoreMigrationError(
                .stepFailed,
                "rows of '\(proof.table)' differ after the table was rebuilt",
                at: database.path
            )
        }
        for statement in step.statements[proof.leading...] { try database.execute(statement) }
    }
}
