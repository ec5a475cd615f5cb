internal import Foundation
internal import MigrationSystem

/// Migrates a SQLite file, which only this process can use from the first check to the commit.
///
/// Steps that work in place are one transaction in the file. Others work on a copy, and SQLite
/// writes the copy's pages into the file in one transaction. So the file keeps its identity, and an
/// app that waits for the lock opens the migrated store; an exchange would leave that app with the
/// log of another file.
struct DatabaseMigration {
    var work: MigrationWork
    let place: StorePlace

    private var store: VersionedStore { work.store }

    /// The work that remains once the migrated store is in place.
    private struct State: Codable {
        /// The format of this state.
        let version: Int
        /// The journal mode to restore; `nil` if it wasn't changed.
        var journalMode: String?
        /// Whether the hook must be called before the old store is forgotten.
        let hasHook: Bool
        /// The file as the migration left it; `nil` until that is known.
        var mark: Mark?

        init(journalMode: String?, hasHook: Bool) {
            version = 2
            (self.journalMode, self.hasHook) = (journalMode, hasHook)
        }
    }

    /// The properties of a file that change with every transaction of another connection.
    private struct Mark: Codable, Equatable {
        private let inode: UInt64
        private let size: UInt64
        private let seconds: Int64
        private let nanoseconds: UInt32

        init(_ status: FileStatus) {
            inode = status.identity.inode
            size = status.size
            (seconds, nanoseconds) = (
                status.modificationTime.seconds, status.modificationTime.nanoseconds
            )
        }
    }

    /// Migrates the store; `isLeft` says that an earlier process has left something.
    func run(isLeft: Bool) throws -> StoreMigrator.Outcome {
        let original = try SQLiteConnection.openAlone(
            at: place.path,
            isCancelled: work.isCancelled
        )
        // Until now another process may have migrated or replaced the store.
        try place.checkNames()
        if isLeft { try place.removeFinishedJournal() }
        if isLeft, try resume(original) {
            original.close()
            try callHook()
            return .completed
        }
        let version = try store.version(in: original, at: place.path)
        guard let version, let steps = try pendingSteps(from: version, in: original) else {
            if version == nil { _ = try work.steps(from: version, at: place) }
            original.close()
            try place.end()
            return .current
        }
        return try migrate(original, steps, from: version)
    }

    /// The steps that the store needs, as far as they are known now; `nil` if it needs none.
    private func pendingSteps(
        from version: StoreVersion,
        in original: SQLiteConnection
    ) throws -> [StoreStep]? {
        let steps =
            try work.plan.goal.map { [$0.step(from: version)] }
            ?? work.steps(from: version, at: place)
        guard let step = steps?.first, steps?.count == 1, case .inferred(let goal) = step.change
        else { return steps }
        try original.judge()
        if let resolved = try work.resolve(step, to: goal, in: original) {
            return [resolved]
        }
        // Only the version still has to be written.
        return step.source == step.target
            ? nil : [.inPlace(from: step.source, to: step.target) { _ in }]
    }

    private func migrate(
        _ original: SQLiteConnection,
        _ steps: [StoreStep],
        from version: StoreVersion
    ) throws -> StoreMigrator.Outcome {
        var migration = self
        if work.plan.goal != nil, let step = steps.first {
            migration.work.plan = StoreMigrationPlan(inferred: step)
        }
        return try migration.run(steps, in: original, from: version)
    }

    private func run(
        _ steps: [StoreStep],
        in original: SQLiteConnection,
        from version: StoreVersion
    ) throws -> StoreMigrator.Outcome {
        let isInPlace = work.hook == nil && steps.allSatisfy(\.isInPlace)
        do {
            try isInPlace ? migrateInPlace(original, steps) : migrateByCopy(original, steps)
        } catch {
            // The caller needs the error of the migration, not one about cleaning up.
            try? place.removeFinishedJournal()
            throw error
        }
        try settle(original)
        original.close()
        isInPlace || work.hook == nil ? try place.end() : try callHook()
        return .migrated(from: version)
    }

    /// Applies the log, so that the next process that opens the store doesn't have to.
    private func settle(_ database: SQLiteConnection) throws {
        try database.settleLog()
        try place.removeSharedMemory()
        try place.removeFinishedJournal()
    }
}

// MARK: - In place

extension DatabaseMigration {
    private func migrateInPlace(_ original: SQLiteConnection, _ steps: [StoreStep]) throws {
        let pass = work.begin(passes: steps.count, bytes: try place.survey().bytes)
        try original.transaction { try runInPlace(original, steps, pass) }
    }

    private func runInPlace(
        _ original: SQLiteConnection,
        _ steps: [StoreStep],
        _ first: MigrationWork.Pass
    ) throws {
        let keys = try ForeignKeyViolations(beforeChangesOf: original)
        let guardian = StatementGuard(isInPlace: true) { tables throws(StoreMigrationError) in
            try keys.add(tables, in: original)
        }
        var pass = first
        for step in steps {
            guard case .inPlace(let change, let verify) = step.change else { continue }
            try run(change, verify, of: step, in: original, guardian)
            pass.next()
            try work.report(0, of: pass)
        }
        try check(keys.news(in: original))
        try checkPlace(of: original)
    }

    private func run(
        _ change: (StoreStatements) throws -> Void,
        _ verify: (StoreQueries) throws -> Void,
        of step: StoreStep,
        in database: SQLiteConnection,
        _ guardian: StatementGuard
    ) throws {
        try change(StoreStatements(database: database, guardian: guardian))
        try settleVersion(after: step, in: database)
        try verify(StoreQueries(database: database))
    }

    /// Writes the step's version, unless the step did.
    private func settleVersion(after step: StoreStep, in database: SQLiteConnection) throws {
        let reached = try store.version(in: database, at: place.path)
        try work.check(reached, after: step, at: place)
        if reached != step.target { try store.write(step.target, to: database, at: place.path) }
    }

    private func check(_ violations: [String]) throws(StoreMigrationError) {
        if violations.isEmpty { return }
        let message = "the steps break foreign keys: " + violations.joined(separator: "; ")
        throw StoreMigrationError(.stepFailed, message, at: place.description)
    }

    /// Refuses to write to a file that no longer has its name.
    private func checkPlace(of original: SQLiteConnection) throws(StoreMigrationError) {
        try place.checkNames()
        guard !original.hasMoved else {
            let message = "another file took the place of the store while it was being migrated"
            throw StoreMigrationError(.storeChanged, message, at: place.description)
        }
    }
}

// MARK: - By a copy

extension DatabaseMigration {
    private func migrateByCopy(_ original: SQLiteConnection, _ steps: [StoreStep]) throws {
        try original.judge()
        let keys = try ForeignKeyViolations(in: original)
        keys.descriptions.forEach(work.findings)
        var pass = work.begin(passes: steps.count + 2, bytes: try place.survey().bytes)
        let room = try room(for: original, steps)
        let copies: Int64 = work.hook == nil ? 1 : 2
        try check(room, copies: copies)
        try copy(original, to: .copy, pass)
        if work.hook != nil {
            try copy(original, to: .old, pass)
            try place.synchronize(.old)
        }
        pass.next()
        for step in steps {
            try work.report(0, of: pass)
            try run(step, room, pass)
            pass.next()
        }
        try work.checkCancellation()
        let copy = try settleCopy(keys)
        try write(copy, into: original, pass)
    }

    /// The space that the steps need, as far as they are known; `nil` if SQLite can't read a schema
    /// that only the app understands, and so reports no size.
    private func room(
        for original: SQLiteConnection,
        _ steps: [StoreStep]
    ) throws(StoreMigrationError) -> MigrationRoom? {
        do throws(StoreMigrationError) {
            return try MigrationRoom(of: original, growth: steps.reduce(0) { $0 + $1.growth })
        } catch  where error.mayBeLeftUnchecked {
            return nil
        }
    }

    /// Refuses a migration that the file system has no space for.
    private func check(
        _ room: MigrationRoom?,
        copies: Int64
    ) throws(StoreMigrationError) {
        guard let room else { return }
        let needed = room.bytes(copies: copies)
        let available = try place.availableSpace
        guard UInt64(clamping: needed) > available else { return }
        let message =
            "there is no room to migrate the store: \(needed) bytes are needed beside it for its copy and "
            + "SQLite's journal, and \(available) are free"
        throw StoreMigrationError(.outOfSpace, message, at: place.description)
    }

    private func copy(
        _ original: SQLiteConnection,
        to file: StorePlace.File,
        _ pass: MigrationWork.Pass
    ) throws {
        try place.makeDirectory(for: file)
        let copy = try SQLiteConnection.create(
            at: place.path(of: file),
            isCancelled: work.isCancelled
        )
        try original.copy(to: copy) { try work.report($0, of: pass) }
    }

    private func run(
        _ step: StoreStep,
        _ room: MigrationRoom?,
        _ pass: MigrationWork.Pass
    ) throws {
        let path = place.path(of: .copy)
        switch step.change {
        case .copy(let change):
            try work.run(change, at: path, pass)
            let copy = try SQLiteConnection.open(at: path, isCancelled: work.isCancelled)
            try settleVersion(after: step, in: copy)
        case .inferred(let goal):
            let copy = try SQLiteConnection.open(at: path, isCancelled: work.isCancelled)
            let resolved = try work.resolve(step, to: goal, in: copy)
            copy.close()
            // The results of the earlier steps are known only now.
            var room = room
            room?.growth = resolved?.growth ?? 0
            try check(room, copies: 0)
            try run(resolved ?? .inPlace(from: step.source, to: step.target) { _ in }, room, pass)
        case .rebuild(let inference):
            let copy = try SQLiteConnection.open(at: path, isCancelled: work.isCancelled)
            // A copy that fails or is interrupted is thrown away.
            try copy.execute("PRAGMA synchronous = OFF; PRAGMA journal_mode = OFF")
            try inference.run(in: copy)
            try settleVersion(after: step, in: copy)
        case .inPlace(let change, let verify):
            let copy = try SQLiteConnection.open(at: path, isCancelled: work.isCancelled)
            try copy.transaction {
                let guardian = StatementGuard(isInPlace: true)
                try run(change, verify, of: step, in: copy, guardian)
            }
        }
    }

    /// Proves that the copy can be opened and is sound, and leaves it without a log.
    private func settleCopy(_ keys: ForeignKeyViolations) throws -> SQLiteConnection {
        let copy = try openCopyAlone()
        guard try store.version(in: copy, at: place.path) == work.plan.current else {
            let message = "the steps did not lead to version '\(work.plan.current)'"
            throw StoreMigrationError(.stepFailed, message, at: place.description)
        }
        let check = try DatabaseCheck(of: copy)
        guard check.damage.isEmpty else {
            let message = "a check of the pages finds: " + check.damage.joined(separator: "; ")
            throw StoreMigrationError(.damaged, message, at: place.description)
        }
        try self.check(keys.news(in: copy))
        check.rows.forEach(work.findings)
        (keys.notChecked + check.notChecked).forEach { work.findings("not checked: \($0)") }
        // The journal mode in the copy's header would become part of the store.
        try copy.setJournalMode("delete")
        return copy
    }

    private func openCopyAlone() throws(StoreMigrationError) -> SQLiteConnection {
        let path = place.path(of: .copy)
        do {
            let copy = try SQLiteConnection.openAlone(at: path, isCancelled: work.isCancelled)
            try copy.judge()
            return copy
        } catch {
            guard error.code == .storeBusy else { throw error }
            let message = "a step left the copy open"
            throw StoreMigrationError(.stepFailed, message, at: place.description)
        }
    }

    /// Checks a store that the plan has just made, and writes its version.
    func settleNewStore() throws {
        let copy = try openCopyAlone()
        if try store.version(in: copy, at: place.path) != work.plan.current {
            try store.write(work.plan.current, to: copy, at: place.path)
        }
        try copy.settleLog()
    }

    /// Writes the content of a database into the store, completely or not at all.
    private func write(
        _ source: SQLiteConnection,
        into original: SQLiteConnection,
        _ pass: MigrationWork.Pass
    ) throws {
        let mode = try original.journalMode
        // SQLite can't change the size of pages while there is a log.
        let changesMode = try mode == "wal" && source.pageSize != original.pageSize
        let hasHook = work.hook != nil
        var state = State(journalMode: changesMode ? mode : nil, hasHook: hasHook)
        if changesMode || hasHook { try place.write(state) }
        do {
            try checkPlace(of: original)
            if changesMode { try original.setJournalMode("delete") }
            try source.copy(to: original) { try work.report($0, of: pass) }
        } catch {
            if changesMode { try original.setJournalMode(mode) }
            try place.clear()
            throw error
        }
        if changesMode { try original.setJournalMode(mode) }
        guard hasHook else { return }
        try original.settleLog()
        state.journalMode = nil
        state.mark = try mark()
        try place.write(state)
    }

    /// Gives the store a time that no clock would produce, so that later changes are detected.
    private func mark() throws(StoreMigrationError) -> Mark? {
        guard let time = try place.status(of: .live)?.modificationTime else { return nil }
        let nanoseconds = time.nanoseconds < 999_999_999 ? time.nanoseconds + 1 : 1
        try place.setModificationTime(FileTime(seconds: time.seconds, nanoseconds: nanoseconds))
        return try place.status(of: .live).map { Mark($0) }
    }
}

// MARK: - Resuming

extension DatabaseMigration {
    /// Continues where an earlier process ended; returns whether only the hook must still be
    /// called.
    private func resume(_ original: SQLiteConnection) throws -> Bool {
        guard let state = try place.state(State.self) else {
            try place.clear()
            return false
        }
        if let mode = state.journalMode, try original.journalMode != mode {
            try original.setJournalMode(mode)
            try original.settleLog()
        }
        let isCurrent = try isCurrent(original)
        if isCurrent, state.hasHook { return true }
        // Another release of the program began it, and its hook has not been called.
        if state.hasHook, !isCurrent, try isUnchanged(since: state.mark) {
            try bringBack(original)
        }
        try place.clear()
        return false
    }

    private func isCurrent(_ original: SQLiteConnection) throws(StoreMigrationError) -> Bool {
        if let goal = work.plan.goal { return try goal.isReached(in: original) }
        return try store.version(in: original, at: place.path) == work.plan.current
    }

    private func isUnchanged(since mark: Mark?) throws(StoreMigrationError) -> Bool {
        guard let mark, try place.size(suffix: "-wal") == 0 else { return false }
        return try place.status(of: .live).map { Mark($0) } == mark
    }

    /// Writes the old content back into the store.
    private func bringBack(_ original: SQLiteConnection) throws {
        let path = place.path(of: .old)
        let old = try SQLiteConnection.openAlone(at: path, isCancelled: { false })
        let mode = try original.journalMode
        let changesMode = try mode == "wal" && old.pageSize != original.pageSize
        if changesMode { try original.setJournalMode("delete") }
        try old.copy(to: original) { _ in }
        if changesMode { try original.setJournalMode(mode) }
        try settle(original)
    }

    /// Lets the hook open the migrated store; restores the old content if it can't.
    private func callHook() throws {
        do {
            try work.hook?(store.url)
        } catch {
            try undo(after: error)
            throw error
        }
        try place.end()
    }

    private func undo(after failure: any Error) throws {
        let reason = "afterMigration failed (\(failure)), and the migrated store stays: somebody "
        let original: SQLiteConnection
        do {
            original = try SQLiteConnection.openAlone(at: place.path, isCancelled: { false })
        } catch {
            guard error.code == .storeBusy else { throw error }
            throw StoreMigrationError(.notUndone, reason + "uses it", at: place.description)
        }
        guard try isUnchanged(since: place.state(State.self)?.mark) else {
            let message = reason + "has written to it"
            throw StoreMigrationError(.notUndone, message, at: place.description)
        }
        try bringBack(original)
        try place.end()
    }
}
