internal import MigrationCore
internal import MigrationSystem
package import StoreMigration

/// Facts about a store, and what can open it.
package struct StoreCheckAnswer: Answer, JSONObject {
    package let schema = "migrate/store-check/1"
    private let facts: StoreFacts
    private let model: ModelAnswer?
    private let migration: SchemaAnswer?

    /// - Parameters:
    ///   - facts: The facts about the store.
    ///   - model: How a Core Data model relates to it, if one was given.
    ///   - inference: How a schema relates to it, if one was given.
    ///   - advice: How the program words remedies.
    package init(
        _ facts: StoreFacts,
        model: CoreDataStoreInspector.Verdict?,
        _ inference: SchemaInference?,
        advice: @escaping Advice
    ) {
        self.facts = facts
        self.model = model.map { ModelAnswer($0) }
        migration = inference.map { SchemaAnswer(inference: $0, advice: advice) }
    }

    /// Whether the store is intact, the model can open it, and steps lead to the schema.
    package var isReady: Bool {
        let canMigrate = facts.damage == nil && !facts.isInterrupted && facts.nameCount == 1
        let leadsThere = [nil, .current, .inferred].contains(migration?.inference.verdict)
        return canMigrate && model?.canOpen ?? true && leadsThere
    }

    package var members: JSONMembers {
        [
            "bytes": facts.bytes, "damage": damage, "entities": entities, "findings": findings,
            "interrupted": facts.isInterrupted, "kind": facts.kind, "logBytes": facts.logBytes,
            "migration": migration, "model": model,
            "modelIdentifiers": facts.coreData?.versionIdentifiers,
            "names": facts.nameCount > 1 ? facts.nameCount : nil, "notChecked": notChecked,
            "userVersion": facts.userVersion, "version": facts.documentVersion,
        ]
    }

    private var damage: String? { facts.damage.map { PrintableText.escaping($0) } }
    private var entities: [String]? { facts.coreData?.entityVersionHashes.keys.sorted() }
    private var findings: [String]? { Self.escaping(facts.findings) }
    private var notChecked: [String]? { Self.escaping(facts.notChecked) }

    private static func escaping(_ texts: [String]) -> [String]? {
        texts.isEmpty ? nil : texts.map { PrintableText.escaping($0) }
    }

    package var text: String {
        let rows: [(String, String?)] = [
            ("kind", facts.kind.rawValue), ("size", Self.size(facts.bytes)),
            ("user_version", facts.userVersion.map { "\($0)" }), ("version", facts.documentVersion),
            ("log", facts.logBytes > 0 ? "\(Self.size(facts.logBytes)) in -wal" : nil),
            ("damage", damage), ("findings", findings?.joined(separator: "; ")),
            ("not checked", notChecked?.joined(separator: "; ")),
            (
                "names",
                facts.nameCount > 1
                    ? "\(facts.nameCount) (hard links): an upgrade refuses the store" : nil
            ),
            ("entities", entities?.joined(separator: ", ")),
            ("identifiers", facts.coreData?.versionIdentifiers.joined(separator: ", ")),
            ("model", model?.text),
            ("schema", migration?.summary),
            ("migration", facts.isInterrupted ? "interrupted; the next one completes it" : nil),
        ]
        let known = rows.compactMap { name, value in
            value.map { (name: name, value: PrintableText.escapingRest(of: $0)) }
        }
        return Table(rows: known).text + (migration?.details ?? "")
    }

    private static func size(_ bytes: Int64) -> String { "\(ByteCount(UInt64(clamping: bytes)))" }
}

/// How a Core Data model relates to the store.
struct ModelAnswer: Encodable, Sendable {
    private(set) var canOpen = false
    private(set) var differing: [String]?
    let verdict: String
    private(set) var version: String?

    init(_ verdict: CoreDataStoreInspector.Verdict) {
        switch verdict {
        case .opens: (self.verdict, canOpen) = ("opens", true)
        case .needsMigration(let version):
            (self.verdict, self.version) = ("needs-migration", version)
        case .hasPart(let version): (self.verdict, self.version) = ("has-part", version)
        case .isOfOtherModel(let differing):
            (self.verdict, self.differing) = ("other-model", differing)
        }
    }

    var text: String {
        switch verdict {
        case "opens": "opens the store"
        case "needs-migration":
            "its version '\(version ?? "")' made the store: Core Data must migrate it"
        case "has-part":
            "the store has some entities of its version '\(version ?? "")': a configuration of "
                + "exactly these opens it"
        default:
            "did not make the store; entities differ: " + (differing ?? []).joined(separator: ", ")
        }
    }
}

// MARK: - Schemas

/// How a schema relates to a store.
struct SchemaAnswer: JSONObject, Sendable {
    let inference: SchemaInference
    let advice: Advice

    /// The reasons why no steps lead to the schema, each with its remedy.
    var reasons: [String] {
        inference.reasons.map { reason in
            reason.message + (reason.remedy.flatMap(advice).map { "; " + $0 } ?? "")
        }
    }

    private var bytesNeeded: Int64? {
        inference.verdict == .inferred && !inference.isInPlace ? inference.bytesNeeded : nil
    }

    var members: JSONMembers {
        [
            "bytesNeeded": bytesNeeded, "notes": inference.notes.isEmpty ? nil : inference.notes,
            "reasons": zip(inference.reasons, reasons).map {
                ["code": $0.code, "message": $1, "object": $0.object] as JSONMembers
            },
            "steps": inference.steps.map {
                ["kind": $0.kind, "object": $0.object, "sql": $0.sql] as JSONMembers
            },
            "verdict": inference.verdict,
            "way": inference.verdict == .inferred
                ? (inference.isInPlace ? "inPlace" : "copy") : nil,
        ]
    }

    /// The verdict in words.
    var summary: String {
        switch inference.verdict {
        case .current: "current: the store has this schema"
        case .inferred: "inferred: the steps work \(wayInWords)"
        case .impossible: "impossible"
        case .newer: "newer: a newer program made the store"
        }
    }

    /// Whether the steps work in place or on a copy, and the space that they need.
    var wayInWords: String {
        guard let bytesNeeded else { return "in the store itself" }
        return "on a copy, which needs \(ByteCount(UInt64(clamping: bytesNeeded)))"
    }

    /// Steps, reasons and notes, a line each.
    var details: String {
        let lines =
            inference.steps.map { "step: \($0)" }
            + reasons.map { "reason: \($0)" }
            + inference.notes.map { "note: \($0)" }
        return lines.map { "  " + PrintableText.escaping($0) + "\n" }.joined()
    }
}

// MARK: - Upgrades

/// A migration of a store, or the steps of one.
package struct StoreUpgradeAnswer: Answer, JSONObject {
    package let schema = "migrate/store-upgrade/1"
    package let report: StorePlanMessage.Report
    private let inference: SchemaInference?
    private let advice: Advice

    /// - Parameters:
    ///   - report: What was done, or would be done.
    ///   - inference: How the schema relates to the store; `nil` of a plan.
    ///   - advice: How the program words remedies.
    package init(
        _ report: StorePlanMessage.Report,
        _ inference: SchemaInference?,
        advice: @escaping Advice
    ) {
        (self.report, self.inference, self.advice) = (report, inference, advice)
    }

    private var migration: SchemaAnswer? {
        inference.map { SchemaAnswer(inference: $0, advice: advice) }
    }

    package var members: JSONMembers {
        [
            "findings": report.findings?.isEmpty == false ? report.findings : nil,
            "from": report.from, "migration": migration, "outcome": report.outcome,
            "steps": report.steps, "store": report.store, "to": report.to,
        ]
    }

    package var text: String {
        let isInferred = inference?.verdict == .inferred
        let reasons = migration?.reasons.map { "  reason: \($0)" } ?? []
        let way = isInferred ? migration.map { ["  the steps work \($0.wayInWords)"] } : nil
        // A migration also finds what its steps note.
        let notes = report.outcome == .needed ? inference?.notes ?? [] : []
        let lines =
            [sentence] + reasons + report.steps.map { "  step \($0)" } + (way ?? [])
            + notes.map { "  note: \($0)" } + (report.findings ?? []).map { "  found: \($0)" }
        return lines.map { PrintableText.escaping($0) + "\n" }.joined()
    }

    private var sentence: String {
        let (from, to) = (report.from, report.to)
        let version = from.map { "version \($0)" } ?? "no version"
        return switch report.outcome {
        case .current: "the store is current (version \(to))"
        case .completed: "completed an interrupted migration to version \(to)"
        case .created: "made a store of version \(to)"
        case .missing: "a store of version \(to) would be made"
        case .migrated where from == to: "migrated to the schema (version \(to) stays)"
        case .needed where from == to: "the store would get the schema (version \(to) stays)"
        case .migrated: "migrated from \(version) to version \(to)"
        case .needed: "\(version) would become version \(to)"
        case .newer: "\(version) was made by a newer program than version \(to)"
        case .impossible where inference != nil: "no steps lead to the schema"
        case .impossible: "no steps lead from \(version) to version \(to)"
        case .unknownVersion: "\(version) is unknown to the plan, which leads to version \(to)"
        }
    }
}
