/// A `CREATE TABLE` statement as SQLite keeps it, divided into its parts.
struct TableDefinition: Sendable {
    /// A column as it is written.
    struct Column: Sendable {
        let name: String
        /// The rest of the declaration, after the name.
        let tokens: ArraySlice<SQLToken>
        /// The whole declaration.
        let text: String
    }

    let columns: [Column]
    /// The constraints after the columns.
    let constraints: ArraySlice<SQLToken>
    /// The text after the parentheses.
    let options: ArraySlice<SQLToken>
    private let body: ArraySlice<SQLToken>

    /// Divides a statement; `nil` if it isn't of this form.
    init?(_ sql: String) {
        let text = SQLTokens(sql)
        let tokens = text.tokens[...]
        guard let open = tokens.firstIndex(where: { $0.isSymbol("(") }), open >= 3 else {
            return nil
        }
        let end = tokens.end(ofGroupAt: open)
        body = tokens[(open + 1)..<max(open + 1, end - 1)]
        options = tokens[end...]
        var columns: [Column] = []
        var rest = body[body.endIndex...]
        for part in body.listed {
            guard let first = part.first else { continue }
            if ["constraint", "primary", "unique", "check", "foreign"].contains(where: first.isWord)
            {
                rest = body[part.startIndex...]
                break
            }
            let column = Column(
                name: first.name,
                tokens: part.dropFirst(),
                text: text.text(of: part)
            )
            columns.append(column)
        }
        self.columns = columns
        constraints = rest
    }

    /// The expressions of the CHECK constraints, of columns and of the table.
    func checks(knowing names: Set<String>) -> Set<[String]> {
        var checks: Set<[String]> = []
        for index in body.indices.dropLast() where body[index].isWord("check") {
            guard body[index + 1].isSymbol("(") else { continue }
            checks.insert(body[index..<body.end(ofGroupAt: index + 1)].keys(knowing: names))
        }
        return checks
    }

    /// Whether an expression names the table itself.
    func namesItself(_ table: String) -> Bool {
        body.indices.dropLast().contains { index in
            body[index].name.foldedSQLName == table.foldedSQLName && body[index + 1].isSymbol(".")
        }
    }

    /// Whether the two are the same, regardless of spelling.
    func isSame(as other: TableDefinition, knowing names: Set<String>) -> Bool {
        columns.count == other.columns.count
            && zip(columns, other.columns).allSatisfy { $0.isSame(as: $1, knowing: names) }
            && constraints.keys(knowing: names) == other.constraints.keys(knowing: names)
            && options.keys(knowing: names) == other.options.keys(knowing: names)
    }

    /// The columns that this table has after those of `old`, if nothing else differs and SQLite can
    /// add them in place; otherwise `nil`.
    func additions(to old: TableDefinition, knowing names: Set<String>) -> [Column]? {
        // SQLite writes a new column after the constraints.
        guard old.constraints.isEmpty, constraints.isEmpty, columns.count > old.columns.count,
            zip(columns, old.columns).allSatisfy({ $0.isSame(as: $1, knowing: names) }),
            options.keys(knowing: names) == old.options.keys(knowing: names),
            case let added = columns[old.columns.count...], added.allSatisfy(\.canBeAdded)
        else { return nil }
        return Array(added)
    }
}

extension TableDefinition.Column {
    fileprivate func isSame(as other: Self, knowing names: Set<String>) -> Bool {
        name.foldedSQLName == other.name.foldedSQLName
            && tokens.keys(knowing: names) == other.tokens.keys(knowing: names)
    }

    /// The words outside parentheses.
    private var words: Set<String> {
        var depth = 0
        return Set(
            tokens.compactMap { token -> String? in
                if token.isSymbol("(") { depth += 1 }
                if token.isSymbol(")") { depth -= 1 }
                return depth == 0 && token.kind == .word ? token.spelling.foldedSQLName : nil
            }
        )
    }

    /// Whether `ALTER TABLE … ADD COLUMN` accepts it whatever rows there are
    /// (sqlite.org/lang_altertable.html, 4).
    fileprivate var canBeAdded: Bool {
        let words = words
        if !words.isDisjoint(with: ["primary", "unique", "check", "stored"]) { return false }
        if words.contains("as") { return !words.contains("not") }
        let isLiteral = defaultTokens.first.map {
            $0.isSymbol("(") || $0.spelling.foldedSQLName.hasPrefix("current_")
        }
        if isLiteral == true || isLiteral != nil && words.contains("references") { return false }
        return !words.contains("not") || defaultTokens.first.map { !$0.isWord("null") } ?? false
    }

    /// The tokens of the default; empty if there is none.
    var defaultTokens: ArraySlice<SQLToken> {
        guard let index = tokens.firstIndex(where: { $0.isWord("default") }),
            index + 1 < tokens.endIndex
        else { return [] }
        let start = index + 1
        if tokens[start].isSymbol("(") { return tokens[start..<tokens.end(ofGroupAt: start)] }
        let isSigned = tokens[start].isSymbol("-") || tokens[start].isSymbol("+")
        return tokens[start..<min(start + (isSigned ? 2 : 1), tokens.endIndex)]
    }
}
