public import Foundation
internal import MigrationSystem

/// The current version of a store's format, and the steps that lead to it.
///
/// ```swift
/// let plan = StoreMigrationPlan(current: 3, steps: [
///     StoreStep(from: 1, to: 2) { try $0.execute("ALTER TABLE note ADD COLUMN tags TEXT") },
///     StoreStep(from: 2, to: 3) { try $0.execute("CREATE INDEX byTag ON note(tags)") },
/// ])
/// ```
public struct StoreMigrationPlan: Sendable {
    /// What a plan can do for a store.
    public enum Assessment: Sendable {
        /// The store has the current version.
        case current
        /// The steps that the store needs, in their order.
        case steps([StoreStep])
        /// The plan knows the store's version, but no step begins at the version `missing`.
        case impossible(missing: StoreVersion)
        /// The store has no version, or one that the plan doesn't know.
        case unknownVersion
        /// The store was made by a newer program.
        case newer
        /// No steps to the schema can be inferred; all reasons are given.
        case notInferable([SchemaInference.Reason])
    }

    /// The version that the program reads and writes.
    public let current: StoreVersion

    /// Makes a store that is missing; `nil` if a missing store is an error.
    let create: (@Sendable (StoreCopy) throws -> Void)?

    /// The schema that all stores are brought to; `nil` if the steps are written.
    let goal: SchemaGoal?

    private let stepsBySource: [StoreVersion: StoreStep]
    private let knownVersions: Set<StoreVersion>

    /// Makes a plan.
    ///
    /// - Parameters:
    ///   - current: The version that the program reads and writes.
    ///   - steps: The steps, in any order, each from another version.
    ///   - released: Versions that stores may have, but at which no step begins; a store of such a
    ///     version is ``Assessment/impossible(missing:)`` to migrate rather than unknown.
    ///   - create: Makes a store of the current version at the given path, and closes it; without
    ///     it a missing store is an error. It need not write the version.
    /// - Precondition: No two steps begin at the same version, and none at the current one.
    public init(
        current: StoreVersion,
        steps: [StoreStep],
        released: Set<StoreVersion> = [],
        create: (@Sendable (StoreCopy) throws -> Void)? = nil
    ) {
        var stepsBySource: [StoreVersion: StoreStep] = [:]
        for step in steps {
            precondition(step.source != current, "a step begins at the current version")
            precondition(stepsBySource[step.source] == nil, "two steps begin at \(step.source)")
            stepsBySource[step.source] = step
        }
        (self.current, self.create) = (current, create)
        goal = nil
        self.stepsBySource = stepsBySource
        knownVersions = released.union(steps.flatMap { [$0.source, $0.target] }).union([current])
    }

    /// Makes a plan whose steps are inferred: each store is compared with a schema.
    ///
    /// The version of a store is its `user_version`. If the schema doesn't set one, the store's
    /// number stays.
    ///
    /// - Parameters:
    ///   - schema: The schema that stores should have.
    ///   - renames: New names of tables (`"note": "memo"`) and columns
    ///     (`"note.body": "note.text"`). They may stay in the plan: a store that already has the
    ///     new name isn't changed.
    ///   - drops: Tables and columns that may be removed with their data.
    public init(
        inferredFrom schema: StoreSchema,
        renames: [String: String] = [:],
        drops: Set<String> = []
    ) {
        current = StoreVersion("\(schema.userVersion ?? 0)")
        create = nil
        goal = SchemaGoal(schema: schema, renames: renames, drops: drops)
        stepsBySource = [:]
        knownVersions = [current]
    }

    /// A plan of one step that was inferred.
    init(inferred step: StoreStep) {
        current = step.target
        create = nil
        goal = nil
        stepsBySource = [step.source: step]
        knownVersions = [step.source, step.target]
    }

    /// The part of a plan that leads to a version before the current one.
    private init(of plan: StoreMigrationPlan, to target: StoreVersion) {
        current = target
        create = nil
        goal = plan.goal
        stepsBySource = plan.stepsBySource.filter { $0.key != target }
        knownVersions = plan.knownVersions
    }

    /// The same steps up to `target`; the whole plan if that is its current version.
    func ending(at target: StoreVersion) -> StoreMigrationPlan? {
        if target == current { return self }
        return knownVersions.contains(target) ? StoreMigrationPlan(of: self, to: target) : nil
    }

    /// Says what the plan can do for a store, which isn't changed.
    ///
    /// - Throws: ``StoreMigrationError`` with `missing`, `damaged`, `storeBusy` or `failed`.
    public func assess(_ store: VersionedStore) throws -> Assessment {
        guard let goal else { return try assess(version: store.version) }
        let inference = try goal.inference(of: store)
        return switch inference.verdict {
        case .current: .current
        case .inferred: try .steps([goal.step(from: store.version)])
        case .impossible: .notInferable(inference.reasons)
        case .newer: .newer
        }
    }

    /// Says what the plan can do for a store of a version.
    ///
    /// A plan with inferred steps needs to read the store; without it, this assumes a step.
    public func assess(version: StoreVersion) -> Assessment {
        if let goal {
            return version.isNewer(than: current) && goal.schema.userVersion != nil
                ? .newer : .steps([goal.step(from: version)])
        }
        if version == current { return .current }
        guard knownVersions.contains(version) else {
            return version.isNewer(than: current) ? .newer : .unknownVersion
        }
        var steps: [StoreStep] = []
        var reached = version
        while reached != current {
            // Steps in a circle never reach the current version.
            guard let step = stepsBySource[reached], steps.count < stepsBySource.count else {
                return reached.isNewer(than: current) ? .newer : .impossible(missing: reached)
            }
            steps.append(step)
            reached = step.target
        }
        return .steps(steps)
    }

    /// Opens a store by `body`, and refuses one that isn't current.
    ///
    /// - Parameters:
    ///   - store: The store.
    ///   - body: Opens the store at the given path.
    /// - Returns: What `body` returns.
    /// - Throws: ``StoreMigrationError`` with `notCurrent`, `newer`, `unknownVersion`,
    ///   `missingStep`, or `interrupted` if a migration was interrupted; the errors of
    ///   ``assess(_:)`` and of `body`.
    public func open<Opened>(
        _ store: VersionedStore,
        _ body: (URL) throws -> Opened
    ) throws -> Opened {
        let place = try StorePlace(of: store)
        guard try !place.isInterrupted else {
            let message = "a migration was interrupted; migrate the store again to complete it"
            throw StoreMigrationError(.interrupted, message, at: place.description)
        }
        let version = try store.version
        let assessment = try assess(store)
        if case .steps(let steps) = assessment {
            let message = "the store must be migrated first (\(steps.count) steps)"
            throw StoreMigrationError(.notCurrent, message, at: place.description)
        }
        if let refusal = refusal(of: version, assessment, at: place.description) { throw refusal }
        return try body(store.url)
    }

    /// Says what the plan can do for a store of a version, or of none.
    func assess(version: StoreVersion?) -> Assessment {
        version.map { assess(version: $0) } ?? .unknownVersion
    }

    /// The error for a store that the plan can't migrate; `nil` for any other store.
    func refusal(
        of version: StoreVersion?,
        _ assessment: Assessment,
        at path: String
    ) -> StoreMigrationError? {
        let version = version.map { "version '\($0)'" } ?? "no version"
        switch assessment {
        case .current, .steps:
            return nil
        case .newer:
            let message =
                "the store has \(version), made by a newer program; this one reads '\(current)'"
            return StoreMigrationError(.newer, message, at: path)
        case .unknownVersion:
            let message = "the store has \(version), which the plan doesn't know"
            return StoreMigrationError(.unknownVersion, message, at: path)
        case .impossible(let missing):
            let message = "no step leads on from version '\(missing)' of the store"
            return StoreMigrationError(.missingStep, message, at: path)
        case .notInferable(let reasons):
            return StoreMigrationError(reasons, at: path)
        }
    }
}
