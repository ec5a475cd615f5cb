import Foundation
import MigrationArchive
import MigrationCore
import TestSupport
import Testing

/// Kills the real command at its calls to the system, one after the other.
@Suite(.scratchDirectory, .injectingFaults)
struct KillTests {
    enum Way: CaseIterable {
        case exchange, journaled
    }

    /// The calls at which it dies; each is counted by itself.
    private static let calls = ["mkdirat", "renameat", "renameat2", "unlinkat", "fsync", "syncfs"]

    @Test(arguments: Way.allCases, calls)
    func `leaves the old container or the new one, wherever it dies`(
        _ commit: Way,
        _ call: String
    ) async throws {
        try await expectOldOrNew(commit, call, keepingOld: false)
    }

    @Test(arguments: Way.allCases, calls)
    func `keeps what it replaces, wherever it dies`(_ commit: Way, _ call: String) async throws {
        try await expectOldOrNew(commit, call, keepingOld: true)
    }

    @Test(arguments: Way.allCases, calls)
    func `leaves the old bundle or the new one, and keeps what it replaces`(
        _ commit: Way,
        _ call: String
    ) async throws {
        try await expectOldOrNew(commit, call, keepingOld: true, bundle: "destination.xcappdata")
    }

    @Test(arguments: calls)
    func `makes a new bundle as a whole, wherever it dies`(_ call: String) async throws {
        let places = try await Places.withSmallArchive(bundle: "destination.xcappdata")
        let new = try TreeSnapshot(of: places.source)
        for number in 1...200 {
            let point: Comment = "call \(number)"
            let run = try places.runImport(
                injector: FaultInjector(.death, at: call, number...number),
                withoutExchange: false
            )
            if places.destination.exists {
                #expect(
                    try MigrationHost().recover(places.destinationContainer).outcome == .nothing
                )
            } else {
                #expect(run.end == .killed, point)
                try await places.importArchive()
            }
            #expect(try places.contents(of: places.destination).differences(from: new) == [], point)
            let names = try places.destination.names()
            #expect(names == [".migration", "AppData", "AppDataInfo.plist"], point)
            let others: [BytePath] = ["app.migration", "destination.xcappdata", "source"]
            #expect(try places.root.names() == others, point)
            try places.removeDestination()
            if run.end == .exited(0) { return }
        }
        Issue.record("it never ended")
    }

    private func expectOldOrNew(
        _ commit: Way,
        _ call: String,
        keepingOld: Bool,
        bundle: BytePath? = nil
    ) async throws {
        let places = try await Places.withSmallArchive(bundle: bundle)
        let new = try TreeSnapshot(of: places.source)
        var outcomes: Set<String> = []
        var number = 0
        while number < 200 {
            number += 1
            let old = try places.makeOldDestination()
            let run = try places.runImport(
                injector: FaultInjector(.death, at: call, number...number),
                withoutExchange: commit == .journaled,
                keepingOld: keepingOld
            )
            let before = try places.contents(of: places.destination)
            if commit == .exchange { #expect(before == old || before == new, "call \(number)") }
            let outcome = try await places.expectOldOrNew(
                old,
                new,
                at: "call \(number)",
                keepingOld: keepingOld
            )
            if outcome == .success { outcomes.insert("new") }
            if outcome == .interrupted { outcomes.insert("old") }
            if case .failure = outcome { Issue.record("call \(number): it can't have failed") }
            try places.removeDestination()
            if run.end == .exited(0) { break }
            #expect(run.end == .killed, "call \(number)")
        }
        #expect(outcomes.contains("new"))
        #expect(number < 200)
    }
}
