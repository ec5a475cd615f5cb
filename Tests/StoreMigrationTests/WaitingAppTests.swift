import CSQLite
import Foundation
import StoreMigration
import Synchronization
import TestSupport
import Testing

/// Apps that open the store at the wrong moment.
@Suite(.scratchDirectory)
struct WaitingAppTests {
    /// Opens a store with a busy timeout while it is locked, and commits rows or gets an error.
    private static let app = """
        import sqlite3, sys
        store, name, first = sys.argv[1:4]
        db = sqlite3.connect(store, timeout=0, isolation_level=None)
        try:
            db.execute('SELECT count(*) FROM note').fetchone()
            print('open', flush=True)
        except sqlite3.OperationalError:
            print('locked', flush=True)
        db.execute('PRAGMA busy_timeout = 30000')
        for number in range(3):
            title = name + '-' + str(number)
            try:
                if first == 'read': db.execute('SELECT count(*) FROM note').fetchone()
                db.execute('BEGIN IMMEDIATE')
                db.execute('INSERT INTO note (title) VALUES (?)', (title,))
                db.execute('COMMIT')
                print('committed ' + title, flush=True)
            except sqlite3.Error as error:
                print('error ' + str(error), flush=True)
        """

    private func start(_ store: URL, _ name: String, first: String) throws -> (Process, FileHandle)
    {
        let (process, output) = (Process(), Pipe())
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["python3", "-c", Self.app, store.path, name, first]
        process.standardOutput = output
        try process.run()
        return (process, output.fileHandleForReading)
    }

    @Test(arguments: ["WAL", "DELETE"])
    func `an app that waits commits into the migrated store`(_ journal: String) throws {
        let place = try Place()
        let url = place["db"]
        try TestDatabase.make(at: url, titles: ["Old"], journal: journal)
        let store = VersionedStore(at: url, .sqlite(.userVersion))
        let apps = Mutex<[(Process, FileHandle)]>([])
        try StoreMigrator(store).migrate(
            notesPlan { copy in
                for (number, first) in ["read", "write", "read", "write"].enumerated() {
                    let app = try start(url, "app\(number)", first: first)
                    let said = String(decoding: app.1.availableData, as: UTF8.self)
                    #expect(said.hasPrefix("locked"))
                    apps.withLock { $0.append(app) }
                }
                try copy.execute("ALTER TABLE note ADD COLUMN folder TEXT")
            }
        )
        var committed: Set = ["Old"]
        for (process, output) in apps.withLock({ $0 }) {
            let said = String(decoding: try output.readToEnd() ?? Data(), as: UTF8.self)
            process.waitUntilExit()
            #expect(process.terminationStatus == 0, "\(said)")
            for line in said.split(separator: "\n") where line.hasPrefix("committed ") {
                committed.insert(String(line.dropFirst(10)))
            }
        }
        #expect(committed.count == 13)
        let database = try TestDatabase(at: url)
        #expect(try database.texts("PRAGMA integrity_check") == ["ok"])
        #expect(try Set(database.texts("SELECT title FROM note")) == committed)
        #expect(try database.texts("PRAGMA journal_mode") == [journal.lowercased()])
        #expect(try database.texts("PRAGMA user_version") == ["3"])
    }

    /// Called when a file is opened for the second time, as SQLite does before it locks.
    private struct Interference: Sendable {
        let path: String
        var opened = 0
        let body: @Sendable () -> Void
    }

    private static let interference = Mutex<Interference?>(nil)

    private static let onOpening:
        @convention(c) (
            OpaquePointer?, UnsafeMutablePointer<UnsafePointer<CChar>?>?,
            UnsafeRawPointer?
        ) -> Int32 = { handle, _, _ in
            let path = sqlite3_db_filename(handle, "main").map { String(cString: $0) }
            let body = interference.withLock { state -> (@Sendable () -> Void)? in
                guard var found = state, found.path == path else { return nil }
                found.opened += 1
                state = found
                return found.opened == 2 ? found.body : nil
            }
            body?()
            return SQLITE_OK
        }

    @Test(arguments: [false, true])
    func `a step doesn't run again where the app migrated the store before it was locked`(
        _ isInPlace: Bool
    ) throws {
        let place = try Place()
        let url = place["db"]
        try TestDatabase.make(at: url)
        try TestDatabase(at: url).run("CREATE TABLE price (cents); INSERT INTO price VALUES (5)")
        Self.interference.withLock {
            $0 = Interference(path: url.path) {
                let database = try? TestDatabase(at: url)
                try? database?.run("UPDATE price SET cents = cents * 100; PRAGMA user_version = 2")
            }
        }
        typealias Entry = @convention(c) () -> Void
        let entry = unsafeBitCast(Self.onOpening, to: Entry.self)
        #expect(sqlite3_auto_extension(entry) == SQLITE_OK)
        defer {
            sqlite3_cancel_auto_extension(entry)
            Self.interference.withLock { $0 = nil }
        }
        let change = "UPDATE price SET cents = cents * 100"
        let step: StoreStep =
            isInPlace
            ? .inPlace(from: 1, to: 2) { try $0.execute(change) }
            : StoreStep(from: 1, to: 2) { try $0.execute(change) }
        let store = VersionedStore(at: url, .sqlite(.userVersion))
        let plan = StoreMigrationPlan(current: 2, steps: [step])
        #expect(try StoreMigrator(store).migrate(plan) == .current)
        #expect(try TestDatabase(at: url).texts("SELECT cents FROM price") == ["500"])
        #expect(try place.names == ["db"])
    }

    // MARK: Stores that nothing locks

    @Test(arguments: 0..<6)
    func `what an app saves into a document meanwhile is never lost`(_ round: Int) async throws {
        let place = try Place()
        let document = place["doc.json"]
        try Data(#"{"version":1,"n":0}"#.utf8).write(to: document)
        let isDone = Atomic(false)
        let saved = Atomic(0)
        let body: @Sendable () throws -> Void = {
            for number in 1...10_000 where !isDone.load(ordering: .relaxed) {
                let text = #"{"version":1,"n":\#(number)}"#
                try Data(text.utf8).write(to: document, options: .atomic)
                saved.store(number, ordering: .relaxed)
                if round.isMultiple(of: 2) { usleep(30_000) }
            }
        }
        async let app: Void = Task.detached(operation: body).value
        let store = VersionedStore(at: document, .json(key: "version"))
        let plan = StoreMigrationPlan(
            current: 2,
            steps: [StoreStep(from: 1, to: 2) { _ in usleep(useconds_t(round * 5000)) }]
        )
        for _ in 0..<3 {
            do {
                try StoreMigrator(store).migrate(plan)
            } catch let error as StoreMigrationError {
                #expect(error.code == .storeChanged, "\(error)")
            }
        }
        isDone.store(true, ordering: .relaxed)
        try await app
        let object = try JSONSerialization.jsonObject(with: Data(contentsOf: document))
        let number = (object as? [String: Any])?["n"] as? Int
        #expect(number == saved.load(ordering: .relaxed))
    }

    @Test(arguments: 0..<4)
    func `what an app saves into a directory meanwhile is never lost`(_ round: Int) async throws {
        let place = try Place()
        let notes = place["Notes"]
        try FileManager.default.createDirectory(at: notes, withIntermediateDirectories: false)
        try Data("1".utf8).write(to: notes.appending(path: "version"))
        for number in 0..<40 {
            try Data("old".utf8).write(to: notes.appending(path: "old\(number)"))
        }
        let isDone = Atomic(false)
        let saved = Mutex<Set<String>>([])
        let body: @Sendable () throws -> Void = {
            for number in 1...10_000 where !isDone.load(ordering: .relaxed) {
                let name = "new\(number)"
                try Data("new".utf8).write(to: notes.appending(path: name))
                _ = saved.withLock { $0.insert(name) }
                usleep(round.isMultiple(of: 2) ? 40_000 : 5_000)
            }
        }
        async let app: Void = Task.detached(operation: body).value
        let store = VersionedStore(at: notes, .directory(versionFile: "version"))
        let plan = StoreMigrationPlan(current: 2, steps: [StoreStep(from: 1, to: 2) { _ in }])
        for _ in 0..<4 {
            do {
                try StoreMigrator(store).migrate(plan)
            } catch let error as StoreMigrationError {
                #expect(error.code == .storeChanged, "\(error)")
            }
        }
        isDone.store(true, ordering: .relaxed)
        try await app
        let found = try place.names.reduce(into: Set<String>()) {
            $0.formUnion(try FileManager.default.contentsOfDirectory(atPath: place[$1].path))
        }
        #expect(saved.withLock { $0 }.isSubset(of: found))
        #expect(found.isSuperset(of: (0..<40).map { "old\($0)" }))
    }
}
