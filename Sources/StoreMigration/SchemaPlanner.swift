internal import MigrationSystem

/// Compares a store with a schema, and finds the steps or every reason against them.
struct SchemaPlanner {
    private let goal: SchemaGoal
    private let database: SQLiteConnection
    /// The store's declarations, under the schema's names.
    private var old: SchemaContent
    private var inference = SchemaInference()
    /// The store's names of tables and columns that are renamed.
    private var source = SourceNames()
    private var steps: [SchemaInference.Step.Kind: [SchemaInference.Step]] = [:]
    private var rebuilt: Set<String> = []

    private var new: SchemaContent { goal.schema.content }
    private var names: Set<String> { old.names.union(new.names) }

    init(goal: SchemaGoal, database: SQLiteConnection, content: SchemaContent) {
        (self.goal, self.database, old) = (goal, database, content)
    }

    /// The order of steps: obstacles are removed first.
    private static let order: [SchemaInference.Step.Kind] = [
        .dropTrigger, .dropView, .renameTable, .renameColumn, .dropIndex, .dropTable,
        .dropVirtualTable, .rebuildTable, .addColumn, .createTable, .createVirtualTable,
        .createIndex, .createView, .createTrigger, .analyze, .setApplicationID, .setVersion,
    ]

    mutating func infer() throws(StoreMigrationError) -> SchemaInference {
        if old.tableObjects["z_metadata"] != nil {
            let message = "Core Data made the store, and the meaning of its tables is private"
            inference.refuse(.coreData, "Z_METADATA", message)
            inference.verdict = .impossible
            return inference
        }
        compareNumbers()
        if inference.verdict == .newer { return inference }
        if !old.isSame(as: new) {
            dropStaleViews()
            try rename()
            try compareTables()
            try compareVirtualTables()
            try compareIndexes()
            try compareViewsAndTriggers()
            try analyze()
        }
        let known = Set(old.tableObjects.keys).compactMap { name in
            Bookkeeping.framework(ofTable: name).map { (name, $0) }
        }
        for (name, framework) in known.sorted(by: <) {
            inference.notes.append(
                "table '\(name)' stays as it is: \(framework) doesn't know of this upgrade"
            )
        }
        if !inference.reasons.isEmpty {
            inference.verdict = .impossible
            return inference
        }
        inference.steps = Self.order.flatMap { steps[$0] ?? [] }
        inference.verdict = inference.steps.isEmpty ? .current : .inferred
        if inference.verdict == .current || inference.isInPlace { return inference }
        let room = try MigrationRoom(of: database, growth: inference.growth)
        inference.bytesNeeded = room.bytes(copies: 1)
        return inference
    }

    private mutating func add(
        _ kind: SchemaInference.Step.Kind,
        _ object: String,
        _ statement: String
    ) {
        steps[kind, default: []].append(.init(kind, object, [statement]))
    }

    // MARK: Numbers

    private mutating func compareNumbers() {
        if let version = goal.schema.userVersion, version != old.userVersion {
            if version < old.userVersion {
                inference.verdict = .newer
                return
            }
            add(.setVersion, "\(version)", "PRAGMA user_version = \(version)")
        }
        if let identifier = goal.schema.applicationID, identifier != old.applicationID {
            guard old.applicationID == 0 else {
                inference.refuse(
                    .differentApplication,
                    "application_id",
                    "the store has application_id \(old.applicationID), not \(identifier): it belongs "
                        + "to another application"
                )
                return
            }
            let statement = "PRAGMA application_id = \(identifier)"
            add(.setApplicationID, "\(identifier)", statement)
        }
    }

    // MARK: Names

    /// Drops views and triggers that will be removed or changed, because they could prevent a
    /// rename.
    private mutating func dropStaleViews() {
        let (names, new) = (names, new)
        for (name, view) in Bookkeeping.removed(from: old.views).sorted(by: { $0.key < $1.key })
        where !(new.views[name]?.isSame(as: view, knowing: names) ?? false) {
            add(.dropView, view.name, "DROP VIEW \(view.name.quotedSQLName)")
            old.forgetView(name)
        }
        for (name, trigger) in Bookkeeping.removed(from: old.triggers)
            .sorted(by: { $0.key < $1.key })
        where !(new.triggers[name]?.isSame(as: trigger, knowing: names) ?? false) {
            add(.dropTrigger, trigger.name, "DROP TRIGGER \(trigger.name.quotedSQLName)")
            old.forgetTrigger(name)
        }
    }

    /// Renames tables and columns as the author asked, if the store has the old names.
    private mutating func rename() throws(StoreMigrationError) {
        let wanted = Renames(goal, from: old, to: new, &inference)
        if wanted.statements.isEmpty { return }
        do throws(StoreMigrationError) {
            let (clone, unmade) = try old.clone(standIns: goal.schema.standIns)
            for step in wanted.statements {
                try clone.execute(step.sql)
                steps[step.kind, default: []].append(step)
            }
            old = try SchemaContent(of: clone, adding: unmade)
            source = wanted.source
        } catch {
            let object = wanted.statements.map(\.object).joined(separator: ", ")
            inference.refuse(
                .renameFails,
                object,
                "the new names can't be given: \(error.message)"
            )
        }
    }

    // MARK: Tables

    private mutating func compareTables() throws(StoreMigrationError) {
        let (names, new) = (names, new)
        for (name, table) in new.tables.sorted(by: { $0.key < $1.key })
        where Bookkeeping.framework(ofTable: name) == nil {
            if old.isSameTable(name, as: new, knowing: names) { continue }
            if let before = old.tables[name] {
                try change(before, to: table)
            } else if old.virtualTables[name] != nil {
                refuseVirtual(table.name)
            } else if let sql = new.tableObjects[name]?.sql, hasAll(of: table.name, sql) {
                add(.createTable, table.name, sql)
            }
        }
        let gone = Bookkeeping.removed(from: old.tableObjects).filter {
            new.tableObjects[$0.key] == nil
        }
        for (name, table) in gone.sorted(by: { $0.key < $1.key }) {
            try drop(table, .dropTable, isTable: new.virtualTables[name] == nil)
        }
        for hint in goal.drops.sorted() {
            let parts = hint.foldedSQLName.split(separator: ".", maxSplits: 1).map(String.init)
            let isKept =
                parts.count == 2
                ? new.tables[parts[0]]?.column(parts[1]) != nil
                : new.tableObjects[parts[0]] != nil || new.virtualTables[parts[0]] != nil
            guard isKept else { continue }
            inference.refuse(.stillDeclared, hint, "the schema still declares \(hint)")
        }
    }

    private mutating func change(
        _ before: SchemaContent.Table,
        to table: SchemaContent.Table
    ) throws(StoreMigrationError) {
        let folded = table.name.foldedSQLName
        guard let sql = new.tableObjects[folded]?.sql else { return }
        if let added = table.definition.additions(to: before.definition, knowing: names) {
            for column in added where hasAll(of: table.name + "." + column.name, column.text) {
                add(
                    .addColumn,
                    table.name + "." + column.name,
                    "ALTER TABLE \(table.name.quotedSQLName) ADD COLUMN \(column.text)"
                )
            }
            return
        }
        guard hasAll(of: table.name, sql) else { return }
        rebuilt.insert(folded)
        var judge = judge(of: before, becoming: table)
        try judge.judge(into: &inference)
        let rebuild = TableRebuild(of: before, to: table, sql: sql, avoiding: names)
        let step = rebuild.step(filling: judge.filled, converting: judge.converted)
        steps[.rebuildTable, default: []].append(step)
        // The next table reuses the pages that the old form of this one frees.
        inference.growth = max(
            inference.growth,
            try MigrationRoom.bytes(ofTable: source.table(folded), in: database)
        )
    }

    /// Whether SQLite has every function and collation that the SQL names.
    private mutating func hasAll(of object: String, _ sql: String) -> Bool {
        let tokens = SQLTokens(sql).tokens
        var missing: [String] = []
        for (token, next) in zip(tokens, tokens.dropFirst()) {
            let (name, collation) = (token.name.foldedSQLName, next.name.foldedSQLName)
            if next.isSymbol("("), goal.schema.standIns.functions.contains(name) {
                missing.append("function '\(token.name)'")
            }
            if token.isWord("collate"), goal.schema.standIns.collations.contains(collation) {
                missing.append("collation '\(next.name)'")
            }
        }
        for name in missing {
            let message = "\(object) needs the \(name), which only the app has"
            inference.refuse(.needsApp, object, message)
        }
        return missing.isEmpty
    }

    /// Drops a table that holds no data, or that `drops` names.
    private mutating func drop(
        _ table: SchemaContent.Object,
        _ kind: SchemaInference.Step.Kind,
        isTable: Bool = true
    ) throws(StoreMigrationError) {
        let folded = table.name.foldedSQLName
        let stored = source.table(folded)
        let isNamed = goal.drops.contains { [folded, stored].contains($0.foldedSQLName) }
        let query = "SELECT count(*) FROM main.\(stored.quotedSQLName)"
        let count: Int64
        do throws(StoreMigrationError) {
            count = try database.values(query).first?.integer ?? 0
        } catch  where error.mayBeLeftUnchecked {
            let message = "'\(table.name)' can't go: \(error.message)"
            inference.refuse(.needsApp, table.name, message)
            return
        }
        if count > 0, !isNamed {
            let similar = isTable ? similarTable(to: folded) : nil
            inference.refuse(
                .tableHoldsData,
                table.name,
                "table '\(table.name)' would go with \(Rows(count: count))",
                remedy: .dropOrRename(stored, to: similar)
            )
            return
        }
        add(kind, table.name, "DROP TABLE \(table.name.quotedSQLName)")
        dropIndexesAndTriggers(of: folded)
    }

    /// A new table with the same columns.
    private func similarTable(to name: String) -> String? {
        guard let table = old.tables[name] else { return nil }
        let columns = Set(table.columns.map { $0.name.foldedSQLName })
        return new.tables.values.first { other in
            old.tables[other.name.foldedSQLName] == nil
                && Set(other.columns.map { $0.name.foldedSQLName }) == columns
        }?.name
    }

    /// Objects that belong to a table are dropped with it.
    private mutating func dropIndexesAndTriggers(of table: String) {
        for (name, index) in old.indexes where index.table == table { old.forgetIndex(name) }
        for (name, trigger) in old.triggers where trigger.table == table {
            old.forgetTrigger(name)
        }
    }

    // MARK: Virtual tables

    private mutating func compareVirtualTables() throws(StoreMigrationError) {
        let (names, new) = (names, new)
        for (name, table) in new.virtualTables.sorted(by: { $0.key < $1.key }) {
            if let before = old.virtualTables[name] {
                if !table.isSame(as: before, knowing: names) { refuseVirtual(table.name) }
            } else if goal.schema.unmade.contains(name) {
                let message = "virtual table '\(table.name)' needs a module or tokenizer of the app"
                inference.refuse(.needsApp, table.name, message)
            } else {
                add(.createVirtualTable, table.name, table.sql)
            }
        }
        for (name, table) in old.virtualTables.sorted(by: { $0.key < $1.key })
        where new.virtualTables[name] == nil && new.tables[name] == nil {
            try drop(table, .dropVirtualTable, isTable: false)
        }
    }

    private mutating func refuseVirtual(_ name: String) {
        let message = "virtual table '\(name)' changes, and only its module knows its data"
        inference.refuse(.virtualTableChanges, name, message)
    }

    // MARK: Indexes, views and triggers

    private mutating func compareIndexes() throws(StoreMigrationError) {
        let (names, new) = (names, new)
        for (name, index) in Bookkeeping.removed(from: old.indexes).sorted(by: { $0.key < $1.key })
        where !rebuilt.contains(index.table) {
            if new.indexes[name]?.isSame(as: index, knowing: names) ?? false { continue }
            add(.dropIndex, index.name, "DROP INDEX \(index.name.quotedSQLName)")
            old.forgetIndex(name)
        }
        for (name, index) in old.indexes where rebuilt.contains(index.table) {
            old.forgetIndex(name)
        }
        for (name, index) in Bookkeeping.removed(from: new.indexes).sorted(by: { $0.key < $1.key })
        where old.indexes[name] == nil {
            let collations = new.tableObjects[index.table]?.sql ?? ""
            let isComplete = hasAll(of: index.name, index.sql)
            if !isComplete || !hasCollations(of: index.name, collations) { continue }
            add(.createIndex, index.name, index.sql)
            try judgeUniqueness(of: index)
        }
    }

    /// Checks the rows of a table whose declaration changes.
    private func judge(
        of before: SchemaContent.Table,
        becoming table: SchemaContent.Table
    ) -> TableJudge {
        TableJudge(
            database: database,
            old: before,
            new: table,
            source: source,
            schemas: (old, new),
            drops: goal.drops
        )
    }

    /// Whether SQLite has the collations of a table's columns.
    private mutating func hasCollations(of index: String, _ table: String) -> Bool {
        let tokens = SQLTokens(table).tokens
        let terms = zip(tokens, tokens.dropFirst()).filter { $0.0.isWord("collate") }
        let named = terms.map { "x COLLATE " + $0.1.spelling }
        return named.allSatisfy { hasAll(of: index, $0) }
    }

    /// Looks for rows that a new unique index would refuse, in a table that isn't rebuilt.
    private mutating func judgeUniqueness(
        of index: SchemaContent.Object
    ) throws(StoreMigrationError) {
        guard !rebuilt.contains(index.table), let before = old.tables[index.table],
            let table = new.tables[index.table]
        else { return }
        var judge = judge(of: before, becoming: table)
        try judge.judgeUniqueKeys(into: &inference)
    }

    private mutating func compareViewsAndTriggers() throws(StoreMigrationError) {
        let (names, new) = (names, new)
        let kept = Bookkeeping.removed(from: old.views)
        for (name, view) in kept.sorted(by: { $0.key < $1.key })
        where !(new.views[name]?.isSame(as: view, knowing: names) ?? false) {
            // Its text has the new names and still differs.
            steps[.createView, default: []].insert(
                .init(.dropView, view.name, ["DROP VIEW \(view.name.quotedSQLName)"]),
                at: 0
            )
            old.forgetView(name)
        }
        for (name, view) in new.views.sorted(by: { $0.key < $1.key }) where old.views[name] == nil {
            add(.createView, view.name, view.sql)
        }
        for (name, trigger) in Bookkeeping.removed(from: old.triggers)
            .sorted(by: { $0.key < $1.key })
        where !rebuilt.contains(trigger.table)
            && !(new.triggers[name]?.isSame(as: trigger, knowing: names) ?? false)
        {
            steps[.createTrigger, default: []].append(
                .init(.dropTrigger, trigger.name, ["DROP TRIGGER \(trigger.name.quotedSQLName)"])
            )
            old.forgetTrigger(name)
        }
        for (name, trigger) in old.triggers where rebuilt.contains(trigger.table) {
            old.forgetTrigger(name)
        }
        for (name, trigger) in Bookkeeping.removed(from: new.triggers)
            .sorted(by: { $0.key < $1.key })
        where old.triggers[name] == nil {
            add(.createTrigger, trigger.name, trigger.sql)
        }
    }

    // MARK: Statistics

    /// Updates SQLite's statistics for new tables and indexes, if the store had statistics of them.
    private mutating func analyze() throws(StoreMigrationError) {
        let query = "SELECT 1 FROM main.sqlite_schema WHERE name = 'sqlite_stat1'"
        if try database.values(query).isEmpty { return }
        let counted = try database.values("SELECT DISTINCT tbl FROM main.sqlite_stat1")
            .compactMap { $0.text?.foldedSQLName }
        let changed = rebuilt.union(
            (steps[.createIndex] ?? []).compactMap { new.indexes[$0.object.foldedSQLName]?.table }
        )
        for table in changed.sorted() where counted.contains(source.table(table)) {
            guard let name = new.tables[table]?.name else { continue }
            add(.analyze, name, "ANALYZE \(name.quotedSQLName)")
        }
    }
}

/// A count of rows, in words.
struct Rows: CustomStringConvertible {
    let count: Int64
    var first: Int64?

    var description: String {
        (count == 1 ? "1 row" : "\(count) rows") + (first.map { " (first rowid \($0))" } ?? "")
    }
}

// MARK: - New names

/// The store's names of tables and columns, by the schema's names; all folded.
struct SourceNames: Sendable {
    fileprivate(set) var tables: [String: String] = [:]
    /// The columns, by the new name of the table and the new name of the column.
    fileprivate(set) var columns: [String: [String: String]] = [:]

    func table(_ name: String) -> String { tables[name] ?? name }

    func column(_ name: String, of table: String) -> String { columns[table]?[name] ?? name }
}

/// The renames that apply to a store.
private struct Renames {
    private(set) var statements: [SchemaInference.Step] = []
    private(set) var source = SourceNames()

    init(
        _ goal: SchemaGoal,
        from old: SchemaContent,
        to new: SchemaContent,
        _ inference: inout SchemaInference
    ) {
        let hints = goal.renames.map { ($0.key.foldedSQLName, $0.value) }.sorted { $0.0 < $1.0 }
        for (name, target) in hints where !name.contains(".") {
            let folded = target.foldedSQLName
            guard let table = old.tables[name], new.tables[folded] != nil,
                old.tables[folded] == nil || folded == name
            else {
                // A store of a later version already has the new name.
                if old.tables[folded] != nil, new.tables[folded] != nil, old.tables[name] == nil {
                    continue
                }
                inference.refuse(
                    .unknownName,
                    name,
                    "the store has no table '\(name)', or the schema no new table '\(target)'",
                    remedy: .correctRename(name, to: target)
                )
                continue
            }
            let statement =
                "ALTER TABLE \(table.name.quotedSQLName) RENAME TO \(target.quotedSQLName)"
            statements.append(.init(.renameTable, "\(table.name) to \(target)", [statement]))
            source.tables[folded] = name
        }
        for (name, target) in hints where name.contains(".") {
            add(name, target, old, new, &inference)
        }
    }

    private mutating func add(
        _ name: String,
        _ target: String,
        _ old: SchemaContent,
        _ new: SchemaContent,
        _ inference: inout SchemaInference
    ) {
        let parts = name.split(separator: ".", maxSplits: 1).map(String.init)
        let targets = target.split(separator: ".", maxSplits: 1).map(String.init)
        let remedy = Remedy.correctRename(name, to: target)
        guard parts.count == 2, targets.count == 2 else {
            let message = "'\(name)' and '\(target)' are not both of the form table.column"
            return inference.refuse(.unknownName, name, message, remedy: remedy)
        }
        // The author may use the old or the new name of the table.
        let stored = source.tables[parts[0]] ?? parts[0]
        let renamed = source.tables.first { $0.value == stored }?.key ?? stored
        let isOfTable = [stored, renamed].contains(targets[0].foldedSQLName)
        let column = targets[1].foldedSQLName
        guard isOfTable, let table = new.tables[renamed], let before = old.tables[stored],
            let oldColumn = before.column(parts[1]), let newColumn = table.column(column),
            before.column(column) == nil || column == parts[1]
        else {
            let isDone =
                old.tables[stored]?.column(column) != nil
                && old.tables[stored]?.column(parts[1]) == nil
                && new.tables[renamed]?.column(column) != nil
            let isOfMissing = old.tables[stored] == nil && new.tables[renamed] != nil
            if isDone || isOfMissing { return }
            let message =
                "the store has no column '\(name)', or the schema no new column '\(target)'"
            return inference.refuse(.unknownName, name, message, remedy: remedy)
        }
        let statement =
            "ALTER TABLE \(table.name.quotedSQLName) RENAME COLUMN "
            + "\(oldColumn.name.quotedSQLName) TO \(newColumn.name.quotedSQLName)"
        let object = "\(table.name).\(oldColumn.name) to \(newColumn.name)"
        statements.append(.init(.renameColumn, object, [statement]))
        source.columns[renamed, default: [:]][column] = parts[1]
    }
}

extension SchemaContent {
    /// An empty database with the same declarations, except virtual tables that only the app can
    /// make.
    fileprivate func clone(
        standIns: StoreSchema.StandIns
    ) throws(StoreMigrationError) -> (clone: SQLiteConnection, unmade: Objects) {
        let clone = try SQLiteConnection.openInMemory()
        var unmade: Objects = [:]
        try clone.execute(
            "PRAGMA user_version = \(userVersion); PRAGMA application_id = \(applicationID)"
        )
        for function in standIns.functions { try clone.addStandIn(forFunction: function) }
        try clone.addStandIns(forCollations: standIns.collations)
        for objects in [tableObjects, virtualTables, indexes, views, triggers] {
            for (name, object) in objects {
                do throws(StoreMigrationError) {
                    try clone.execute(object.sql)
                } catch  where error.isAboutMissingModule {
                    unmade[name] = object
                }
            }
        }
        for function in standIns.functions { try clone.removeStandIn(forFunction: function) }
        return (clone, unmade)
    }
}
