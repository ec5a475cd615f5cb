public import Foundation
internal import MigrationSystem

/// The schema that a version of an app gives its SQLite store, read from the SQL that makes a new one.
///
/// The SQL may hold `CREATE TABLE`, `INDEX`, `VIEW`, `TRIGGER` and `VIRTUAL TABLE`, `PRAGMA user_version`
/// and `PRAGMA application_id`, and nothing else.
///
/// ```swift
/// let schema = try StoreSchema("""
///     PRAGMA user_version = 4;
///     CREATE TABLE note (id INTEGER PRIMARY KEY, text TEXT NOT NULL DEFAULT '');
///     """)
/// let plan = StoreMigrationPlan(inferredFrom: schema)
/// ```
public struct StoreSchema: Sendable {
    /// The declarations in the SQL.
    let content: SchemaContent
    /// Virtual tables whose module or tokenizer only the app has, by their folded names.
    let unmade: Set<String>
    /// The functions and collations that only the app has, folded.
    let standIns: StandIns
    private let setsVersion: Bool
    private let setsApplicationID: Bool

    /// The functions and collations that SQLite here doesn't have.
    struct StandIns: Sendable {
        fileprivate(set) var functions: Set<String> = []
        fileprivate(set) var collations: Set<String> = []
    }

    /// The number that `PRAGMA user_version` sets; `nil` if the SQL doesn't.
    public var userVersion: Int64? { setsVersion ? content.userVersion : nil }

    /// The number that `PRAGMA application_id` sets; `nil` if the SQL doesn't.
    public var applicationID: Int64? { setsApplicationID ? content.applicationID : nil }

    /// Reads a schema from a file of SQL.
    ///
    /// - Parameter url: The path of the file, at most 16 MiB.
    /// - Throws: ``StoreMigrationError`` with `invalidSchema` if the SQL does more than declare a
    ///   schema or SQLite refuses it; `missing` or `failed` if the file can't be read.
    public init(contentsOf url: URL) throws {
        let path = BytePath(of: url)
        let bytes: [UInt8]?
        do {
            bytes = try FileDescriptor.openFollowingLinks(path, .reading).readAll(limit: 16 << 20)
        } catch {
            throw StoreMigrationError(error, message: "can't read the schema", at: path)
        }
        guard let text = bytes.flatMap({ String(validating: $0, as: UTF8.self) }) else {
            let message = "the schema is not text in UTF-8, or larger than 16 MiB"
            throw StoreMigrationError(.invalidSchema, message, at: url.path)
        }
        try self.init(text, at: url.path)
    }

    /// Reads a schema from SQL.
    ///
    /// - Parameter sql: The statements.
    /// - Throws: ``StoreMigrationError`` with `invalidSchema`.
    public init(_ sql: String) throws {
        try self.init(sql, at: "schema")
    }

    private init(_ sql: String, at path: String) throws {
        var reader = try SchemaReader(path: path)
        try reader.read(sql)
        (unmade, standIns) = (Set(reader.unmade.keys), reader.standIns)
        (setsVersion, setsApplicationID) = (reader.setsVersion, reader.setsApplicationID)
        content = try SchemaContent(of: reader.database, adding: reader.unmade)
    }
}

/// Reads the SQL of a schema into a database in memory.
private struct SchemaReader {
    let path: String
    let database: SQLiteConnection
    var unmade: SchemaContent.Objects = [:]
    var standIns = StoreSchema.StandIns()
    var setsVersion = false
    var setsApplicationID = false

    init(path: String) throws(StoreMigrationError) {
        self.path = path
        database = try .openInMemory()
    }

    mutating func read(_ sql: String) throws {
        guard !sql.utf8.contains(0) else {
            throw StoreMigrationError(.invalidSchema, "there is a zero byte in the SQL", at: path)
        }
        let text = SQLTokens(sql)
        let known = try Set(
            database.values("SELECT name FROM pragma_collation_list")
                .compactMap { $0.text?.foldedSQLName }
        )
        let named = zip(text.tokens, text.tokens.dropFirst()).compactMap { word, name in
            word.isWord("collate") ? name.name : nil
        }
        standIns.collations = Set(named.map(\.foldedSQLName)).subtracting(known)
        try database.addStandIns(forCollations: standIns.collations)
        for statement in text.statements {
            guard let first = statement.first else { continue }
            if let refusal = refusal(of: statement) {
                let message = "line \(first.line): \(refusal)"
                throw StoreMigrationError(.invalidSchema, message, at: path)
            }
            try run(text.text(of: statement), statement)
        }
    }

    /// Why a statement doesn't belong in a schema, according to its first words.
    private mutating func refusal(of statement: ArraySlice<SQLToken>) -> String? {
        var words = statement.firstWords(4)
        switch words.first {
        case "PRAGMA": return refusal(ofPragma: Array(statement.dropFirst()))
        case "CREATE": words.removeFirst()
        default:
            let name = words.first ?? statement.first?.spelling ?? ""
            return "\(name) is not part of a schema"
        }
        if words.first == "TEMP" || words.first == "TEMPORARY" {
            return "CREATE \(words[0]) makes nothing in the store"
        }
        if words.first == "UNIQUE" { words.removeFirst() }
        guard ["TABLE", "INDEX", "VIEW", "TRIGGER", "VIRTUAL"].contains(words.first) else {
            return "CREATE \(words.first ?? "") is not part of a schema"
        }
        let open = statement.firstIndex { $0.isSymbol("(") } ?? statement.endIndex
        let isQuery = words.first == "TABLE" && statement[..<open].contains { $0.isWord("as") }
        return isQuery ? "CREATE TABLE ... AS SELECT has no declaration of its own" : nil
    }

    private mutating func refusal(ofPragma rest: [SQLToken]) -> String? {
        let isQualified = rest.count > 2 && rest[1].isSymbol(".")
        let name = (isQualified ? rest[2] : rest.first)?.name.foldedSQLName ?? ""
        switch name {
        case "user_version": setsVersion = true
        case "application_id": setsApplicationID = true
        default: return "PRAGMA \(name) is not part of a schema"
        }
        return nil
    }

    private mutating func run(_ sql: String, _ statement: ArraySlice<SQLToken>) throws {
        let isOfModule = statement.firstWords(2) == ["CREATE", "VIRTUAL"]
        while true {
            do {
                try database.transaction {
                    let guardian = StatementGuard(ofDeclarationByModule: isOfModule)
                    try database.execute(sql, by: guardian)
                }
                return
            } catch let error as StoreMigrationError {
                if let name = error.missingFunction, standIns.functions.insert(name).inserted {
                    try database.addStandIn(forFunction: name)
                } else if isOfModule, error.isAboutMissingModule {
                    remember(sql, statement)
                    return
                } else {
                    let line = statement.first?.line ?? 1
                    let message = "line \(line): \(error.message)"
                    throw StoreMigrationError(.invalidSchema, message, at: path)
                }
            }
        }
    }

    /// Keeps a virtual table in the form that the store would have.
    private mutating func remember(_ sql: String, _ statement: ArraySlice<SQLToken>) {
        guard let using = statement.firstIndex(where: { $0.isWord("using") }) else { return }
        let name = statement[using - 1].name
        let text = SQLTokens(sql)
        let offset = using - statement.startIndex
        let sql =
            "CREATE VIRTUAL TABLE \(name.quotedSQLName) " + text.text(of: text.tokens[offset...])
        unmade[name.foldedSQLName] = SchemaContent.Object(name: name, table: name, sql: sql)
    }
}

extension StoreMigrationError {
    /// The function that SQLite doesn't have, folded.
    fileprivate var missingFunction: String? {
        message.firstMatch(of: /no such function: (.+)$/).map { String($0.1).foldedSQLName }
    }

    /// Whether a virtual table needs something that only the app has.
    var isAboutMissingModule: Bool {
        ["no such module: ", "no such tokenizer: ", "unknown tokenizer: "]
            .contains(where: message.contains)
    }
}
