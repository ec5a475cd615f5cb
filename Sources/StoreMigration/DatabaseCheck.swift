/// The problems that SQLite finds in a database, sorted by what they mean for the store.
struct DatabaseCheck {
    /// The maximum number of listed findings.
    private static let limit = 100

    /// Problems with the structure of the pages.
    private(set) var damage: [String] = []

    /// Rows that break a constraint.
    ///
    /// The store is still usable, because the constraint was added later.
    private(set) var rows: [String] = []

    /// The parts that couldn't be checked, and why.
    private(set) var notChecked: [String] = []

    /// Checks everything that can be checked with this SQLite.
    ///
    /// - Throws: ``StoreMigrationError`` with `cancelled`, `storeBusy` or `outOfSpace`.
    init(of database: SQLiteConnection) throws(StoreMigrationError) {
        let query = "PRAGMA quick_check(\(Self.limit))"
        guard let reason = try add(findingsOf: query, in: database) else { return }
        // One table that needs something that only the app has prevents checks of the others.
        var names: [SQLiteValue] = []
        do throws(StoreMigrationError) {
            names = try database.values("SELECT name FROM sqlite_schema WHERE type = 'table'")
        } catch {
            notChecked = ["the pages: \(reason)"]
            return
        }
        for case .text(let name) in names {
            let table = try add(
                findingsOf: "SELECT * FROM pragma_quick_check(?1)",
                in: database,
                .text(name)
            )
            if let table { notChecked.append("table '\(name)': \(table)") }
        }
        if notChecked.isEmpty { notChecked = ["the pages: \(reason)"] }
    }

    /// Adds the findings of a query; returns the reason if it can't be run.
    private mutating func add(
        findingsOf query: String,
        in database: SQLiteConnection,
        _ parameters: SQLiteValue...
    ) throws(StoreMigrationError) -> String? {
        do throws(StoreMigrationError) {
            try database.forEachRow(of: query, parameters) { row in
                if let finding = row[0].text, finding != "ok" { add(finding) }
                return true
            }
            return nil
        } catch {
            switch error.code {
            case .cancelled, .storeBusy, .outOfSpace: throw error
            case .damaged where !error.isAboutUnknownSchema:
                damage.append(error.message)
                return nil
            default: return error.message
            }
        }
    }

    private mutating func add(_ finding: String) {
        let isOfRow =
            finding.hasPrefix("NULL value in ") || finding.hasPrefix("CHECK constraint failed in ")
            || finding.hasPrefix("TEXT value in ") || finding.hasPrefix("NUMERIC value in ")
            || finding.hasPrefix("non-unique entry in index ")
            || (finding.hasPrefix("non-") && finding.contains(" value in "))
        if isOfRow { rows.append(finding) } else { damage.append(finding) }
    }
}

extension StoreMigrationError {
    /// Whether the reason is in the schema, so that the check can be skipped.
    var mayBeLeftUnchecked: Bool { code == .failed || isAboutUnknownSchema }

    /// Whether this SQLite can't read the schema, although it isn't broken.
    var isAboutUnknownSchema: Bool {
        guard message.contains("malformed database schema") else { return false }
        return message.contains(") - ") && !message.contains(" - invalid rootpage")
            && !message.contains(" - orphan index")
    }
}
