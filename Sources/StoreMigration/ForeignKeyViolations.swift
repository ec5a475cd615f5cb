/// The rows of a database whose foreign keys refer to a missing row.
final class ForeignKeyViolations {
    /// A table with a foreign key, and the table that it refers to.
    private struct Reference: Hashable {
        let child: String
        let parent: String
    }

    private struct Rows {
        var count = 0
        /// The rows by their numbers; `nil` if a step may change these, or there are too many.
        var numbers: Set<Int64>?
    }

    /// The maximum number of row numbers kept for a reference.
    private static let limit = 100_000

    private let isPartial: Bool
    /// The first page of each table, which stays the same if the table is renamed.
    private var roots: [String: Int64] = [:]
    private var parents: [String: Set<String>] = [:]
    private var counted: Set<String> = []
    private var rows: [Reference: Rows] = [:]

    /// The tables that couldn't be checked, and why.
    private(set) var notChecked: [String] = []

    /// Checks every foreign key.
    init(in database: SQLiteConnection) throws(StoreMigrationError) {
        isPartial = false
        do throws(StoreMigrationError) {
            try readTables(of: database)
        } catch  where error.mayBeLeftUnchecked {
            notChecked = ["the foreign keys: \(error.message)"]
            return
        }
        for table in parents.keys.sorted() { try count(table, in: database) }
    }

    /// Checks no foreign key yet: ``add(_:in:)`` does, before the rows of a table change.
    init(beforeChangesOf database: SQLiteConnection) throws(StoreMigrationError) {
        isPartial = true
        try readTables(of: database)
    }

    /// The violations of each reference, in words.
    var descriptions: [String] { Self.descriptions(of: rows) }

    private static func descriptions(of rows: [Reference: Rows]) -> [String] {
        rows.sorted { ($0.key.child, $0.key.parent) < ($1.key.child, $1.key.parent) }.map {
            "\($0.value.count) \($0.value.count == 1 ? "row" : "rows") of '\($0.key.child)' "
                + "without a row of '\($0.key.parent)'"
        }
    }
}

// MARK: - Counting

extension ForeignKeyViolations {
    private static func folded(_ name: SQLiteValue) -> String { (name.text ?? "").foldedSQLName }

    private func readTables(of database: SQLiteConnection) throws(StoreMigrationError) {
        let query = "SELECT name, rootpage FROM sqlite_schema WHERE type = 'table'"
        try database.forEachRow(of: query) { row in
            roots[Self.folded(row[0])] = row[1].integer
            return true
        }
        for table in roots.keys {
            let query = "SELECT DISTINCT \"table\" FROM pragma_foreign_key_list(?1)"
            do throws(StoreMigrationError) {
                let list = try database.values(query, .text(table))
                if !list.isEmpty { parents[table] = Set(list.map { Self.folded($0) }) }
            } catch  where error.mayBeLeftUnchecked {
                // A virtual table has no foreign keys, even if its module is missing here.
            }
        }
    }

    private func count(
        _ table: String,
        in database: SQLiteConnection
    ) throws(StoreMigrationError) {
        guard counted.insert(table).inserted else { return }
        let keys = "SELECT type FROM pragma_table_info(?1) WHERE pk > 0"
        let types = try database.values(keys, .text(table)).map { $0.text?.uppercased() }
        var found: [Reference: Rows] = [:]
        do throws(StoreMigrationError) {
            let query = "SELECT parent, rowid FROM pragma_foreign_key_check(?1)"
            try database.forEachRow(of: query, [.text(table)]) { row in
                let reference = Reference(child: table, parent: Self.folded(row[0]))
                var rows = found[reference] ?? Rows(numbers: types == ["INTEGER"] ? [] : nil)
                rows.count += 1
                if let number = row[1].integer, rows.count <= Self.limit {
                    rows.numbers?.insert(number)
                } else {
                    rows.numbers = nil
                }
                found[reference] = rows
                return true
            }
        } catch  where error.mayBeLeftUnchecked {
            notChecked.append("the foreign keys of '\(table)': \(error.message)")
            return
        }
        rows.merge(found) { $1 }
    }

    /// Checks the foreign keys that concern tables whose rows are about to be changed.
    func add(
        _ tables: Set<String>,
        in database: SQLiteConnection
    ) throws(StoreMigrationError) {
        let changed = Set(tables.map(\.foldedSQLName))
        for (child, parents) in parents
        where changed.contains(child) || !changed.isDisjoint(with: parents) {
            try count(child, in: database)
        }
    }
}

// MARK: - Comparing

extension ForeignKeyViolations {
    /// The violations that the database has now and did not have before, in words.
    func news(in database: SQLiteConnection) throws(StoreMigrationError) -> [String] {
        guard isPartial else {
            return try ForeignKeyViolations(in: database).news(since: self)
        }
        let now = try ForeignKeyViolations(beforeChangesOf: database)
        // A renamed table still has its old rows.
        let vanished = roots.filter { now.roots[$0.key] == nil }
        let oldNames = now.roots.filter { roots[$0.key] == nil }.compactMapValues { root in
            vanished.first { $0.value == root }?.key
        }
        for (child, parents) in now.parents {
            let old = oldNames[child] ?? child
            let oldParents = Set(parents.map { oldNames[$0] ?? $0 })
            if counted.contains(old) || self.parents[old] != oldParents {
                try now.count(child, in: database)
            }
        }
        return now.news(since: self)
    }

    private func news(since before: ForeignKeyViolations) -> [String] {
        var (grown, moved): ([Reference], [Reference]) = ([], [])
        for (reference, rows) in rows {
            let (child, parent) = (reference.child, reference.parent)
            let old = before.rows[reference]
            guard before.roots[child] != nil, before.roots[parent] != nil || old != nil else {
                moved.append(reference)
                continue
            }
            let wasThere = before.parents[child]?.contains(parent) ?? false
            // Tables that weren't counted haven't been changed.
            if before.isPartial, wasThere, !before.counted.contains(child) { continue }
            let isPartOfOld = (old?.numbers).flatMap { old in
                rows.numbers.map { $0.isSubset(of: old) }
            }
            if rows.count > old?.count ?? 0 || isPartOfOld == false { grown.append(reference) }
        }
        // A renamed table keeps its old violations.
        let gone = before.rows.reduce(0) { sum, old in
            let isGone = roots[old.key.child] == nil || roots[old.key.parent] == nil
            return isGone && rows[old.key] == nil ? sum + old.value.count : sum
        }
        if moved.reduce(0, { $0 + (rows[$1]?.count ?? 0) }) > gone { grown += moved }
        return Self.descriptions(of: rows.filter { grown.contains($0.key) })
    }
}
