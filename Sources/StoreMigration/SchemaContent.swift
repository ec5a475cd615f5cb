/// The declarations of a database, read from its own list and described by SQLite.
struct SchemaContent: Sendable {
    /// A table that has its own rows.
    struct Table: Sendable {
        let name: String
        let definition: TableDefinition
        let columns: [Column]
        let isWithoutRowid: Bool
        let isStrict: Bool
        let foreignKeys: [ForeignKey]
        let uniqueKeys: [UniqueKey]
        /// The folded name of the column that is the rowid.
        let rowidColumn: String?
        let isAutoincrement: Bool

        func column(_ name: String) -> Column? {
            columns.first { $0.name.foldedSQLName == name.foldedSQLName }
        }

        /// A name for the rowid that no column has; `nil` if there is no rowid or no such name.
        var rowidName: String? { rowidName { $0 } }

        /// The same where the columns have other names, which `stored` gives.
        func rowidName(_ stored: (String) -> String) -> String? {
            if isWithoutRowid { return nil }
            let names = Set(columns.map { stored($0.name.foldedSQLName).foldedSQLName })
            return ["rowid", "_rowid_", "oid"].first { !names.contains($0) }
        }
    }

    /// A column as SQLite understands it.
    struct Column: Sendable {
        let name: String
        let type: String
        let isNotNull: Bool
        /// The default as an expression.
        let defaultValue: String?
        let isKey: Bool
        let isGenerated: Bool
    }

    /// A foreign key with its columns.
    struct ForeignKey: Hashable, Sendable {
        let parent: String
        let columns: [String]
        /// The columns of the parent; empty if the key refers to the parent's primary key.
        let parentColumns: [String]
    }

    /// Columns or expressions whose values together must be unique.
    struct UniqueKey: Hashable, Sendable {
        /// The terms, each with its collation.
        let terms: [String]
        /// The columns among the terms.
        let columns: Set<String>
        /// The condition for a row to count.
        let condition: String?
    }

    /// An index, a view, a trigger or a virtual table.
    struct Object: Sendable {
        let name: String
        /// The folded name of the table that it belongs to.
        let table: String
        let sql: String
        let tokens: ArraySlice<SQLToken>

        init(name: String, table: String, sql: String) {
            (self.name, self.table, self.sql) = (name, table.foldedSQLName, sql)
            tokens = SQLTokens(sql).tokens[...]
        }

        func isSame(as other: Object, knowing names: Set<String>) -> Bool {
            tokens.keys(knowing: names) == other.tokens.keys(knowing: names)
        }

        /// Whether one of its names, or of the words in its texts, is `name`.
        func mentions(_ name: String) -> Bool {
            tokens.contains { token in
                token.name.foldedSQLName == name
                    || token.kind == .text
                        && SQLTokens(token.name).tokens.contains { $0.name.foldedSQLName == name }
            }
        }
    }

    typealias Objects = [String: Object]

    private(set) var tables: [String: Table] = [:]
    private(set) var tableObjects: Objects = [:]
    private(set) var virtualTables: Objects = [:]
    private(set) var indexes: Objects = [:]
    private(set) var views: Objects = [:]
    private(set) var triggers: Objects = [:]
    let userVersion: Int64
    let applicationID: Int64

    /// Every name that a token may be.
    private(set) var names: Set<String> = []

    /// Reads the declarations of `database`, and adds virtual tables that couldn't be made in it.
    init(
        of database: SQLiteConnection,
        adding unmade: Objects = [:]
    ) throws(StoreMigrationError) {
        userVersion = try database.values("PRAGMA main.user_version").first?.integer ?? 0
        applicationID = try database.values("PRAGMA main.application_id").first?.integer ?? 0
        let kinds = try Self.kinds(in: database)
        var ordinary: [Object] = []
        let query =
            "SELECT type, name, tbl_name, sql FROM main.sqlite_schema WHERE sql IS NOT NULL"
        for row in try database.rows(of: query) {
            let texts = row.map { $0.text ?? "" }
            let object = Object(name: texts[1], table: texts[2], sql: texts[3])
            let folded = object.name.foldedSQLName
            names.insert(folded)
            if folded.hasPrefix("sqlite_") { continue }
            switch texts[0] {
            case "index": indexes[folded] = object
            case "view": views[folded] = object
            case "trigger": triggers[folded] = object
            case _ where object.tokens.firstWords(2) == ["CREATE", "VIRTUAL"]:
                virtualTables[folded] = object
            case _ where kinds[folded]?.type == "shadow": break
            default: ordinary.append(object)
            }
        }
        virtualTables.merge(unmade) { $1 }
        names.formUnion(unmade.keys)
        try addTables(ordinary, kinds, in: database)
    }

    private mutating func addTables(
        _ ordinary: [Object],
        _ kinds: [String: Kind],
        in database: SQLiteConnection
    ) throws(StoreMigrationError) {
        // Only the app may have the module of a shadow table.
        let owners = virtualTables.keys.map { $0 + "_" }
        for object in ordinary {
            let folded = object.name.foldedSQLName
            if owners.contains(where: folded.hasPrefix) { continue }
            tableObjects[folded] = object
            guard let definition = TableDefinition(object.sql), let kind = kinds[folded] else {
                continue
            }
            tables[folded] = try Table(object, definition, kind, in: database)
        }
        for table in tables.values {
            names.formUnion(table.columns.map { $0.name.foldedSQLName })
        }
    }

    private typealias Kind = (type: String, isWithoutRowid: Bool, isStrict: Bool)

    private static func kinds(
        in database: SQLiteConnection
    ) throws(StoreMigrationError) -> [String: Kind] {
        var kinds: [String: Kind] = [:]
        let query = "SELECT name, type, wr, strict FROM pragma_table_list WHERE schema = 'main'"
        for row in try database.rows(of: query) {
            kinds[(row[0].text ?? "").foldedSQLName] = (
                row[1].text ?? "", row[2].integer == 1, row[3].integer == 1
            )
        }
        return kinds
    }

    // MARK: Removing obstacles

    mutating func forgetIndex(_ name: String) { indexes[name] = nil }

    mutating func forgetTrigger(_ name: String) { triggers[name] = nil }

    /// Forgets a view and its triggers.
    mutating func forgetView(_ name: String) {
        views[name] = nil
        triggers = triggers.filter { $0.value.table != name }
    }

    /// Whether both make the same declarations, regardless of spelling.
    func isSame(as other: SchemaContent) -> Bool {
        let names = names.union(other.names)
        func areSame(_ ours: Objects, _ others: Objects) -> Bool {
            let (ours, others) = (
                Bookkeeping.removed(from: ours), Bookkeeping.removed(from: others)
            )
            return ours.count == others.count
                && ours.allSatisfy { others[$0]?.isSame(as: $1, knowing: names) ?? false }
        }
        let (ours, others) = (
            Bookkeeping.removed(from: tableObjects), Bookkeeping.removed(from: other.tableObjects)
        )
        return ours.count == others.count
            && ours.keys.allSatisfy { isSameTable($0, as: other, knowing: names) }
            && areSame(virtualTables, other.virtualTables) && areSame(indexes, other.indexes)
            && areSame(views, other.views) && areSame(triggers, other.triggers)
    }

    /// Whether both declare a table in the same way.
    func isSameTable(
        _ name: String,
        as other: SchemaContent,
        knowing names: Set<String>
    ) -> Bool {
        guard let ours = tableObjects[name], let others = other.tableObjects[name] else {
            return false
        }
        if let table = tables[name]?.definition, let otherTable = other.tables[name]?.definition {
            return table.isSame(as: otherTable, knowing: names)
        }
        return ours.isSame(as: others, knowing: names)
    }
}

/// Tables in which a framework records what it has done to the store.
enum Bookkeeping {
    private static let frameworks = [
        "__diesel_schema_migrations": "Diesel", "__drizzle_migrations": "Drizzle",
        "__efmigrationshistory": "Entity Framework", "__efmigrationslock": "Entity Framework",
        "_fluent_migrations": "Fluent", "_prisma_migrations": "Prisma",
        "_sqlx_migrations": "SQLx", "alembic_version": "Alembic",
        "android_metadata": "Android", "ar_internal_metadata": "Active Record",
        "django_migrations": "Django", "flyway_schema_history": "Flyway",
        "goose_db_version": "goose", "grdb_migrations": "GRDB", "knex_migrations": "Knex",
        "knex_migrations_lock": "Knex", "refinery_schema_history": "Refinery",
        "room_master_table": "Room", "schema_migrations": "a framework",
        "sequelizemeta": "Sequelize",
    ]

    /// The framework that a table belongs to; `nil` for any other table.
    static func framework(ofTable name: String) -> String? { frameworks[name.foldedSQLName] }

    /// The objects that belong to no framework's table.
    static func removed(from objects: SchemaContent.Objects) -> SchemaContent.Objects {
        objects.filter { framework(ofTable: $0.value.table) == nil }
    }
}

// MARK: - Tables

extension SchemaContent.Table {
    fileprivate init(
        _ object: SchemaContent.Object,
        _ definition: TableDefinition,
        _ kind: (type: String, isWithoutRowid: Bool, isStrict: Bool),
        in database: SQLiteConnection
    ) throws(StoreMigrationError) {
        (name, self.definition) = (object.name, definition)
        (isWithoutRowid, isStrict) = (kind.isWithoutRowid, kind.isStrict)
        columns = try Self.columns(of: name, in: database)
        foreignKeys = try Self.foreignKeys(of: name, in: database)
        isAutoincrement = object.tokens.contains { $0.isWord("autoincrement") }
        let keys = columns.filter(\.isKey)
        let (uniqueKeys, hasKeyIndex) = try Self.uniqueKeys(of: name, in: database)
        let isRowid =
            keys.count == 1 && keys[0].type.uppercased() == "INTEGER" && !hasKeyIndex
            && !kind.isWithoutRowid
        rowidColumn = isRowid ? keys[0].name.foldedSQLName : nil
        self.uniqueKeys =
            isRowid ? uniqueKeys + [.init(columns: [(keys[0].name, "BINARY")])] : uniqueKeys
    }

    private static func columns(
        of table: String,
        in database: SQLiteConnection
    ) throws(StoreMigrationError) -> [SchemaContent.Column] {
        var columns: [SchemaContent.Column] = []
        let query = """
            SELECT name, type, "notnull", dflt_value, pk, hidden FROM pragma_table_xinfo(?1, 'main')
            """
        for row in try database.rows(of: query, .text(table)) {
            columns.append(
                SchemaContent.Column(
                    name: row[0].text ?? "",
                    type: row[1].text ?? "",
                    isNotNull: row[2].integer == 1,
                    defaultValue: row[3].text.flatMap { Self.expression(ofDefault: $0) },
                    isKey: row[4].integer != 0,
                    isGenerated: row[5].integer != 0
                )
            )
        }
        return columns
    }

    /// A default as SQL that means the same in another schema; `nil` for NULL.
    private static func expression(ofDefault text: String) -> String? {
        let tokens = SQLTokens(text).tokens
        guard tokens.count == 1, let token = tokens.first else { return text }
        if token.isWord("null") { return nil }
        let isWord = token.kind == .word && !SQLToken.values.contains(token.name.foldedSQLName)
        return isWord || token.kind == .doubleQuoted || token.kind == .name
            ? token.name.quotedSQLText : text
    }

    private static func foreignKeys(
        of table: String,
        in database: SQLiteConnection
    ) throws(StoreMigrationError) -> [SchemaContent.ForeignKey] {
        var keys: [Int64: (parent: String, columns: [String], parentColumns: [String])] = [:]
        let query = """
            SELECT id, "table", "from", "to" FROM pragma_foreign_key_list(?1, 'main') ORDER BY id, seq
            """
        for row in try database.rows(of: query, .text(table)) {
            let texts = row.map { ($0.text ?? "").foldedSQLName }
            var key = keys[row[0].integer ?? 0] ?? (texts[1], [], [])
            key.columns.append(texts[2])
            if row[3] != .null { key.parentColumns.append(texts[3]) }
            keys[row[0].integer ?? 0] = key
        }
        return keys.sorted { $0.key < $1.key }.map {
            SchemaContent.ForeignKey(
                parent: $0.value.parent,
                columns: $0.value.columns,
                parentColumns: $0.value.parentColumns
            )
        }
    }

    private static func uniqueKeys(
        of table: String,
        in database: SQLiteConnection
    ) throws(StoreMigrationError) -> (keys: [SchemaContent.UniqueKey], hasKeyIndex: Bool) {
        var keys: [SchemaContent.UniqueKey] = []
        var hasKeyIndex = false
        var indexes: [(name: String, origin: String, sql: String)] = []
        let query = """
            SELECT list.name, list.origin, schema.sql FROM pragma_index_list(?1, 'main') AS list
            LEFT JOIN main.sqlite_schema AS schema ON schema.type = 'index' AND schema.name = list.name
            WHERE list."unique" = 1
            """
        for row in try database.rows(of: query, .text(table)) {
            indexes.append((row[0].text ?? "", row[1].text ?? "", row[2].text ?? ""))
        }
        for index in indexes {
            if index.origin == "pk" { hasKeyIndex = true }
            var terms: [(String?, String)] = []
            let query = "SELECT name, coll FROM pragma_index_xinfo(?1, 'main') WHERE key = 1"
            for row in try database.rows(of: query, .text(index.name)) {
                terms.append((row[0].text, row[1].text ?? "BINARY"))
            }
            keys.append(SchemaContent.UniqueKey(terms, sql: index.sql))
        }
        return (keys, hasKeyIndex)
    }
}

extension SchemaContent.UniqueKey {
    fileprivate init(columns: [(name: String, collation: String)]) {
        self.init(
            terms: columns.map { Self.term($0.name.foldedSQLName.quotedSQLName, $0.collation) },
            columns: Set(columns.map { $0.name.foldedSQLName }),
            condition: nil
        )
    }

    private static func term(_ expression: String, _ collation: String) -> String {
        expression + " COLLATE " + collation.quotedSQLName
    }

    /// Makes the key of an index from its columns; expressions have no name.
    fileprivate init(_ terms: [(name: String?, collation: String)], sql: String) {
        let named = terms.compactMap { term in term.name.map { ($0, term.collation) } }
        let text = SQLTokens(sql)
        let tokens = text.tokens[...]
        guard let open = tokens.firstIndex(where: { $0.isSymbol("(") }) else {
            self.init(columns: named)
            return
        }
        let end = tokens.end(ofGroupAt: open)
        let parts = tokens[(open + 1)..<(end - 1)].listed
        let isWhole = named.count == terms.count && end == tokens.endIndex
        let words = tokens[(open + 1)...].map { $0.name.foldedSQLName }
        let isPartial = end < tokens.endIndex && tokens[end].isWord("where")
        self.init(
            terms: zip(parts, terms).map { part, term in
                if let name = term.name {
                    return Self.term(name.foldedSQLName.quotedSQLName, term.collation)
                }
                let isOrdered = part.last.map { $0.isWord("asc") || $0.isWord("desc") } ?? false
                let expression = text.text(of: isOrdered ? part.dropLast() : part)
                return Self.term("(" + expression + ")", term.collation)
            },
            columns: Set(isWhole ? named.map { $0.0.foldedSQLName } : words),
            condition: isPartial ? text.text(of: tokens[(end + 1)...]) : nil
        )
    }
}
