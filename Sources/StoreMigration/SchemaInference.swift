package import MigrationSystem

/// Whether a SQLite store can be brought to a schema without loss, and by which steps.
///
/// Nothing is guessed: tables and columns with data are removed only if `drops` names them, and are
/// renamed only by `renames`.
///
/// ```swift
/// let inference = try SchemaInference(of: store, to: schema, renames: ["note.body": "note.text"])
/// if inference.verdict == .impossible { inference.reasons.forEach { print($0.message) } }
/// ```
public struct SchemaInference: Sendable {
    /// How a schema relates to a store.
    public enum Verdict: String, Codable, Sendable {
        /// The store has the schema, regardless of spelling.
        case current
        /// The steps bring the store to the schema without loss.
        case inferred
        /// Something would be lost, or can't be determined.
        case impossible
        /// A newer program made the store: its `user_version` is above the schema's.
        case newer
    }

    /// A step in SQL.
    public struct Step: Hashable, Sendable {
        /// The kinds of steps.
        public enum Kind: String, Codable, Sendable {
            case addColumn, analyze, createIndex, createTable, createTrigger, createView
            case createVirtualTable, dropIndex, dropTable, dropTrigger, dropView, dropVirtualTable
            case rebuildTable, renameColumn, renameTable, setApplicationID, setVersion
        }

        /// The kind of the step.
        public let kind: Kind
        /// The table or column that it changes, such as `note` or `note.tags`.
        public let object: String
        /// Its statements, separated by semicolons.
        public var sql: String { statements.joined(separator: ";\n") }

        let statements: [String]
        /// Two queries, run before the last statements, whose results must be equal.
        let proof: TableRebuild.Proof?

        init(
            _ kind: Kind,
            _ object: String,
            _ statements: [String],
            _ proof: TableRebuild.Proof? = nil
        ) {
            (self.kind, self.object, self.statements, self.proof) = (
                kind, object, statements, proof
            )
        }
    }

    /// A reason why the store can't be brought to the schema.
    public struct Reason: Hashable, Sendable {
        /// The kinds of reasons.
        public enum Code: String, Codable, Sendable {
            case breaksConstraint, breaksForeignKey, breaksUnique, columnHoldsData, coreData
            case differentApplication, needsApp, noValue, notNull, plainBecomesGenerated,
                renameFails
            case rowidsInUse, stillDeclared, tableHoldsData, unknownName, unreadable, valueChanges
            case virtualTableChanges
        }

        /// The kind of reason.
        public let code: Code
        /// The table or column that it concerns, such as `note` or `note.tags`.
        public let object: String
        /// The reason in words.
        public let message: String
        /// The remedy, if one is known.
        package let remedy: Remedy?
    }

    /// How the schema relates to the store.
    public internal(set) var verdict = Verdict.current
    /// The steps, in their order; none unless they can be inferred.
    public internal(set) var steps: [Step] = []
    /// Every reason why no steps can be inferred.
    public internal(set) var reasons: [Reason] = []
    /// Notes on side effects of the steps.
    public internal(set) var notes: [String] = []
    /// How many bytes must be free beside the store.
    public internal(set) var bytesNeeded: Int64 = 0
    /// How many bytes the steps add to the store.
    var growth: Int64 = 0

    /// Whether the steps run in the store itself, if there is no hook; others work on a copy.
    public var isInPlace: Bool { steps.allSatisfy { $0.proof == nil } }

    init() {}

    /// Compares a store with a schema; the store isn't changed.
    ///
    /// Only the rows that the verdict needs are read. Cancelling the current task stops it.
    ///
    /// - Parameters:
    ///   - store: A SQLite file.
    ///   - schema: The schema that the store should have.
    ///   - renames: New names of tables (`"note": "memo"`) and columns (`"note.body": "note.text"`).
    ///   - drops: Tables and columns that may be removed with their data.
    /// - Throws: ``StoreMigrationError`` with `missing`, `damaged`, `storeBusy` or `failed`;
    ///   `CancellationError`.
    public init(
        of store: VersionedStore,
        to schema: StoreSchema,
        renames: [String: String] = [:],
        drops: Set<String> = []
    ) throws {
        let goal = SchemaGoal(schema: schema, renames: renames, drops: drops)
        self = try goal.inference(of: store)
    }

    mutating func refuse(
        _ code: Reason.Code,
        _ object: String,
        _ message: String,
        remedy: Remedy? = nil
    ) {
        let reason = Reason(code: code, object: object, message: message, remedy: remedy)
        if !reasons.contains(reason) { reasons.append(reason) }
    }
}

extension SchemaInference.Step: CustomStringConvertible {
    /// The step in words, such as `add column note.tags`.
    public var description: String {
        let words = kind.rawValue.reduce(into: "") { words, letter in
            words += letter.isUppercase ? " " + letter.lowercased() : String(letter)
        }
        return (kind == .setApplicationID ? "set application_id" : words) + " " + object
    }
}

extension SchemaInference {
    fileprivate var change: StoreStep.Change {
        guard isInPlace else { return .rebuild(self) }
        let statements = steps.flatMap(\.statements)
        return .inPlace(
            { for statement in statements { try $0.execute(statement) } },
            verify: { _ in }
        )
    }
}

/// A schema, with its author's instructions on how to reach it.
package struct SchemaGoal: Sendable {
    let schema: StoreSchema
    let renames: [String: String]
    let drops: Set<String>

    package init(schema: StoreSchema, renames: [String: String], drops: Set<String>) {
        (self.schema, self.renames, self.drops) = (schema, renames, drops)
    }

    /// Whether the database has the schema and its numbers.
    func isReached(in database: SQLiteConnection) throws(StoreMigrationError) -> Bool {
        let content = try SchemaContent(of: database)
        return content.isSame(as: schema.content)
            && content.userVersion == schema.userVersion ?? content.userVersion
            && content.applicationID == schema.applicationID ?? content.applicationID
    }

    /// The inference for a store, which isn't changed.
    package func inference(of store: VersionedStore) throws -> SchemaInference {
        do throws(StoreMigrationError) {
            return try inference(for: .openForReading(at: store.location()))
        } catch {
            throw error.code == .cancelled ? CancellationError() as any Error : error
        }
    }

    /// The inference for an open database.
    func inference(
        for database: SQLiteConnection
    ) throws(StoreMigrationError) -> SchemaInference {
        do throws(StoreMigrationError) {
            let content = try SchemaContent(of: database)
            var planner = SchemaPlanner(goal: self, database: database, content: content)
            return try planner.infer()
        } catch {
            guard error.isAboutUnknownSchema else { throw error }
            var inference = SchemaInference()
            inference.refuse(.unreadable, "schema", error.message)
            inference.verdict = .impossible
            return inference
        }
    }

    /// The step to the schema, which is inferred later.
    func step(from version: StoreVersion?) -> StoreStep {
        let version = version ?? "0"
        let target = schema.userVersion.map { StoreVersion("\($0)") } ?? version
        return StoreStep(version, target, .inferred(self))
    }

    /// The inferred content of `step`; `nil` if the database already has the schema.
    ///
    /// - Throws: ``StoreMigrationError`` with `notInferable` or `newer`.
    func resolve(
        _ step: StoreStep,
        by inference: SchemaInference,
        at path: String
    ) throws(StoreMigrationError) -> StoreStep? {
        switch inference.verdict {
        case .current: return nil
        case .inferred: return StoreStep(step.source, step.target, inference.change)
        case .newer:
            let message = "the store was made by a newer program than the one of the schema"
            throw StoreMigrationError(.newer, message, at: path)
        case .impossible:
            throw StoreMigrationError(inference.reasons, at: path)
        }
    }
}
