import Foundation
import TestSupport
import Testing

/// `migrate store check` and `migrate store upgrade`, with a plan's program.
@Suite(.scratchDirectory)
struct StoreTests {
    private static let plan = Bundle.main.bundleURL.appending(path: "store-plan").path

    /// A work place with databases of versions 1, 3 and 9.
    private func place() throws -> Workplace {
        let place = try Workplace()
        let made = try place.shell(
            """
            for version in 0 1 3 9; do
                python3 -c "import sqlite3
            db = sqlite3.connect('v$version.db')
            db.executescript('CREATE TABLE note (title TEXT); PRAGMA user_version = $version;')"
            done
            """
        )
        try #require(made.exitCode == 0, "\(made.errors)")
        return place
    }

    private func version(_ store: String, in place: Workplace) throws -> String {
        let script = """
            python3 -c "import sqlite3
            db = sqlite3.connect('\(store)')
            print(db.execute('PRAGMA user_version').fetchone()[0], end='')"
            """
        return try place.shell(script).output
    }

    @Test func `migrates a store, and shows what it would do first`() throws {
        let place = try place()
        let command = "$migrate store upgrade --store v1.db --plan '\(Self.plan)'"
        let dry = try place.shell("\(command) --dry-run")
        #expect(dry.exitCode == 0, "\(dry.errors)")
        #expect(dry.output == "version 1 would become version 3\n  step 1 to 2\n  step 2 to 3\n")
        #expect(try version("v1.db", in: place) == "1")
        let result = try place.shell("\(command) && \(command) --json")
        #expect(result.exitCode == 0, "\(result.errors)")
        #expect(result.output.hasPrefix("migrated from version 1 to version 3\n"))
        #expect(result.output.contains(#""outcome" : "current""#))
        #expect(try version("v1.db", in: place) == "3")
    }

    @Test(arguments: [
        ("v9", 1, "newer program"), ("v0", 1, "no step leads on from version '0'"),
        ("none", 1, "there is no store"),
    ])
    func `says why it can't migrate a store`(
        _ store: String,
        _ code: Int32,
        _ reason: String
    ) throws {
        let place = try place()
        let result = try place.shell(
            "$migrate store upgrade --store \(store).db --plan '\(Self.plan)'"
        )
        #expect(result.exitCode == code)
        #expect(result.errors.hasPrefix("migrate: error: store upgrade \(store).db: "))
        #expect(result.errors.contains(reason), "\(result.errors)")
        guard store != "none" else { return }
        #expect(try version("\(store).db", in: place) == String(store.dropFirst()))
        let dry = try place.shell(
            "$migrate store upgrade --store \(store).db --plan '\(Self.plan)' --dry-run"
        )
        #expect(dry.exitCode == 1 && dry.errors.isEmpty, "\(dry.errors)")
    }

    @Test func `says that others use the store`() throws {
        let result = try place().shell(
            """
            python3 -c "import sqlite3, subprocess, sys
            db = sqlite3.connect('v1.db')
            db.execute('BEGIN IMMEDIATE')
            sys.exit(subprocess.call(sys.argv[1:]))" \
            $migrate store upgrade --store v1.db --plan '\(Self.plan)'
            """
        )
        #expect(result.exitCode == 75, "\(result.errors)")
    }

    @Test(arguments: ["/bin/true", "/bin/false", "./none", "./v1.db"])
    func `says that a program is not a plan`(_ program: String) throws {
        let result = try place().shell(
            "$migrate store upgrade --store v1.db --plan \(program)"
        )
        #expect(result.exitCode == 1)
        #expect(result.errors.contains("the plan "), "\(result.errors)")
    }

    @Test func `passes on what a plan prints besides`() throws {
        let result = try place().shell(
            """
            printf '#!/bin/sh\\necho hello; exec "%s" "$@"\\n' '\(Self.plan)' > plan; chmod +x plan
            $migrate store upgrade --store v1.db --plan ./plan
            """
        )
        #expect(result.exitCode == 0)
        #expect(result.errors == "    hello\n")
    }

    @Test func `shows what stores are made of`() throws {
        let place = try place()
        let shown = try place.shell(
            """
            echo '{"version": 2}' > doc.json; mkdir dir
            for store in v9.db doc.json dir; do $migrate store check --store $store; done
            $migrate store check --store v9.db --json
            """
        )
        #expect(shown.exitCode == 0, "\(shown.errors)")
        for line in [
            "kind          sqlite", "user_version  9", "kind     json", "version  2",
            "kind  directory", #""kind" : "sqlite""#, #""userVersion" : 9"#,
        ] {
            #expect(shown.output.contains(line), "\(line): \(shown.output)")
        }
        let broken = try place.shell("echo text > text; $migrate store check --store text")
        #expect(broken.exitCode == 65)
        #expect(broken.errors.contains("is not a JSON object"), "\(broken.errors)")
    }

    @Test func `brings a store to a schema without a plan`() throws {
        let place = try place()
        let command = "--store v1.db --schema notes.sql"
        let result = try place.shell(
            """
            echo 'PRAGMA user_version = 2;
            CREATE TABLE note (title TEXT NOT NULL, tags TEXT);' > notes.sql
            $migrate store check \(command) && $migrate store upgrade \(command) --dry-run &&
                $migrate store upgrade \(command) --json && $migrate store check \(command)
            """
        )
        #expect(result.exitCode == 0, "\(result.errors)")
        for line in [
            "schema        inferred: the steps work on a copy, which needs ",
            "  step: rebuild table note\n  step: set version 2\n",
            "version 1 would become version 2\n  step rebuild table note\n  step set version 2\n"
                + "  the steps work on a copy, which needs ",
            #""outcome" : "migrated""#, #""verdict" : "inferred""#, #""way" : "copy""#,
            "schema        current: the store has this schema",
        ] {
            #expect(result.output.contains(line), "\(line): \(result.output)")
        }
        #expect(try version("v1.db", in: place) == "2")
    }

    @Test(arguments: [
        ("", 64, "--plan"), ("--schema notes.sql --plan ./plan", 64, "--plan"),
        ("--schema notes.sql --rename title", 64, "old=new"), ("--drop note.title", 64, "--schema"),
        ("--schema bad.sql", 65, "line 2: DELETE"), ("--schema none.sql", 1, "none.sql"),
        ("--schema notes.sql", 1, "name it with --drop note.title"),
    ])
    func `refuses a schema or hints that lead nowhere`(
        _ flags: String,
        _ code: Int32,
        _ reason: String
    ) throws {
        let place = try place()
        let result = try place.shell(
            """
            echo 'CREATE TABLE note (text TEXT);' > notes.sql
            printf 'CREATE TABLE note (a);\nDELETE FROM note' > bad.sql
            python3 -c "import sqlite3
            db = sqlite3.connect('v1.db'); db.execute(\\"INSERT INTO note VALUES ('x')\\"); db.commit()"
            cp v1.db before; $migrate store upgrade --store v1.db \(flags); code=$?
            cmp v1.db before || exit 99; exit $code
            """
        )
        #expect(result.exitCode == code, "\(result.errors)")
        #expect(result.errors.contains(reason), "\(result.errors)")
    }

    @Test func `shows what a plan would do whose steps are inferred`() throws {
        let place = try place()
        let result = try place.shell(
            """
            python3 -c "import sqlite3
            db = sqlite3.connect('schema.db')
            db.executescript('CREATE TABLE note (id INTEGER PRIMARY KEY, title TEXT);'
                'INSERT INTO note VALUES (1, NULL); PRAGMA user_version = 1')"
            upgrade="$migrate store upgrade --store schema.db --plan \(Self.plan)"
            $upgrade --dry-run && exit 99
            python3 -c "import sqlite3
            db = sqlite3.connect('schema.db')
            db.execute('DELETE FROM note'); db.commit()"
            $upgrade --dry-run && $upgrade && $upgrade --dry-run
            """
        )
        #expect(result.exitCode == 0, "\(result.errors)")
        let lines = result.output.split(separator: "\n")
        #expect(lines.first == "no steps lead from version 1 to version 3")
        #expect(lines.dropFirst().first?.hasPrefix("  found: ") == true)
        #expect(lines.dropFirst(2).first == "version 1 would become version 3")
        #expect(lines.last?.contains("current") == true)
    }

    @Test(
        .enabled(if: Machine.isRoot, "needs root to mount a file system"),
        arguments: ["--schema notes.sql", "--plan '\(plan)'"]
    )
    func `refuses what the disk has no room for, a table that is rebuilt included`(_ way: String)
        throws
    {
        let place = try place()
        let result = try place.shell(
            """
            mkdir small && mount -t tmpfs -o size=5m none small || exit 99
            python3 -c "import sqlite3
            db = sqlite3.connect('small/inferred.db')
            db.execute('CREATE TABLE note (id INTEGER PRIMARY KEY, title TEXT)')
            db.execute('INSERT INTO note VALUES (1, zeroblob(1400000))')
            db.execute('PRAGMA user_version = 1')
            db.commit()"
            echo 'CREATE TABLE note (id INTEGER PRIMARY KEY, title TEXT NOT NULL);' > notes.sql
            cp small/inferred.db before
            $migrate store upgrade --store small/inferred.db \(way); code=$?
            cmp small/inferred.db before || code=98; ls -A small; umount small; exit $code
            """
        )
        if result.exitCode == 99 { try Test.cancel("mounting is not allowed here") }
        #expect(result.exitCode == 73, "\(result.errors)")
        #expect(result.output == "inferred.db\n")
        let error = try #require(result.errors.firstMatch(of: /: (\d+) bytes are needed beside it/))
        #expect(try #require(Int(error.1)) > 4_200_000)
    }

    @Test func `says whether a model can open a store of Core Data`() throws {
        let place = try place()
        let made = try place.shell(
            """
            mkdir Notes.momd
            python3 -c "import sqlite3, plistlib
            def hashes(**entities): return {name: bytes([value]) * 32 for name, value in entities.items()}
            models = {'Notes': hashes(Note=1), 'Notes 2': hashes(Note=2, Tag=2)}
            with open('Notes.momd/VersionInfo.plist', 'wb') as file:
                plistlib.dump({'NSManagedObjectModel_CurrentVersionName': 'Notes 2',
                    'NSManagedObjectModel_VersionHashes': models}, file)
            for name, entities in {'old': models['Notes'], 'new': models['Notes 2'], 'odd': hashes(X=1)}.items():
                db = sqlite3.connect(name + '.sqlite')
                db.execute('CREATE TABLE Z_METADATA (Z_VERSION, Z_UUID, Z_PLIST)')
                db.execute('INSERT INTO Z_METADATA VALUES (1, ?, ?)', ('u', plistlib.dumps(
                    {'NSStoreModelVersionHashes': entities, 'NSStoreModelVersionIdentifiers': ['v1']})))
                db.commit()"
            """
        )
        try #require(made.exitCode == 0, "\(made.errors)")
        for (store, code, text) in [
            ("new", 0, "opens the store"), ("old", 1, "version 'Notes' made the store"),
            ("odd", 1, "entities differ: Note, Tag, X"),
        ] as [(String, Int32, String)] {
            let result = try place.shell(
                "$migrate store check --store \(store).sqlite --model Notes.momd"
            )
            #expect(result.exitCode == code, "\(result.errors)")
            #expect(result.output.contains(text), "\(result.output)")
        }
    }
}
