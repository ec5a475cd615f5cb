package import Foundation
internal import MigrationSystem

extension SchemaGoal {
    /// Describes what ``migrate(_:progress:)`` would do.
    package func preview(
        of store: VersionedStore
    ) throws -> (StorePlanMessage.Report, SchemaInference?) {
        let inference = try inference(of: store)
        return (try .init(of: store, to: schema, inference, .needed), inference)
    }

    /// Migrates `store` to the schema, and describes what was done.
    package func migrate(
        _ store: VersionedStore,
        progress: Progress?
    ) async throws -> (StorePlanMessage.Report, SchemaInference?) {
        let plan = StoreMigrationPlan(inferredFrom: schema, renames: renames, drops: drops)
        let (version, found) = (try store.version, Monitor<SchemaInference?>(nil))
        let findings = Monitor<[String]>([])
        let migrator = StoreMigrator(store, inferred: { step in found.withLock { $0 = step } })
        let outcome = try await migrator.migrateInBackground(plan, progress: progress) { finding in
            findings.withLock { $0.append(finding) }
        }
        let report = try StorePlanMessage.Report(
            of: store,
            to: schema,
            found.withLock { $0 },
            outcome == .current ? .current : outcome == .completed ? .completed : .migrated,
            from: version,
            findings: findings.withLock { $0 }
        )
        return (report, found.withLock { $0 })
    }
}

extension StorePlanMessage.Report {
    /// Describes what was done, or would be done, to reach a schema.
    fileprivate init(
        of store: VersionedStore,
        to goal: StoreSchema,
        _ inference: SchemaInference?,
        _ outcome: Outcome,
        from version: StoreVersion? = nil,
        findings: [String] = []
    ) throws {
        let now = try version ?? store.version
        let result: Outcome =
            switch inference?.verdict ?? .current {
            case .impossible: .impossible
            case .newer: .newer
            case .current where outcome == .needed: .current
            case .current, .inferred: outcome
            }
        self.init(
            store: store.url.path,
            from: now?.text,
            to: goal.userVersion.map { "\($0)" } ?? now?.text ?? "0",
            steps: inference?.steps.map(\.description) ?? [],
            outcome: result,
            findings: findings
        )
    }

    /// Whether the store can't be migrated, as a dry run finds out.
    package var isRefused: Bool { [.impossible, .newer, .unknownVersion].contains(outcome) }
}
