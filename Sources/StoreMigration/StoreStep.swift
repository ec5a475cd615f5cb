public import Foundation
internal import MigrationSystem

/// A step that changes a store from one version to another.
///
/// A step made with ``init(from:to:_:)`` works on a copy of the store. A light one for a SQLite
/// file, such as a new column or index, is made with ``inPlace(from:to:_:verify:)`` and needs no
/// copy.
public struct StoreStep: Sendable {
    /// The work of a step, and what it works on.
    enum Change: Sendable {
        case copy(@Sendable (StoreCopy) throws -> Void)
        case inPlace(
            @Sendable (StoreStatements) throws -> Void,
            verify: @Sendable (StoreQueries) throws -> Void
        )
        /// Brings the store to a schema; inferred once the steps before have run.
        case inferred(SchemaGoal)
        /// Rebuilds tables as inferred.
        case rebuild(SchemaInference)
    }

    /// The version that the step begins at.
    public let source: StoreVersion

    /// The version that the step leads to.
    public let target: StoreVersion

    let change: Change

    /// Describes a step that works on a copy of the store.
    ///
    /// - Parameters:
    ///   - source: The version that the step begins at.
    ///   - target: The version that the step leads to.
    ///   - change: Changes a copy of the store and closes it. It need not change the version: the
    ///     migrator writes it after the step.
    public init(
        from source: StoreVersion,
        to target: StoreVersion,
        _ change: @escaping @Sendable (StoreCopy) throws -> Void
    ) {
        self.init(source, target, .copy(change))
    }

    init(_ source: StoreVersion, _ target: StoreVersion, _ change: Change) {
        (self.source, self.target, self.change) = (source, target, change)
    }

    /// Describes a step that can work in a SQLite file itself.
    ///
    /// If all steps that a store needs are made this way and there is no hook, they and the version are
    /// one transaction in the store, and no copy is made. Otherwise they work on the copy.
    ///
    /// - Parameters:
    ///   - source: The version that the step begins at.
    ///   - target: The version that the step leads to.
    ///   - change: Runs statements. It need not change the version.
    ///   - verify: Checks the result of the statements; an error undoes the migration.
    /// - Returns: The step.
    public static func inPlace(
        from source: StoreVersion,
        to target: StoreVersion,
        _ change: @escaping @Sendable (StoreStatements) throws -> Void,
        verify: @escaping @Sendable (StoreQueries) throws -> Void = { _ in }
    ) -> StoreStep {
        StoreStep(source, target, .inPlace(change, verify: verify))
    }

    /// Describes the last step of a plan for a SQLite file, which is found by comparing the store with a
    /// schema.
    ///
    /// If it is the only step that a store needs and no table must be rebuilt, it works in place.
    ///
    /// - Parameters:
    ///   - source: The version that the step begins at.
    ///   - target: The version that the step leads to, which the schema's SQL may set too.
    ///   - schema: The schema that the store should have.
    ///   - renames: New names of tables (`"note": "memo"`) and columns (`"note.body": "note.text"`).
    ///   - drops: Tables and columns that may be removed with their data.
    /// - Returns: The step, which fails with `notInferable` if ``SchemaInference`` finds reasons.
    public static func inferred(
        from source: StoreVersion,
        to target: StoreVersion,
        _ schema: StoreSchema,
        renames: [String: String] = [:],
        drops: Set<String> = []
    ) -> StoreStep {
        let goal = SchemaGoal(schema: schema, renames: renames, drops: drops)
        return StoreStep(source, target, .inferred(goal))
    }

    var isInPlace: Bool {
        if case .inPlace = change { true } else { false }
    }

    /// The bytes that it is known to add to the store.
    var growth: Int64 {
        if case .rebuild(let inference) = change { inference.growth } else { 0 }
    }
}

extension StoreStep: CustomStringConvertible {
    /// The two versions, such as `2 to 3`.
    public var description: String { "\(source) to \(target)" }
}

// MARK: - The arguments of steps

/// The copy of a store that a step works on.
///
/// No other process uses the copy, and it is discarded if the step fails or is interrupted.
public struct StoreCopy: Sendable {
    /// The path of the copy, whose name is that of the store.
    public let url: URL

    /// The progress of the step, for it to update; it counts as one unit unless the step sets another
    /// total.
    public let progress: Progress

    let isCancelled: @Sendable () -> Bool
    let isNew: Bool

    /// Runs SQL statements on a copy of a SQLite file.
    ///
    /// A step that needs more than SQL opens ``url`` with any library.
    ///
    /// - Parameter statements: SQL statements, separated by semicolons, whose rows are dropped. They are
    ///   one transaction, which they can't end. Foreign keys aren't enforced meanwhile, but checked
    ///   after the steps.
    /// - Throws: ``StoreMigrationError`` with SQLite's message.
    public func execute(_ statements: String) throws {
        let database = try SQLiteConnection.open(
            at: BytePath(of: url),
            isCancelled: isCancelled,
            creating: isNew
        )
        try database.transaction {
            try database.execute(statements, by: StatementGuard(isInPlace: false))
        }
    }
}

/// The transaction for the statements of a step that works in place.
public struct StoreStatements {
    let database: SQLiteConnection
    let guardian: StatementGuard

    /// Runs SQL statements in the step's transaction.
    ///
    /// - Parameter statements: SQL statements, separated by semicolons, whose rows are dropped. They can't
    ///   end the transaction, attach databases or change the journal mode.
    /// - Throws: ``StoreMigrationError`` with SQLite's message.
    public func execute(_ statements: String) throws {
        try database.execute(statements, by: guardian)
    }
}

@available(*, unavailable)
extension StoreStatements: Sendable {}

/// The queries that a step that works in place can make before its transaction is committed.
public struct StoreQueries {
    let database: SQLiteConnection

    /// The first column of the first row of a query as a text; `nil` for NULL, or if there is no
    /// row.
    ///
    /// - Throws: ``StoreMigrationError`` with SQLite's message.
    public func text(_ query: String) throws -> String? {
        try database.values(query, limit: 1).first?.text
    }
}

@available(*, unavailable)
extension StoreQueries: Sendable {}
