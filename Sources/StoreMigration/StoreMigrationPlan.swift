public import Foundation
internal import MigrationSystem

/// A step that changes a store from one version to another.
public struct StoreStep: Sendable {
    /// The version that the step begins at.
    public let source: StoreVersion

    /// The version that the step leads to.
    public let target: StoreVersion

    let change: @Sendable (StoreCopy) throws -> Void

    /// Describes a step.
    ///
    /// - Parameters:
    ///   - source: The version that the step begins at.
    ///   - target: The version that the step leads to.
    ///   - change: Changes a copy of the store and closes it. It may leave the version as it is: the
    ///     migrator writes the version after the step.
    public init(
        from source: StoreVersion,
        to target: StoreVersion,
        _ change: @escaping @Sendable (StoreCopy) throws -> Void
    ) {
        self.source = source
        self.target = target
        self.change = change
    }
}

extension StoreStep: CustomStringConvertible {
    /// The two versions, such as `2 to 3`.
    public var description: String { "\(source) to \(target)" }
}

/// The copy of a store that a step works on.
///
/// Nobody else knows the copy, and it is thrown away if the step fails or is cut off.
public struct StoreCopy: Sendable {
    /// The path of the copy, whose name is that of the store.
    public let url: URL

    /// The progress of the step, for it to update; it counts as one unit unless the step sets another
    /// total.
    public let progress: Progress

    /// Runs SQL statements on a copy of a SQLite file.
    ///
    /// For a step that needs no more than that; another one opens ``url`` with the library of its choice.
    ///
    /// - Parameter statements: SQL statements, separated by semicolons, whose rows are dropped. They are
    ///   one transaction.
    /// - Throws: ``StoreMigrationError`` with SQLite's message.
    public func execute(_ statements: String) throws {
        let database = try SQLiteConnection.open(at: BytePath(of: url))
        try database.execute("BEGIN; \(statements); COMMIT")
    }
}

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
        /// The plan knows the store's version, but no step leads on from the version `missing`.
        case impossible(missing: StoreVersion)
        /// The store has no version, or one that the plan doesn't know.
        case unknownVersion
        /// The store was made by a newer program.
        case newer
    }

    /// The version that the program reads and writes.
    public let current: StoreVersion

    private let stepsBySource: [StoreVersion: StoreStep]
    private let knownVersions: Set<StoreVersion>

    /// Makes a plan.
    ///
    /// - Parameters:
    ///   - current: The version that the program reads and writes.
    ///   - steps: The steps, in any order, each from another version.
    ///   - released: Versions that stores may have and that no step begins at; a store of such a
    ///     version is ``Assessment/impossible(missing:)`` to migrate rather than unknown.
    /// - Precondition: No two steps begin at the same version, and none at the current one.
    public init(
        current: StoreVersion,
        steps: [StoreStep],
        released: Set<StoreVersion> = []
    ) {
        var stepsBySource: [StoreVersion: StoreStep] = [:]
        for step in steps {
            precondition(step.source != current, "a step begins at the current version")
            precondition(stepsBySource[step.source] == nil, "two steps begin at \(step.source)")
            stepsBySource[step.source] = step
        }
        self.current = current
        self.stepsBySource = stepsBySource
        knownVersions = released.union(steps.flatMap { [$0.source, $0.target] }).union([current])
    }

    /// Says what the plan can do for a store, which isn't changed.
    ///
    /// - Throws: ``StoreMigrationError`` with `missing`, `damaged`, `storeBusy` or `failed`.
    public func assess(_ store: VersionedStore) throws -> Assessment {
        guard let version = try store.version else { return .unknownVersion }
        return assess(version: version)
    }

    /// Says what the plan can do for a store of a version.
    public func assess(version: StoreVersion) -> Assessment {
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
    ///   - body: Opens the store at the path that it gets.
    /// - Returns: What `body` returns.
    /// - Throws: ``StoreMigrationError`` with `notCurrent`, `newer`, `unknownVersion`, `missingStep`, or
    ///   `interrupted` where a migration was cut off; the errors of ``assess(_:)`` and of `body`.
    public func open<Opened>(
        _ store: VersionedStore,
        _ body: (URL) throws -> Opened
    ) throws -> Opened {
        let place = try StorePlace(of: store)
        guard try !place.isInterrupted else {
            let message = "a migration was interrupted; migrate the store again to complete it"
            throw StoreMigrationError(.interrupted, message, at: place.description)
        }
        let assessment = try assess(store)
        if case .steps(let steps) = assessment {
            let message = "the store must be migrated first (\(steps.count) steps)"
            throw StoreMigrationError(.notCurrent, message, at: place.description)
        }
        if let refusal = try refusal(of: store, assessment) { throw refusal }
        return try body(store.url)
    }

    /// The error of a store that the plan can't migrate; `nil` for any other.
    func refusal(
        of store: VersionedStore,
        _ assessment: Assessment
    ) throws -> StoreMigrationError? {
        let version = try store.version.map { "version '\($0)'" } ?? "no version"
        let path = store.url.path
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
        }
    }
}
