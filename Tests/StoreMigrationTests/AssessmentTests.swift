import Foundation
import StoreMigration
import TestSupport
import Testing

/// The verdicts of a plan on stores.
@Suite(.scratchDirectory)
struct AssessmentTests {
    private static let step: @Sendable (StoreCopy) throws -> Void = { _ in
        Issue.record("no step may run")
    }

    private let plan = StoreMigrationPlan(
        current: "3.0",
        steps: [
            StoreStep(from: "1.0", to: "2.0", step), StoreStep(from: "2.0", to: "3.0", step),
            StoreStep(from: "0.5", to: "0.6", step), StoreStep(from: "3.5", to: "4.0", step),
        ],
        released: ["beta"]
    )

    private func text(_ assessment: StoreMigrationPlan.Assessment) -> String {
        switch assessment {
        case .current: "current"
        case .steps(let steps): steps.map(\.description).joined(separator: ", ")
        case .impossible(let missing): "missing after \(missing)"
        case .unknownVersion: "unknown"
        case .newer: "newer"
        case .notInferable(let reasons): reasons.map(\.message).joined()
        }
    }

    @Test(
        arguments: [
            ("3.0", "current"), ("1.0", "1.0 to 2.0, 2.0 to 3.0"), ("2.0", "2.0 to 3.0"),
            ("0.5", "missing after 0.6"), ("beta", "missing after beta"),
            ("3.1", "newer"), ("10", "newer"), ("3.0.1", "newer"), ("4.0", "newer"),
            ("3.5", "newer"),
            ("3", "unknown"), ("", "unknown"), ("1.5", "unknown"), ("3.x", "unknown"),
        ] as [(StoreVersion, String)]
    )
    func `knows what a version needs`(_ version: StoreVersion, _ expected: String) {
        #expect(text(plan.assess(version: version)) == expected)
    }

    @Test func `a circle of steps leads nowhere`() {
        let plan = StoreMigrationPlan(
            current: 9,
            steps: [StoreStep(from: 1, to: 2, Self.step), StoreStep(from: 2, to: 1, Self.step)]
        )
        #expect(text(plan.assess(version: 1)) == "missing after 1")
    }

    @Test(arguments: [
        (1, StoreMigrationError.Code.notCurrent), (4, .newer), (2, .missingStep),
        (0, .unknownVersion), (-1, .unknownVersion),
    ])
    func `opens only a current store, and touches no other`(
        _ version: Int,
        _ code: StoreMigrationError.Code
    ) throws {
        let place = try Place()
        let plan = StoreMigrationPlan(
            current: 3,
            steps: [StoreStep(from: 1, to: 3, Self.step)],
            released: [2]
        )
        try place.makeCrashedDatabase("db", version: version)
        let before = try place.files
        let store = VersionedStore(at: place["db"], .sqlite(.userVersion))
        expect(code) { try plan.open(store) { _ in _ = Issue.record("it is opened") } }
        if code != .notCurrent {
            expect(code) { try StoreMigrator(store).migrate(plan) }
        }
        #expect(try place.files == before)
    }

    @Test func `a step that is missing leaves the store untouched`() throws {
        let place = try Place()
        try TestDatabase.make(at: place["db"], version: 1)
        let before = try place.files
        let plan = StoreMigrationPlan(current: 3, steps: [StoreStep(from: 1, to: 2, Self.step)])
        let store = VersionedStore(at: place["db"], .sqlite(.userVersion))
        expect(.missingStep) { try StoreMigrator(store).migrate(plan) }
        expect(.missingStep) { try plan.open(store) { _ in } }
        #expect(try place.files == before)
    }

    @Test func `opens a current store without changing a file of it`() throws {
        let place = try Place()
        try place.makeCrashedDatabase("db", version: 3)
        let before = try place.files
        let store = VersionedStore(at: place["db"], .sqlite(.userVersion))
        #expect(try StoreMigrator(store).migrate(notesPlan()) == .current)
        #expect(try notesPlan().open(store) { $0 } == place["db"])
        #expect(try place.files == before)
    }

    @Test func `says that there is no store`() throws {
        let store = VersionedStore(at: try Place()["none"], .json(key: "version"))
        expect(.missing) { _ = try store.version }
        expect(.missing) { try StoreMigrator(store).migrate(notesPlan()) }
    }
}
