internal import Foundation
internal import MigrationSystem

/// Migrates a JSON document or a directory: its copy is exchanged with it.
///
/// An app can't be kept away from such a store. So the migration looks for changes that the app
/// saved meanwhile, also after the exchange, and never loses them.
struct FileMigration {
    let work: MigrationWork
    let place: StorePlace

    private var store: VersionedStore { work.store }

    /// Tells the store and its copy apart after a crash.
    private struct State: Codable {
        /// The format of this state.
        let version: Int
        let original: File
        let copy: File
        /// The checksum in the copy's survey.
        let survey: UInt64

        init(original: FileStatus?, copy: FileStatus?, survey: UInt64) {
            version = 1
            self.original = File(original)
            self.copy = File(copy)
            self.survey = survey
        }

        struct File: Codable, Equatable {
            private let device: UInt64?
            private let inode: UInt64?

            init(_ status: FileStatus?) {
                device = status?.identity.device
                inode = status?.identity.inode
            }
        }
    }

    /// Migrates the store; `isLeft` says that an earlier process has left something.
    func run(isLeft: Bool) throws -> StoreMigrator.Outcome {
        if isLeft, try resume() { return .completed }
        // Another process may have migrated the store before the directory was locked.
        let version = try store.version
        guard let version, let steps = try work.steps(from: version, at: place) else {
            if version == nil { _ = try work.steps(from: version, at: place) }
            try place.end()
            return .current
        }
        try migrate(steps)
        try callHook()
        return .migrated(from: version)
    }

    private func migrate(_ steps: [StoreStep]) throws {
        let before = try settledSurvey(of: .live)
        var pass = work.begin(passes: steps.count + 1, bytes: before.bytes)
        try place.makeDirectory(for: .copy)
        var copied: Int64 = 0
        try place.copyFiles {
            copied += $0
            try work.report(copied, of: pass)
        }
        pass.next()
        for step in steps {
            try work.report(0, of: pass)
            try run(step, pass)
            pass.next()
        }
        try work.checkCancellation()
        let path = place.path(of: .copy)
        guard try store.version(at: path) == work.plan.current else {
            let message = "the steps did not lead to version '\(work.plan.current)'"
            throw StoreMigrationError(.stepFailed, message, at: place.description)
        }
        try place.synchronize(.copy)
        try exchange(before)
    }

    private func run(_ step: StoreStep, _ pass: MigrationWork.Pass) throws {
        guard case .copy(let change) = step.change else {
            let message = "the step from \(step) works in place, which needs a SQLite file"
            throw StoreMigrationError(.stepFailed, message, at: place.description)
        }
        let path = place.path(of: .copy)
        try work.run(change, at: path, pass)
        let reached = try store.version(at: path)
        try work.check(reached, after: step, at: place)
        if reached != step.target { try store.write(step.target, at: path) }
    }
}

// MARK: - The exchange

extension FileMigration {
    /// A survey that detects every later change.
    ///
    /// Times advance in ticks of some milliseconds, and a change in the tick of the survey would
    /// not change the time.
    private func settledSurvey(of file: StorePlace.File) throws -> StoreFiles.Survey {
        let pause = Monitor(())
        for _ in 0..<100 {
            let survey = try place.survey(of: file)
            let now = Date().timeIntervalSince1970
            let newest = Double(survey.newest.seconds) + Double(survey.newest.nanoseconds) / 1e9
            if !(now - 0.02...now + 0.02).contains(newest) { return survey }
            try work.checkCancellation()
            _ = pause.wait(atMost: 0.02) { _ in false }
        }
        throw changed("the store changes all the time")
    }

    private func changed(_ message: String) -> StoreMigrationError {
        StoreMigrationError(.storeChanged, message, at: place.description)
    }

    private func exchange(_ before: StoreFiles.Survey) throws {
        let copy = try settledSurvey(of: .copy)
        let state = State(
            original: try place.status(of: .live),
            copy: try place.status(of: .copy),
            survey: copy.digest
        )
        try place.write(state)
        do {
            try place.checkNames()
            guard try place.survey().digest == before.digest else {
                throw changed("the store changed while it was being migrated")
            }
            try place.exchange()
        } catch {
            try place.clear()
            throw error
        }
        try checkExchange(before: before, copy: copy)
    }

    /// Looks for data that an app saved between the last survey and the exchange; it is now in the
    /// copy.
    ///
    /// Data that it saved after that went into the migrated store, which it assumes to be the old one.
    private func checkExchange(before: StoreFiles.Survey, copy: StoreFiles.Survey) throws {
        let isAsideChanged = try place.survey(of: .copy).digest != before.digest
        let isLiveChanged = try place.survey().digest != copy.digest
        if !isAsideChanged && !isLiveChanged { return }
        let isDirectory = try place.isDirectory
        // A document is saved as a whole, so the one under the name is the newest.
        if !isLiveChanged || isDirectory { try place.exchange() }
        var message = "the store changed while it was being migrated"
        if isLiveChanged && (isAsideChanged || isDirectory) {
            message += "; a part of what was saved then is in '\(try place.keepCopyBeside())'"
        }
        try place.clear()
        throw changed(message)
    }
}

// MARK: - Resuming

extension FileMigration {
    /// Completes or removes what an earlier process left; returns whether it was completed.
    private func resume() throws -> Bool {
        if let state = try place.state(State.self),
            State.File(try place.status(of: .live)) == state.copy,
            State.File(try place.status(of: .copy)) == state.original
        {
            if try store.version == work.plan.current {
                try callHook()
                return true
            }
            // Another release of the program began it, and no app has opened it.
            if try place.survey().digest == state.survey { try place.exchange() }
        }
        try place.clear()
        return false
    }

    /// Lets the hook open the migrated store; restores the old one if it can't.
    private func callHook() throws {
        do {
            try work.hook?(store.url)
        } catch {
            guard try place.survey().digest == place.state(State.self)?.survey else {
                let message =
                    "afterMigration failed (\(error)), and the migrated store stays: somebody has "
                    + "written to it"
                throw StoreMigrationError(.notUndone, message, at: place.description)
            }
            try place.exchange()
            try place.end()
            throw error
        }
        try place.end()
    }
}
