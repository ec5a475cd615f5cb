public import Foundation
public import StoreMigration

/// The schemas in which the app has kept its reminders, and the way from each to the current one.
///
/// Reminders are a SQLite file, so no step is written for them: what leads to the current schema is
/// inferred from the schema itself, which the app has anyway for a new file.
public enum RemindersFormat {
    /// The SQL that makes a new file.
    static let schema = """
        PRAGMA user_version = 2;
        CREATE TABLE reminder (
            note TEXT PRIMARY KEY NOT NULL,
            due TEXT NOT NULL CHECK (due LIKE '____-__-__'),
            isDone INTEGER NOT NULL DEFAULT 0
        );
        CREATE INDEX reminderByDue ON reminder(due);
        """

    /// The steps to the current schema, and the making of a file where there is none.
    public static var plan: StoreMigrationPlan {
        get throws {
            StoreMigrationPlan(
                current: 2,
                steps: [
                    // In version 1 a reminder was of a day, which could be missing, and was never done.
                    .inferred(
                        from: 1,
                        to: 2,
                        try StoreSchema(schema),
                        renames: ["reminder.day": "reminder.due"]
                    )
                ],
                create: { try $0.execute(schema) }
            )
        }
    }

    /// Checks that reminders can be brought to the current schema; a missing file can.
    ///
    /// - Throws: ``StoreError/unknownVersion(_:)``; errors of files.
    public static func check(_ file: URL) throws {
        guard FileManager.default.fileExists(atPath: file.path) else { return }
        let store = store(at: file)
        switch try plan.assess(store) {
        case .current, .steps: break
        case .impossible, .notInferable, .unknownVersion, .newer:
            throw StoreError.unknownVersion(try store.version?.text ?? "")
        }
    }

    static func store(at file: URL) -> VersionedStore {
        VersionedStore(at: file, .sqlite(.userVersion))
    }
}
