import Foundation
import MigrationArchive
import MigrationCore
import TestSupport
import Testing

/// Kills the real command at its calls to the system, one after the other.
@Suite(
    .scratchDirectory,
    .enabled(if: Tracer.canTrace, "strace is missing, may not trace, or migrate is not built")
)
struct KillTests {
    enum Way: CaseIterable {
        case exchange, journaled

        /// What strace makes of the calls before it kills: without an exchange the journal commits.
        var faults: [String] {
            self == .exchange ? [] : ["-e", "inject=renameat2:error=EINVAL"]
        }
    }

    /// The calls at which it dies; each is counted by itself.
    private static let calls = ["mkdirat", "renameat", "renameat2", "unlinkat", "fsync", "syncfs"]

    /// Imports, killed at the `number`th call of its kind.
    private func importKilled(
        _ commit: Way,
        _ call: String,
        at number: Int,
        _ places: Places
    ) throws -> Tracer.End {
        let death = "inject=\(call):signal=SIGKILL:when=\(number)"
        return try Tracer.run(
            ["-f", "-qq", "-o", "/dev/null"] + commit.faults + ["-e", death] + [
                Tracer.command.path, "import", places.archive.url.path, "--replace",
                "--threads", "1", "--progress", "none", "--container", places.destination.url.path,
            ]
        )
    }

    @Test(arguments: Way.allCases, calls)
    func `leaves the old container or the new one, wherever it dies`(
        _ commit: Way,
        _ call: String
    ) async throws {
        let places = try await Places.withSmallArchive()
        let new = try TreeSnapshot(of: places.source)
        var outcomes: Set<String> = []
        var number = 0
        while number < 200 {
            number += 1
            let old = try places.makeOldDestination()
            let end = try importKilled(commit, call, at: number, places)
            let before = try places.contents(of: places.destination)
            if commit == .exchange { #expect(before == old || before == new, "call \(number)") }
            let record = try places.destinationContainer.importRecord()
            let after = try places.contents(of: places.destination)
            switch record?.outcome {
            case .success?:
                #expect(after.differences(from: new) == [], "call \(number)")
                outcomes.insert("new")
            case .interrupted?:
                #expect(after.differences(from: old) == [], "call \(number)")
                outcomes.insert("old")
            case nil:
                // It died before it said that it would begin.
                #expect(after.differences(from: old) == [], "call \(number)")
            case .failure?:
                Issue.record("call \(number): \(String(describing: record))")
            }
            _ = try await MigrationHost().exportContainer(
                places.destinationContainer,
                to: .file(path: (places.root / "again").bytes, replacingExisting: true)
            )
            let names = try places.root.names()
            #expect(names == ["again", "app.migration", "destination", "source"], "call \(number)")
            let kept = try places.bookkeepingNames()
            #expect(kept == [] || kept == ["import-status.json"], "call \(number): \(kept)")
            try removeDestination(places)
            if end == .exited(0) { break }
            #expect(end == .killed, "call \(number)")
        }
        #expect(outcomes.contains("new"))
        #expect(number < 200)
    }

    private func removeDestination(_ places: Places) throws {
        let locked = places.destination / "Library/locked"
        if locked.exists { try locked.setMode(0o700) }
        try FileManager.default.removeItem(at: places.destination.url)
    }
}
