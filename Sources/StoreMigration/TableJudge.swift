internal import MigrationSystem

/// Finds out what the rows of a table would lose under a new declaration, and which constraints
/// they would break.
struct TableJudge {
    private let database: SQLiteConnection
    /// The store's table, under the new names.
    private let old: SchemaContent.Table
    private let new: SchemaContent.Table
    private let source: SourceNames
    private let oldSchema: SchemaContent
    private let newSchema: SchemaContent
    private let drops: Set<String>

    /// Columns whose default replaces NULL; folded.
    private(set) var filled: Set<String> = []
    /// Columns whose values get another storage class; folded.
    private(set) var converted: Set<String> = []

    init(
        database: SQLiteConnection,
        old: SchemaContent.Table,
        new: SchemaContent.Table,
        source: SourceNames,
        schemas: (old: SchemaContent, new: SchemaContent),
        drops: Set<String>
    ) {
        (self.database, self.old, self.new, self.source) = (database, old, new, source)
        (oldSchema, newSchema) = schemas
        self.drops = drops
    }

    private var folded: String { new.name.foldedSQLName }
    private var stored: String { "main." + source.table(folded).quotedSQLName }
    private func storedColumn(_ name: String) -> String {
        source.column(name.foldedSQLName, of: folded)
    }
    /// A name for the rowid in the store, where the columns have their old names.
    private var rowidName: String? { old.rowidName(storedColumn) }
    private var rowid: String { rowidName ?? "NULL" }

    /// Checks the whole table if it is rebuilt.
    mutating func judge(into inference: inout SchemaInference) throws(StoreMigrationError) {
        try judgeColumnsThatGo(into: &inference)
        let query = "SELECT EXISTS (SELECT 1 FROM \(stored))"
        if try database.values(query).first?.integer == 0 { return }
        try judgeNull(into: &inference)
        try judgeValues(into: &inference)
        if !inference.reasons.contains(where: { $0.object.hasPrefix(new.name + ".") }) {
            try judgeConstraints(into: &inference)
        }
        try judgeUniqueKeys(into: &inference)
        try judgeForeignKeys(into: &inference)
        judgeRowids(into: &inference)
    }

    /// How many rows meet a condition on the store's columns.
    private func rows(where condition: String) throws(StoreMigrationError) -> Rows {
        try rows(of: "SELECT count(*), min(\(rowid)) FROM \(stored) WHERE \(condition)")
    }

    private func rows(of query: String) throws(StoreMigrationError) -> Rows {
        let row = try database.rows(of: query).first
        return Rows(count: row?[0].integer ?? 0, first: row?[1].integer)
    }
}

// MARK: - Columns

extension TableJudge {
    private func judgeColumnsThatGo(
        into inference: inout SchemaInference
    ) throws(StoreMigrationError) {
        for column in old.columns where !column.isGenerated {
            let name = storedColumn(column.name)
            let object = "\(new.name).\(column.name)"
            if let after = new.column(column.name) {
                guard after.isGenerated else { continue }
                let message = "column '\(object)' would be computed, and its values would go"
                inference.refuse(.plainBecomesGenerated, object, message)
                continue
            }
            let tables = [folded, source.table(folded)]
            let isNamed = drops.contains { drop in
                tables.contains { drop.foldedSQLName == "\($0).\(column.name.foldedSQLName)" }
            }
            if isNamed { continue }
            let rows = try rows(where: name.quotedSQLName + " IS NOT NULL")
            if rows.count == 0 { continue }
            let similar = new.columns.first {
                old.column($0.name) == nil && $0.type.uppercased() == column.type.uppercased()
            }
            let told = "\(source.table(folded)).\(name)"
            inference.refuse(
                .columnHoldsData,
                object,
                "column '\(object)' would go with its values in \(rows)",
                remedy: .dropOrRename(told, to: similar.map { "\(new.name).\($0.name)" })
            )
        }
    }

    private mutating func judgeNull(
        into inference: inout SchemaInference
    ) throws(StoreMigrationError) {
        for column in new.columns where column.isNotNull && !column.isGenerated {
            let object = "\(new.name).\(column.name)"
            let name = column.name.foldedSQLName
            guard let before = old.column(column.name) else {
                guard column.defaultValue == nil, name != new.rowidColumn else { continue }
                let message = "column '\(object)' is NOT NULL and has no value for the old rows"
                inference.refuse(.noValue, object, message)
                continue
            }
            if before.isNotNull { continue }
            let rows = try rows(where: storedColumn(name).quotedSQLName + " IS NULL")
            if rows.count == 0 { continue }
            if column.defaultValue != nil {
                filled.insert(name)
                inference.notes.append("column '\(object)': the default replaces NULL in \(rows)")
            } else {
                let message = "column '\(object)' becomes NOT NULL with NULL in \(rows)"
                inference.refuse(.notNull, object, message)
            }
        }
        // SQLite would give such rows new numbers.
        if let name = new.rowidColumn, old.rowidColumn != name, old.column(name) != nil {
            let object = "\(new.name).\(name)"
            let rows = try rows(where: storedColumn(name).quotedSQLName + " IS NULL")
            guard rows.count > 0 else { return }
            let message = "column '\(object)' becomes the rowid with NULL in \(rows)"
            inference.refuse(.notNull, object, message)
        }
    }
}

// MARK: - Values

/// How SQLite converts values for a column (sqlite.org/datatype3.html, 3.1).
private enum Affinity {
    case none, numeric, real, text

    init(of column: SchemaContent.Column, in table: SchemaContent.Table) {
        let type = column.type.uppercased()
        if table.isStrict, type == "ANY" {
            self = .none
        } else if type.contains("INT") {
            self = .numeric
        } else if ["CHAR", "CLOB", "TEXT"].contains(where: type.contains) {
            self = .text
        } else if type.isEmpty || type.contains("BLOB") {
            self = .none
        } else if ["REAL", "FLOA", "DOUB"].contains(where: type.contains) {
            self = .real
        } else {
            self = .numeric
        }
    }

    /// A type with this affinity.
    var type: String {
        switch self {
        case .none: ""
        case .numeric: "INTEGER"
        case .real: "REAL"
        case .text: "TEXT"
        }
    }

    /// The storage classes of values that it may convert.
    var convertible: [String] {
        switch self {
        case .none: []
        case .numeric: ["real", "text"]
        case .real: ["integer", "text"]
        case .text: ["integer", "real"]
        }
    }
}

extension TableJudge {
    /// Looks for values that a new type changes: casting a value back to its old class must give
    /// the old value.
    private mutating func judgeValues(
        into inference: inout SchemaInference
    ) throws(StoreMigrationError) {
        for column in new.columns where !column.isGenerated {
            guard let before = old.column(column.name) else { continue }
            let affinity = Affinity(of: column, in: new)
            // The rowid accepts only whole numbers, as a column of that type does.
            if Affinity(of: before, in: old) == affinity { continue }
            converted.insert(column.name.foldedSQLName)
            let rows = try rowsChanged(in: storedColumn(column.name).quotedSQLName, by: affinity)
            guard rows.count > 0 else { continue }
            let object = "\(new.name).\(column.name)"
            let type = column.type.isEmpty ? "no type" : "type \(column.type)"
            let message = "column '\(object)' gets \(type), which changes values in \(rows)"
            inference.refuse(.valueChanges, object, message)
        }
    }

    private func rowsChanged(
        in column: String,
        by affinity: Affinity
    ) throws(StoreMigrationError) -> Rows {
        if affinity.convertible.isEmpty { return Rows(count: 0) }
        let classes = affinity.convertible.map(\.quotedSQLText).joined(separator: ", ")
        let isConvertible = "typeof(\(column)) IN (\(classes))"
        try database.execute(
            """
            PRAGMA temp_store = MEMORY; DROP TABLE IF EXISTS temp.migration_values;
            CREATE TEMP TABLE migration_values (k, o, n \(affinity.type))
            """
        )
        // Above 2^53, neighboring whole numbers are the same number as a REAL.
        let isChanged = """
            CASE typeof(o) WHEN typeof(n) THEN o IS NOT +n WHEN 'integer' THEN
            CAST(n AS INTEGER) IS NOT o OR (typeof(n) = 'real' AND abs(n) > 9007199254740992.0)
            WHEN 'real' THEN CAST(n AS REAL) IS NOT o ELSE CAST(n AS TEXT) IS NOT o END
            """
        var rows = Rows(count: 0)
        let selection = "SELECT \(rowid), \(column), \(column) FROM \(stored)"
        try forEachPart(where: isConvertible) { part throws(StoreMigrationError) in
            try database.execute(
                "INSERT INTO temp.migration_values \(selection) WHERE \(part) AND \(isConvertible)"
            )
            let found = try self.rows(
                of: "SELECT count(*), min(k) FROM temp.migration_values WHERE \(isChanged)"
            )
            rows = Rows(count: rows.count + found.count, first: rows.first ?? found.first)
            try database.execute("DELETE FROM temp.migration_values")
        }
        try database.execute("DROP TABLE temp.migration_values")
        return rows
    }

    /// Iterates over the table in parts of bounded size; `body` gets a condition that is true for a
    /// part.
    private func forEachPart(
        where condition: String = "1",
        _ body: (String) throws(StoreMigrationError) -> Void
    ) throws(StoreMigrationError) {
        guard rowidName != nil else { return try body("1") }
        var start: Int64?
        while true {
            let lower = start.map { "\(rowid) > \($0)" } ?? "1"
            let query = """
                SELECT max(k) FROM (SELECT \(rowid) AS k FROM \(stored)
                WHERE \(lower) ORDER BY \(rowid) LIMIT \(Self.partSize))
                """
            guard let end = try database.values(query).first?.integer else { return }
            try body("\(lower) AND \(rowid) <= \(end)")
            start = end
        }
    }

    /// The number of rows that are tried at once.
    private static let partSize = 2000
}

// MARK: - Constraints

extension TableJudge {
    /// Whether previously valid rows may break CHECK, STRICT or the rowid's type.
    private var mayBreakConstraints: Bool {
        let names = oldSchema.names.union(newSchema.names)
        let checks = new.definition.checks(knowing: names)
        if !checks.isSubset(of: old.definition.checks(knowing: names)) { return true }
        if new.rowidColumn != old.rowidColumn { return true }
        let types = Dictionary(
            old.columns.map { ($0.name.foldedSQLName, $0.type.uppercased()) },
            uniquingKeysWith: { $1 }
        )
        let hasOtherTypes = new.columns.contains {
            let before = types[$0.name.foldedSQLName]
            return before != nil && before != $0.type.uppercased()
        }
        if new.isStrict, !old.isStrict || hasOtherTypes { return true }
        let isGenerated = new.columns.contains { $0.isGenerated }
        let sameColumns = zip(new.definition.columns, old.definition.columns).allSatisfy {
            $0.tokens.keys(knowing: names) == $1.tokens.keys(knowing: names)
        }
        return (!checks.isEmpty || isGenerated) && !sameColumns
    }

    /// Tries the rows in an empty table of the new declaration, in parts.
    private mutating func judgeConstraints(
        into inference: inout SchemaInference
    ) throws(StoreMigrationError) {
        guard mayBreakConstraints, let sql = newSchema.tableObjects[folded]?.sql else { return }
        let twin = "temp." + new.name.quotedSQLName
        let prefix = "CREATE TABLE "
        try database.execute(
            "PRAGMA temp_store = MEMORY; CREATE TEMP TABLE " + sql.dropFirst(prefix.count)
        )
        let sources = TableRebuild.sources(from: old, to: new, filling: filled) {
            storedColumn($0)
        }
        let columns = sources.map { $0.column.quotedSQLName }.joined(separator: ", ")
        let values = sources.map(\.expression).joined(separator: ", ")
        let insert = "INSERT INTO \(twin) (\(columns)) SELECT \(values) FROM \(stored) WHERE "
        var broken: [String: Rows] = [:]
        try forEachPart { part throws(StoreMigrationError) in
            try tryRows(insert, part, twin: twin, &broken)
        }
        try database.execute("DROP TABLE \(twin)")
        for (constraint, rows) in broken.sorted(by: { $0.key < $1.key }) {
            let message = "table '\(new.name)': \(constraint), broken by \(rows)"
            inference.refuse(.breaksConstraint, new.name, message)
        }
    }

    /// Tries a part at once, and if that fails its rows one by one.
    private func tryRows(
        _ insert: String,
        _ part: String,
        twin: String,
        _ broken: inout [String: Rows]
    ) throws(StoreMigrationError) {
        if try failure(of: insert + part, twin: twin) == nil { return }
        guard rowidName != nil else {
            // Without rowids it would take too long to find the rows.
            if let failure = try failure(of: insert + part, twin: twin), !failure.isAboutUniqueness
            {
                broken[failure.constraint] = Rows(count: 1)
            }
            return
        }
        let rowids = try database.values("SELECT \(rowid) FROM \(stored) WHERE \(part)")
        for case .integer(let number) in rowids {
            let row = insert + "\(rowid) = \(number)"
            guard let failure = try failure(of: row, twin: twin) else { continue }
            let rows = broken[failure.constraint] ?? Rows(count: 0, first: number)
            broken[failure.constraint] = Rows(count: rows.count + 1, first: rows.first)
        }
    }

    private func failure(
        of insert: String,
        twin: String
    ) throws(StoreMigrationError) -> StoreMigrationError? {
        do throws(StoreMigrationError) {
            try database.execute(insert)
            try database.execute("DELETE FROM \(twin)")
            return nil
        } catch  where error.isAboutConstraint {
            return error
        }
    }
}

extension StoreMigrationError {
    fileprivate var constraint: String { message.replacing("SQLite says: ", with: "") }

    fileprivate var isAboutUniqueness: Bool { message.contains("UNIQUE constraint failed") }

    fileprivate var isAboutConstraint: Bool {
        ["constraint failed", "cannot store ", "datatype mismatch"].contains(
            where: message.contains
        )
    }
}

// MARK: - Keys

extension TableJudge {
    /// The store's rows with the columns of the new table.
    private var rowsWithNewColumns: String {
        let columns = new.columns.compactMap { column -> String? in
            let name = column.name.foldedSQLName
            if old.column(name) != nil {
                let value = expression(of: column)
                return "\(value) AS \(column.name.quotedSQLName)"
            }
            if column.isGenerated { return nil }
            return "\(column.defaultValue ?? "NULL") AS \(column.name.quotedSQLName)"
        }
        let list = ([rowid + " AS migration_rowid"] + columns).joined(separator: ", ")
        return "(SELECT \(list) FROM \(stored)) AS \(new.name.quotedSQLName)"
    }

    /// The value of a column in the new table.
    private func expression(of column: SchemaContent.Column) -> String {
        let name = storedColumn(column.name).quotedSQLName
        let folded = column.name.foldedSQLName
        if filled.contains(folded), let value = column.defaultValue {
            return "ifnull(\(name), \(value))"
        }
        guard converted.contains(folded) else { return name }
        let isNumber = "typeof(\(name)) = 'text' AND +\(name) <= CAST(9e999 AS REAL)"
        return switch Affinity(of: column, in: new) {
        case .none: name
        case .numeric, .real: "iif(\(isNumber), CAST(\(name) AS NUMERIC), +\(name))"
        case .text: "iif(typeof(\(name)) = 'blob', +\(name), CAST(\(name) AS TEXT))"
        }
    }

    /// Looks for rows that are equal by a new key of the table.
    mutating func judgeUniqueKeys(
        into inference: inout SchemaInference
    ) throws(StoreMigrationError) {
        let changed = filled.union(converted)
        let generated = new.columns.filter(\.isGenerated).map(\.name.foldedSQLName)
        for key in new.uniqueKeys {
            if old.uniqueKeys.contains(key), key.columns.isDisjoint(with: changed) { continue }
            let unknown = generated.filter { old.column($0) == nil }
            // A generated column's values are known only once the table exists.
            if !key.columns.isDisjoint(with: unknown) { continue }
            let condition =
                key.terms.map { "\($0) IS NOT NULL" } + (key.condition.map { ["(\($0))"] } ?? [])
            let rows = try rows(
                of: """
                    SELECT coalesce(sum(n), 0), min(k) FROM (SELECT count(*) AS n, min(migration_rowid) AS k
                    FROM \(rowsWithNewColumns) WHERE \(condition.joined(separator: " AND "))
                    GROUP BY \(key.terms.joined(separator: ", ")) HAVING count(*) > 1)
                    """
            )
            guard rows.count > 0 else { continue }
            let columns = key.columns.sorted().joined(separator: ", ")
            let message = "table '\(new.name)': UNIQUE (\(columns)) with equal values in \(rows)"
            inference.refuse(.breaksUnique, new.name, message)
        }
    }

    private func judgeForeignKeys(
        into inference: inout SchemaInference
    ) throws(StoreMigrationError) {
        for key in new.foreignKeys where !old.foreignKeys.contains(key) {
            guard
                key.columns.allSatisfy({
                    old.column($0) != nil || new.column($0)?.defaultValue != nil
                })
            else { continue }
            let given = key.columns.map { $0.quotedSQLName + " IS NOT NULL" }
            let missing = try parentCondition(of: key).map { "NOT EXISTS (\($0))" } ?? "1"
            let rows = try rows(
                of: """
                    SELECT count(*), min(migration_rowid) FROM \(rowsWithNewColumns)
                    WHERE \((given + [missing]).joined(separator: " AND "))
                    """
            )
            guard rows.count > 0 else { continue }
            let columns = key.columns.joined(separator: ", ")
            let message =
                "table '\(new.name)': FOREIGN KEY (\(columns)) without a row of '\(key.parent)' in \(rows)"
            inference.refuse(.breaksForeignKey, new.name, message)
        }
    }

    /// The query for the parent of a row; `nil` if the parent has no rows yet.
    private func parentCondition(of key: SchemaContent.ForeignKey) throws(StoreMigrationError)
        -> String?
    {
        guard let parent = oldSchema.tables[key.parent] else { return nil }
        let keys = parent.columns.filter(\.isKey).map(\.name.foldedSQLName)
        let columns = key.parentColumns.isEmpty ? keys : key.parentColumns
        guard columns.count == key.columns.count,
            columns.allSatisfy({ parent.column($0) != nil })
        else { return nil }
        let table = source.table(key.parent)
        let terms = zip(columns, key.columns).map { column, own in
            let stored = source.column(column, of: key.parent).quotedSQLName
            return "migration_parent.\(stored) = \(new.name.quotedSQLName).\(own.quotedSQLName)"
        }
        return "SELECT 1 FROM main.\(table.quotedSQLName) AS migration_parent WHERE "
            + terms.joined(separator: " AND ")
    }

    // MARK: Rowids

    private func judgeRowids(into inference: inout SchemaInference) {
        if old.isWithoutRowid { return }
        let isSame = new.rowidColumn == old.rowidColumn || new.rowidColumn == nil
        let isNewName = new.rowidColumn.map { old.column($0) == nil } ?? false
        let keeps = !new.isWithoutRowid && (isSame || isNewName) && old.rowidName != nil
        if keeps { return }
        let change = new.isWithoutRowid ? "go" : "change"
        let objects = [newSchema.views, newSchema.triggers, newSchema.virtualTables]
            .flatMap(\.values).sorted { $0.name < $1.name }
        let users = objects.filter { object in
            guard object.mentions(folded) else { return false }
            let isVirtual = newSchema.virtualTables[object.name.foldedSQLName] != nil
            return isVirtual || ["rowid", "_rowid_", "oid"].contains(where: object.mentions)
        }
        if users.isEmpty {
            inference.notes.append("the rowids of '\(new.name)' \(change)")
        }
        for user in users {
            inference.refuse(
                .rowidsInUse,
                new.name,
                "the rowids of '\(new.name)' would \(change), and '\(user.name)' uses them"
            )
        }
    }
}
