import Foundation
import StoreMigration

/// Migrates stores of notes, whatever they are made of, from version 1 to version 3.
@main
struct StorePlan: StorePlanProgram {
    static let plan = StoreMigrationPlan(
        current: 3,
        steps: [
            StoreStep(from: 1, to: 2) { try add("tags", to: $0) },
            StoreStep(from: 2, to: 3) { try add("folder", to: $0) },
        ],
        released: [0]
    )

    static func store(at url: URL) -> VersionedStore {
        switch url.pathExtension {
        case "json": VersionedStore(at: url, .json(key: "version"))
        case "notes": VersionedStore(at: url, .directory(versionFile: "version"))
        default: VersionedStore(at: url, .sqlite(.userVersion))
        }
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
        default: try copy.execute("ALTER TABLE note ADD COLUMN \(field) TEXT NOT NULL DEFAULT ''")
        }
    }
}
