public import Foundation
internal import MigrationSystem

/// Migrates a store to its current version: the store under its name is the old one or the new one.
///
/// The steps work on a copy beside the store. The copy is checked and exchanged with the store in one
/// step of the file system. The old store is kept until the new one was opened. A migration that was
/// cut off at any point is completed or undone by the next one.
///
/// Nobody else may use the store meanwhile. For a SQLite file SQLite itself keeps others away; a JSON
/// document or a directory that changed is not replaced.
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
        /// A migration that was cut off after the exchange was completed.
        case completed
    }

    private let store: VersionedStore
    private let afterMigration: @Sendable (URL) throws -> Void

    /// Makes a migrator.
    ///
    /// - Parameters:
    ///   - store: The store.
    ///   - afterMigration: Called with the store's path once the migrated store is in place, before the
    ///     old one is removed. It must close what it opens. If it throws, the old store comes back. It
    ///     is called again if the process ended before the old store was removed.
    public init(
        _ store: VersionedStore,
        afterMigration: @escaping @Sendable (URL) throws -> Void = { _ in }
    ) {
        self.store = store
        self.afterMigration = afterMigration
    }

    /// Migrates the store, or completes a migration that was cut off.
    ///
    /// It blocks its thread while it works. Cancelling the current task or `progress` stops it before
    /// the exchange, with the store as it was.
    ///
    /// - Parameters:
    ///   - plan: The current version and the steps to it.
    ///   - progress: Updated while it works; its unit is a byte of the store, which the copy and each
    ///     step go through once.
    /// - Returns: How it ended.
    /// - Throws: ``StoreMigrationError`` with `newer`, `unknownVersion` or `missingStep` before anything
    ///   is touched, with `storeBusy`, `storeChanged`, `stepFailed`, `damaged`, `outOfSpace` or
    ///   `exchangeUnsupported` with the store as it was; the errors of steps and of the hook;
    ///   `CancellationError`.
    @discardableResult
    public func migrate(_ plan: StoreMigrationPlan, progress: Progress? = nil) throws -> Outcome {
        let place = try StorePlace(of: store)
        if try !place.hasWork {
            let assessment = try plan.assess(store)
            if case .current = assessment { return .current }
            if let refusal = try plan.refusal(of: store, assessment) { throw refusal }
        }
        let isLeft = try place.begin()
        if isLeft, try resume(plan, at: place) { return .completed }
        let migration = Migration(store: store, plan: plan, place: place, progress: progress)
        // Another process may have migrated the store before the directory was locked.
        let assessment = try plan.assess(store)
        guard case .steps(let steps) = assessment, let version = try store.version else {
            try place.end()
            if let refusal = try plan.refusal(of: store, assessment) { throw refusal }
            return .current
        }
        do {
            try migration.run(steps)
        } catch {
            // What can't be removed here, or was exchanged already, is left to the next migration.
            if let remains = try? place.remains(), remains == .original { try? place.end() }
            throw error
        }
        try open(plan, at: place)
        return .migrated(from: version)
    }

    /// Completes what an earlier process has left, or removes it; returns whether it was completed.
    private func resume(_ plan: StoreMigrationPlan, at place: StorePlace) throws -> Bool {
        switch try place.remains() {
        case .exchanged where try store.version == plan.current:
            try open(plan, at: place)
            return true
        case .exchanged:
            // Another release of the program began it.
            try bringBack(at: place)
        case .original:
            try place.end()
        }
        _ = try place.begin()
        return false
    }

    /// Opens the migrated store and removes the old one, or brings the old one back.
    private func open(_ plan: StoreMigrationPlan, at place: StorePlace) throws {
        do {
            guard try store.version == plan.current else {
                let message = "the migrated store is not of version '\(plan.current)'"
                throw StoreMigrationError(.damaged, message, at: place.description)
            }
            try afterMigration(store.url)
        } catch {
            try bringBack(at: place)
            throw error
        }
        try place.end()
    }

    /// What the hook left in the log of the new store must not get to the old one.
    private func bringBack(at place: StorePlace) throws {
        if case .sqlite = store.form {
            for suffix in ["-wal", "-shm", "-journal"] {
                try place.remove(suffix: suffix, ofCopy: false)
            }
        }
        try place.exchange()
        try place.end()
    }
}

// MARK: - One migration

/// The way from the old store to the exchange.
private struct Migration {
    let store: VersionedStore
    let plan: StoreMigrationPlan
    let place: StorePlace
    let progress: Progress?

    func run(_ steps: [StoreStep]) throws {
        try place.makeCopyDirectory()
        let before = try place.survey()
        progress?.totalUnitCount = max(1, before.bytes) * Int64(steps.count + 1)
        progress?.completedUnitCount = 0
        // It keeps others away from a SQLite file until the exchange.
        let original = try copy()
        try checkCancellation()
        for (index, step) in steps.enumerated() {
            progress?.completedUnitCount = max(1, before.bytes) * Int64(index + 1)
            try run(step, size: max(1, before.bytes))
            try checkCancellation()
        }
        try checkCopy()
        if original == nil {
            guard try place.survey() == before else {
                let message = "the store changed while it was being migrated"
                throw StoreMigrationError(.storeChanged, message, at: place.description)
            }
        }
        try place.prepareExchange()
        try place.exchange()
        withExtendedLifetime(original) {}
        progress?.completedUnitCount = progress?.totalUnitCount ?? 0
    }

    private func checkCancellation() throws {
        if progress?.isCancelled ?? false { throw CancellationError() }
        try Task.checkCancellation()
    }

    /// Copies the store; returns the connection that keeps a SQLite file as it is.
    private func copy() throws -> SQLiteConnection? {
        guard case .sqlite = store.form else {
            try place.copyFiles { count in
                progress?.completedUnitCount += count
                try checkCancellation()
            }
            return nil
        }
        let original = try SQLiteConnection.openAlone(at: place.path)
        try original.emptyLog()
        guard try place.size(suffix: "-wal") == 0 else {
            let message = "SQLite did not empty the store's write-ahead log"
            throw StoreMigrationError(.storeBusy, message, at: place.description)
        }
        // A log that stayed would be taken for that of the new store.
        for suffix in ["-wal", "-shm", "-journal"] {
            try place.remove(suffix: suffix, ofCopy: false)
        }
        let copy = try SQLiteConnection.create(at: place.copyPath)
        try original.copy(to: copy) { copied, _ in
            progress?.completedUnitCount = copied
            try checkCancellation()
        }
        try place.adoptStatusForCopy()
        return original
    }

    private func run(_ step: StoreStep, size: Int64) throws {
        let stepProgress = Progress(totalUnitCount: 1)
        progress?.addChild(stepProgress, withPendingUnitCount: size)
        try step.change(StoreCopy(url: URL(fileAtPath: place.copyPath), progress: stepProgress))
        stepProgress.completedUnitCount = stepProgress.totalUnitCount
        let reached = try store.version(at: place.copyPath)
        if reached == step.target { return }
        guard store.hasWritableVersion, reached == step.source else {
            let version = reached.map { "version '\($0)'" } ?? "no version"
            let message = "the step from \(step) left the copy with \(version)"
            throw StoreMigrationError(.stepFailed, message, at: place.description)
        }
        try store.write(step.target, at: place.copyPath)
    }

    /// Proves that the copy can be opened, and leaves a SQLite file without a log.
    private func checkCopy() throws {
        if case .sqlite = store.form {
            try closeCopy()
            for suffix in ["-wal", "-journal"]
            where try place.size(suffix: suffix, ofCopy: true) > 0 {
                let message = "a step left the copy with '\(suffix)' that SQLite does not empty"
                throw StoreMigrationError(.stepFailed, message, at: place.description)
            }
        }
        guard try store.version(at: place.copyPath) == plan.current else {
            let message = "the steps did not lead to version '\(plan.current)'"
            throw StoreMigrationError(.stepFailed, message, at: place.description)
        }
    }

    private func closeCopy() throws(StoreMigrationError) {
        do throws(StoreMigrationError) {
            let copy = try SQLiteConnection.openAlone(at: place.copyPath)
            try copy.emptyLog()
            try copy.checkPages()
        } catch  where error.code == .storeBusy {
            let message = "a step left the copy open"
            throw StoreMigrationError(.stepFailed, message, at: place.description)
        }
        for suffix in ["-wal", "-shm"] where try place.size(suffix: suffix, ofCopy: true) == 0 {
            try place.remove(suffix: suffix, ofCopy: true)
        }
    }
}
