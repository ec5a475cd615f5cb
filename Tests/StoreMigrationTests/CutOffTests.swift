import Foundation
import Glibc
import StoreMigration
import TestSupport
import Testing

/// Kills a program at each of its system calls while it migrates a store.
@Suite(.scratchDirectory, .enabled(if: Injector.isAvailable))
struct CutOffTests {
    enum Kind: String, CaseIterable {
        case database = "db", light = "light.db", hooked = "hooked.db", resized = "resized.db"
        case document = "doc.json", directory = "dir.notes"
    }

    /// Replaces the store by one in the state that a crash leaves a database in.
    private func make(_ kind: Kind, in place: Place) throws {
        for name in try place.names { try FileManager.default.removeItem(at: place[name]) }
        let store = place[kind.rawValue]
        switch kind {
        case .database, .light, .hooked, .resized: try place.makeCrashedDatabase(kind.rawValue)
        case .document: try Data(#"{"note":"Old","version":1}"#.utf8).write(to: store)
        case .directory:
            try FileManager.default.createDirectory(at: store, withIntermediateDirectories: false)
            try Data("1".utf8).write(to: store.appending(path: "version"))
            try Data("Old".utf8).write(to: store.appending(path: "note"))
        }
    }

    /// The version of the store, which must open and have its content.
    private func version(
        _ kind: Kind,
        in place: Place,
        isCutOff: Bool = false
    ) throws -> String {
        let store = place[kind.rawValue]
        switch kind {
        case .database, .light, .hooked, .resized:
            let database = try TestDatabase(at: store)
            // SQLite changes the size of pages without a log only; the next migration brings it back.
            let mode = try database.texts("PRAGMA journal_mode")
            #expect(mode == ["wal"] || isCutOff && kind == .resized)
            #expect(try database.texts("PRAGMA integrity_check") == ["ok"])
            let titles = try database.texts("SELECT title FROM note ORDER BY id")
            #expect(titles == ["Old", "In the log"])
            let columns = try database.texts("SELECT name FROM pragma_table_info('note')")
            let version = try database.texts("PRAGMA user_version").joined()
            let expected = version == "3" ? ["id", "title", "tags", "folder"] : ["id", "title"]
            #expect(columns == expected)
            return version
        case .document:
            let object = try JSONSerialization.jsonObject(with: Data(contentsOf: store))
            let fields = try #require(object as? [String: Any])
            let version = try #require(fields["version"] as? Int)
            #expect(fields["note"] as? String == "Old")
            #expect(fields.count == (version == 3 ? 4 : 2))
            return "\(version)"
        case .directory:
            let version = try String(
                contentsOf: store.appending(path: "version"),
                encoding: .utf8
            ).trimmingCharacters(in: .newlines)
            let names = try FileManager.default.contentsOfDirectory(atPath: store.path)
            let expected: Set = version == "3" ? ["folder", "tags"] : []
            #expect(Set(names) == expected.union(["note", "version"]))
            let note = try Data(contentsOf: store.appending(path: "note"))
            #expect(note == Data("Old".utf8))
            return version
        }
    }

    @Test(arguments: Kind.allCases)
    func `leaves the old store or the migrated one, wherever it dies`(_ kind: Kind) throws {
        let place = try Place()
        let store = place[kind.rawValue].path
        try make(kind, in: place)
        let whole = try Injector.run("none", at: "none", 0, on: store)
        #expect(whole.code == 0)
        #expect(try version(kind, in: place) == "3")
        var versions: Set<String> = []
        var (tried, passed) = (0, 0)
        for (call, count) in whole.counts.sorted(by: { $0.key < $1.key }) {
            for number in 1...count {
                passed += 1
                let isTried = Injector.decisive.contains(call) || passed.isMultiple(of: 48)
                guard isTried || Thoroughness.isFull else { continue }
                tried += 1
                try make(kind, in: place)
                let run = try Injector.run("kill", at: call, number, on: store)
                #expect(run.wasKilled == (run.faults > 0), "\(call) \(number)")
                // Files of the dead program must not confuse the process that opens the store.
                let seen = try version(kind, in: place, isCutOff: true)
                #expect(seen == "1" || seen == "3", "\(call) \(number)")
                versions.insert(seen)
                let next = try Injector.run("none", at: "none", 0, on: store)
                #expect(next.code == 0, "\(call) \(number): \(next.output)")
                #expect(try version(kind, in: place) == "3", "\(call) \(number)")
                #expect(try place.names == [kind.rawValue], "\(call) \(number)")
            }
        }
        Points.note("kills of store migrations", tried: tried, failed: 0)
        #expect(versions == ["1", "3"])
    }

    /// Ends a migration in its hook, when the migrated store is in place.
    private func dieInHook(_ store: String, in place: Place) throws {
        try Data().write(to: place[store + ".die"])
        let run = try Injector.run("none", at: "none", 0, on: place[store].path)
        #expect(run.wasKilled)
        try FileManager.default.removeItem(at: place[store + ".die"])
    }

    private func makeHooked(_ store: String, in place: Place) throws -> VersionedStore {
        if store.hasSuffix("json") {
            try Data(#"{"note":"Old","version":1}"#.utf8).write(to: place[store])
            return VersionedStore(at: place[store], .json(key: "version"))
        }
        try place.makeCrashedDatabase(store)
        return VersionedStore(at: place[store], .sqlite(.userVersion))
    }

    @Test(arguments: ["hooked.db", "hooked.json"])
    func `a migrated store that the hook has not seen is completed first`(
        _ name: String
    ) throws {
        let place = try Place()
        let store = try makeHooked(name, in: place)
        try dieInHook(name, in: place)
        #expect(try store.version == 3)
        let plan = StoreMigrationPlan(current: 3, steps: [])
        expect(.interrupted) { try plan.open(store) { _ in } }
        #expect(try StoreFacts(of: place[name]).isInterrupted)
        let calls = place["calls"]
        let migrator = StoreMigrator(store) { try Data($0.path.utf8).write(to: calls) }
        #expect(try migrator.migrate(plan) == .completed)
        #expect(try Data(contentsOf: calls) == Data(place[name].path.utf8))
        #expect(try plan.open(store) { $0 } == place[name])
        #expect(try place.names == [name, "calls"])
    }

    @Test(arguments: ["hooked.db", "hooked.json"])
    func `another release that finds it begins with the old store`(_ name: String) throws {
        let place = try Place()
        let store = try makeHooked(name, in: place)
        try dieInHook(name, in: place)
        let plan = StoreMigrationPlan(
            current: 4,
            steps: [
                StoreStep(from: 1, to: 4) {
                    if !name.hasSuffix("json") { try $0.execute("ALTER TABLE note ADD x TEXT") }
                }
            ]
        )
        #expect(try StoreMigrator(store).migrate(plan) == .migrated(from: 1))
        #expect(try store.version == 4)
        #expect(try place.names == [name])
        guard name.hasSuffix("db") else { return }
        let columns = try TestDatabase(at: place[name])
            .texts("SELECT name FROM pragma_table_info('note')")
        #expect(columns == ["id", "title", "x"])
    }

    @Test func `another release keeps what was written into the migrated store`() throws {
        let place = try Place()
        let store = try makeHooked("hooked.db", in: place)
        try dieInHook("hooked.db", in: place)
        try TestDatabase(at: place["hooked.db"]).run("INSERT INTO note (title) VALUES ('New')")
        let plan = StoreMigrationPlan(
            current: 4,
            steps: [StoreStep(from: 3, to: 4) { try $0.execute("ALTER TABLE note ADD x TEXT") }]
        )
        #expect(try StoreMigrator(store).migrate(plan) == .migrated(from: 3))
        let titles = try TestDatabase(at: place["hooked.db"]).texts("SELECT title FROM note")
        #expect(titles == ["Old", "In the log", "New"])
    }
}

/// Runs the built plan so that one of its calls to the system kills it.
private enum Injector {
    /// The calls after which another process sees other names.
    static let decisive: Set = [
        "mkdirat", "renameat", "renameat2", "fsync", "fdatasync", "ftruncate", "unlink", "unlinkat",
    ]

    struct Run {
        let code: Int32?
        let output: String
        let counts: [String: Int]
        let faults: Int
        var wasKilled: Bool { code == nil }
    }

    private static let products = Bundle.main.bundleURL

    static let isAvailable: Bool =
        FileManager.default.isExecutableFile(
            atPath: products.appending(path: "FaultInjector").path
        ) && (try? run("none", at: "none", 0, on: "/dev/null"))?.code == 1

    static func run(
        _ fault: String,
        at call: String,
        _ number: Int,
        on store: String
    ) throws -> Run {
        let report = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: report) }
        let process = Process()
        let output = Pipe()
        process.executableURL = products.appending(path: "FaultInjector")
        process.environment = ProcessInfo.processInfo.environment.merging(
            ["ASAN_OPTIONS": "detect_leaks=0", "TSAN_OPTIONS": "atexit_sleep_ms=0"]
        ) { $1 }
        process.arguments = [
            report.path, (store as NSString).deletingLastPathComponent, fault, call,
            "\(number)", "\(number)", products.appending(path: "store-plan").path,
            "--store", store,
        ]
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        let said = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        let lines = try String(contentsOf: report, encoding: .utf8).split(separator: "\n")
        var counts: [String: Int] = [:]
        for line in lines {
            let words = line.split(separator: " ")
            if words.count == 2 { counts[String(words[0])] = Int(words[1]) }
        }
        let faults = counts.removeValue(forKey: "faults") ?? 0
        let isKilled = process.terminationReason == .uncaughtSignal
        return Run(
            code: isKilled ? nil : process.terminationStatus,
            output: String(decoding: said, as: UTF8.self),
            counts: counts,
            faults: faults
        )
    }
}
