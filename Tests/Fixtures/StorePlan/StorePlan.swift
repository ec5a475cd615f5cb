import CSQLite
import Foundation
import Glibc
import StoreMigration

/// Migrates stores of notes of every kind from version 1 to version 3.
///
/// The name of a store says more: the steps of `light` stores work in place, those of `slow` ones
/// take a while, those of `resized` ones change the size of pages, the last step of `inferred` ones
/// and all steps of `schema` ones are inferred, and `hooked` ones have a hook, which dies if there
/// is a file `<store>.die`.
@main
struct StorePlan: StorePlanProgram {
    private static let name = URL(filePath: CommandLine.arguments.last { $0.contains("/") } ?? "")
        .lastPathComponent

    static var plan: StoreMigrationPlan {
        get throws {
            name.contains("schema")
                ? try StoreMigrationPlan(inferredFrom: StoreSchema(schema))
                : try StoreMigrationPlan(current: 3, steps: steps, released: [0])
        }
    }

    private static var steps: [StoreStep] {
        get throws {
            if name.contains("light") {
                return [
                    .inPlace(from: 1, to: 2) { try $0.execute(addition(of: "tags")) },
                    .inPlace(from: 2, to: 3) { try $0.execute(addition(of: "folder")) },
                ]
            }
            let first = StoreStep(from: 1, to: 2) { try add("tags", to: $0) }
            if name.contains("inferred") {
                return try [first, .inferred(from: 2, to: 3, StoreSchema(schema))]
            }
            let second = StoreStep(from: 2, to: 3) {
                if name.contains("slow") { usleep(200_000) }
                if name.contains("resized") { try resize($0) }
                try add("folder", to: $0)
            }
            return [first, second]
        }
    }

    /// To this a table of notes is rebuilt.
    private static let schema = """
        PRAGMA user_version = 3;
        CREATE TABLE note (
            id INTEGER PRIMARY KEY, title TEXT NOT NULL, tags TEXT NOT NULL DEFAULT '', folder TEXT
        );
        CREATE INDEX byTitle ON note(title);
        """

    static func store(at url: URL) -> VersionedStore {
        switch url.pathExtension {
        case "json": VersionedStore(at: url, .json(key: "version"))
        case "notes": VersionedStore(at: url, .directory(versionFile: "version"))
        default: VersionedStore(at: url, .sqlite(.userVersion))
        }
    }

    static var afterMigration: (@Sendable (URL) throws -> Void)? {
        guard name.contains("hooked") else { return nil }
        return { url in
            if access(url.path + ".die", F_OK) == 0 { kill(getpid(), SIGKILL) }
        }
    }

    private static func addition(of field: String) -> String {
        "ALTER TABLE note ADD COLUMN \(field) TEXT NOT NULL DEFAULT ''"
    }

    private static func resize(_ copy: StoreCopy) throws {
        var database: OpaquePointer?
        defer { sqlite3_close(database) }
        let statements = "PRAGMA journal_mode = DELETE; PRAGMA page_size = 1024; VACUUM"
        guard sqlite3_open(copy.url.path, &database) == SQLITE_OK,
            sqlite3_exec(database, statements, nil, nil, nil) == SQLITE_OK
        else { throw CocoaError(.fileWriteUnknown) }
    }

    /// Adds a field to every note.
    private static func add(_ field: String, to copy: StoreCopy) throws {
        switch copy.url.pathExtension {
        case "json":
            let data = try Data(contentsOf: copy.url)
            let object = try JSONSerialization.jsonObject(with: data) as? [String: Any] ?? [:]
            let changed = try JSONSerialization.data(
                withJSONObject: object.merging([field: ""]) { $1 },
                options: .sortedKeys
            )
            try changed.write(to: copy.url)
        case "notes": try Data().write(to: copy.url.appending(path: field))
        default: try copy.execute(addition(of: field))
        }
    }
}
