public import Foundation
internal import MigrationSystem

/// Migrates a store to its current version: its path always has either the old store or the new
/// one.
///
/// The steps work on a copy beside the store. The content of a migrated SQLite file is then written
/// into the store in one transaction; a migrated JSON document or directory is exchanged with the
/// store in one step of the file system. A migration that was interrupted at any point is completed
/// or undone by the next one. Steps that work in place don't need a copy.
///
/// No other process may use the store meanwhile. SQLite itself keeps others away from its files,
/// and an app that waits for the lock gets the migrated store. A JSON document or a directory that
/// changed is not replaced.
///
/// ```swift
/// try StoreMigrator(store).migrate(plan)
/// let notes = try plan.open(store) { try NotesDatabase(at: $0) }
/// ```
public struct StoreMigrator: Sendable {
    /// How a migration ended.
    public enum Outcome: Hashable, Sendable {
        /// There was nothing to do.
        case current
        /// The store was migrated from a version.
        case migrated(from: StoreVersion)
        /// An interrupted migration was completed; its migrated store was already in place.
        case completed
        /// There was no store, and the plan made one.
        case created
    }

    private let store: VersionedStore
    private let afterMigration: (@Sendable (URL) throws -> Void)?
    private var inferred: @Sendable (SchemaInference) -> Void = { _ in }

    /// Makes a migrator.
    ///
    /// - Parameters:
    ///   - store: The store.
    ///   - afterMigration: Called with the store's path once the migrated store is in place and
    ///     unlocked. It must close what it opens. If it throws, the old store is restored, unless
    ///     somebody, including the hook, has written to the new one since. The next migration calls
    ///     it again if the process ended meanwhile or the new store stayed. With a hook, the old
    ///     store is kept until it returns, and no step works in place.
    public init(
        _ store: VersionedStore,
        afterMigration: (@Sendable (URL) throws -> Void)? = nil
    ) {
        (self.store, self.afterMigration) = (store, afterMigration)
    }

    /// Makes a migrator that reports what it infers before anything changes.
    package init(
        _ store: VersionedStore,
        inferred: @escaping @Sendable (SchemaInference) -> Void
    ) {
        self.init(store)
        self.inferred = inferred
    }

    /// Migrates the store, or completes an interrupted migration.
    ///
    /// It blocks its thread while it works. Cancelling the current task or `progress` stops it before
    /// the migrated store is in place, with the store as it was.
    ///
    /// - Parameters:
    ///   - plan: The current version and the steps to it.
    ///   - target: The version at which to stop; `nil` for the plan's current one.
    ///   - progress: Updated while it works; its unit is a byte of the store, which the copy, each step
    ///     and the writing of a SQLite file go through once.
    ///   - findings: Gets the findings in a SQLite file that don't prevent the migration: rows that
    ///     break a constraint or refer to a missing row, and parts that couldn't be checked. Steps
    ///     that work in place look for none.
    /// - Returns: How it ended.
    /// - Throws: ``StoreMigrationError`` with `newer`, `unknownVersion`, `missingStep` or `severalNames`
    ///   before anything is touched, with `storeBusy`, `storeChanged`, `stepFailed`, `damaged`,
    ///   `outOfSpace` or `exchangeUnsupported` with the store as it was, with `notUndone` after a hook
    ///   that failed; the errors of steps and of the hook; `CancellationError`.
    @discardableResult
    public func migrate(
        _ plan: StoreMigrationPlan,
        to target: StoreVersion? = nil,
        progress: Progress? = nil,
        findings: (@Sendable (String) -> Void)? = nil
    ) throws -> Outcome {
        guard let plan = plan.ending(at: target ?? plan.current) else {
            let message = "the plan doesn't know the version '\(target ?? plan.current)'"
            throw StoreMigrationError(.unknownVersion, message, at: store.url.path)
        }
        let work = MigrationWork(
            store: store,
            plan: plan,
            progress: progress,
            findings: findings ?? { _ in },
            inferred: inferred,
            hook: afterMigration
        )
        do {
            return try work.run()
        } catch let error as StoreMigrationError where error.code == .cancelled {
            throw CancellationError()
        }
    }

    /// Migrates the store as ``migrate(_:to:progress:findings:)`` does, on its own thread.
    ///
    /// Cancelling the task stops it between two steps, or between two rows that a statement of a step
    /// works on, with the store as it was.
    ///
    /// - Parameters:
    ///   - plan: The current version and the steps to it.
    ///   - target: The version at which to stop; `nil` for the plan's current one.
    ///   - progress: Updated while it works, and cancelled with the task.
    ///   - findings: Gets the findings in a SQLite file that don't prevent the migration: rows that
    ///     break a constraint or refer to a missing row, and parts that couldn't be checked. Steps
    ///     that work in place look for none.
    /// - Returns: How it ended.
    /// - Throws: What ``migrate(_:to:progress:findings:)`` throws.
    @discardableResult
    public func migrateInBackground(
        _ plan: StoreMigrationPlan,
        to target: StoreVersion? = nil,
        progress: Progress? = nil,
        findings: (@Sendable (String) -> Void)? = nil
    ) async throws -> Outcome {
        let progress = progress ?? Progress(totalUnitCount: 1)
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                do throws(SystemError) {
                    try SystemThread.start(named: "store-migration") {
                        continuation.resume(
                            with: Result {
                                try migrate(
                                    plan,
                                    to: target,
                                    progress: progress,
                                    findings: findings
                                )
                            }
                        )
                    }
                } catch {
                    let message = "no thread can be started"
                    continuation.resume(
                        throwing: StoreMigrationError(
                            .failed,
                            message,
                            at: store.url.path,
                            cause: error
                        )
                    )
                }
            }
        } onCancel: {
            progress.cancel()
        }
    }
}

// MARK: - One migration

/// The properties of one store's migration that don't depend on the kind of store.
struct MigrationWork: Sendable {
    let store: VersionedStore
    var plan: StoreMigrationPlan
    let progress: Progress?
    let findings: @Sendable (String) -> Void
    let inferred: @Sendable (SchemaInference) -> Void
    let hook: (@Sendable (URL) throws -> Void)?

    func run() throws -> StoreMigrator.Outcome {
        if plan.create != nil, try store.isMissing, try create() { return .created }
        let place = try StorePlace(of: store)
        if try !place.hasWork {
            if try isCurrent(at: place) { return .current }
        }
        try place.checkNames()
        let isLeft = try place.begin()
        do {
            let outcome =
                if case .sqlite = store.form {
                    try DatabaseMigration(work: self, place: place).run(isLeft: isLeft)
                } else {
                    try FileMigration(work: self, place: place).run(isLeft: isLeft)
                }
            progress?.completedUnitCount = progress?.totalUnitCount ?? 0
            return outcome
        } catch {
            // The next migration removes or completes the rest.
            if let isInterrupted = try? place.isInterrupted, !isInterrupted { try? place.end() }
            throw error
        }
    }

    /// Whether the store is already current, checked without a lock.
    private func isCurrent(at place: StorePlace) throws -> Bool {
        let version = try store.version
        guard let goal = plan.goal else { return try steps(from: version, at: place) == nil }
        guard case .sqlite = store.form else {
            let message = "a schema leads nowhere for a store that isn't a SQLite file"
            throw StoreMigrationError(.stepFailed, message, at: place.description)
        }
        return try goal.isReached(in: .openForReading(at: place.path))
    }

    /// The steps from a version; `nil` if it is the current one.
    func steps(from version: StoreVersion?, at place: StorePlace) throws -> [StoreStep]? {
        let assessment = plan.assess(version: version)
        if let refusal = plan.refusal(of: version, assessment, at: place.description) {
            throw refusal
        }
        if case .steps(let steps) = assessment { return steps }
        return nil
    }

    /// The inferred content of a step for a database; `nil` if the database already has the schema.
    func resolve(
        _ step: StoreStep,
        to goal: SchemaGoal,
        in database: SQLiteConnection
    ) throws(StoreMigrationError) -> StoreStep? {
        let inference = try goal.inference(for: database)
        inferred(inference)
        inference.notes.forEach(findings)
        return try goal.resolve(step, by: inference, at: database.path)
    }

    /// Reports the version that a step left, if it is neither its target nor unchanged.
    func check(
        _ version: StoreVersion?,
        after step: StoreStep,
        at place: StorePlace
    ) throws(StoreMigrationError) {
        if version == step.target { return }
        guard store.hasWritableVersion, version == step.source else {
            let version = version.map { "version '\($0)'" } ?? "no version"
            let message = "the step from \(step) left the copy with \(version)"
            throw StoreMigrationError(.stepFailed, message, at: place.description)
        }
    }

    // MARK: A store that is missing

    /// Makes the store in the work directory and renames it into place; returns `false` if another
    /// process was faster.
    private func create() throws -> Bool {
        let place = try StorePlace(of: store, isNew: true)
        if try place.begin() { try place.clear() }
        do {
            try place.makeDirectory(for: .copy)
            let path = place.path(of: .copy)
            try plan.create?(copy(at: path, progress: Progress(totalUnitCount: 1), isNew: true))
            if case .sqlite = store.form {
                try DatabaseMigration(work: self, place: place).settleNewStore()
            } else if try store.version(at: path) != plan.current {
                try store.write(plan.current, at: path)
            }
            guard try store.version(at: path) == plan.current else {
                let message = "the plan did not make a store of version '\(plan.current)'"
                throw StoreMigrationError(.stepFailed, message, at: place.description)
            }
            try checkCancellation()
            try place.synchronize(.copy)
            let isPlaced = try place.placeCopy()
            try place.end()
            return isPlaced
        } catch {
            // The caller needs this error, not one about cleaning up. The next migration removes
            // the rest.
            try? place.end()
            throw error
        }
    }

    // MARK: Progress

    var isCancelled: @Sendable () -> Bool {
        { [progress] in Task.isCancelled || progress?.isCancelled ?? false }
    }

    func checkCancellation() throws {
        if isCancelled() { throw CancellationError() }
    }

    /// The argument of a step that works on a copy.
    func copy(at path: BytePath, progress: Progress, isNew: Bool = false) -> StoreCopy {
        StoreCopy(
            url: URL(fileAtPath: path),
            progress: progress,
            isCancelled: isCancelled,
            isNew: isNew
        )
    }

    /// Counts a store of `bytes` once for each of `passes`.
    func begin(passes: Int, bytes: Int64) -> Pass {
        // A sparse file can claim more bytes than can be counted.
        let unit = min(max(1, bytes), 1 << 48)
        progress?.totalUnitCount = unit * Int64(passes)
        progress?.completedUnitCount = 0
        return Pass(unit: unit)
    }

    /// One pass of a migration over the bytes of a store.
    struct Pass {
        let unit: Int64
        private(set) var number = 0

        fileprivate init(unit: Int64) {
            self.unit = unit
        }

        /// Another pass of the same size.
        mutating func next() { number += 1 }
    }

    /// Reports how many bytes of a pass are done.
    func report(_ bytes: Int64, of pass: Pass) throws {
        let done = min(bytes, pass.unit) + Int64(pass.number) * pass.unit
        progress?.completedUnitCount = done
        try checkCancellation()
    }

    /// Runs a step on a copy, with a part of the progress.
    func run(
        _ change: (StoreCopy) throws -> Void,
        at path: BytePath,
        _ pass: Pass
    ) throws {
        let part = Progress(totalUnitCount: 1)
        progress?.addChild(part, withPendingUnitCount: pass.unit)
        try change(copy(at: path, progress: part))
        part.completedUnitCount = part.totalUnitCount
    }
}
