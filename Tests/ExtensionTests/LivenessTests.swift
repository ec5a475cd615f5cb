import Foundation
import MigrationArchive
import MigrationHosting
import Synchronization
import TestSupport
import Testing

/// How a host knows that an extension works: it stops none that works, and is not late to stop one
/// that doesn't (reference rules 11 and 24).
@Suite(.scratchDirectory)
struct LivenessTests {
    @Test(
        arguments: Hosting.allCases,
        [
            "step-child 5500", "copied-progress\nstep 5500", "progress 0 -1\nstep 5500",
            "new-progress\ngrow 5500 Documents/a", "grow 5500 Documents/a",
            "grow 5500 group:shared/a", "read-on 5500 in:script", "stall 5500 Documents/fifo",
        ]
    )
    func `an import that works goes on for longer than the limit`(
        _ hosting: Hosting,
        _ script: String
    ) async throws {
        let stage = try Stage()
        try await stage.makeArchive(script)
        var scripted = stage.scripted(hosting)
        scripted.hangTimeout = .seconds(4)
        scripted.applicationGroups = ["shared": try stage.makeGroup().url]
        try await stage.importArchive(scripted)
        let outcome = try stage.container(at: stage.destination).importRecord()?.outcome
        #expect(outcome == .success)
    }

    @Test func `an export that converts goes on for longer than the limit`() async throws {
        let stage = try Stage("grow 5500 tmp:converted\nappend tmp:converted")
        var scripted = stage.scripted()
        scripted.hangTimeout = .seconds(4)
        #expect(try await stage.export(scripted).totals.files == 1)
    }

    @Test(
        arguments: Hosting.allCases,
        ["spin 20000", "new-progress\nsleep-on 20000", "print-on 20000"]
    )
    func `an import that does nothing is stopped`(
        _ hosting: Hosting,
        _ script: String
    ) async throws {
        // For an extension in this process, printed bytes look like written ones.
        if hosting == .inProcess, script.hasPrefix("print") { return }
        let error = try await failure(of: script, hosting, after: .milliseconds(300))
        #expect(error?.code == .extensionHung)
        #expect(error?.message.contains("did not move for 300ms, nor did it read") == true)
    }

    @Test(arguments: ["rewrite 60000 Documents/a", "read-on 60000 in:script"])
    func `an import that never gets on is stopped too`(_ script: String) async throws {
        let error = try await failure(of: script, .ownProcess, after: .milliseconds(300))
        #expect(error?.code == .extensionHung)
    }

    @Test(arguments: Hosting.allCases)
    func `the caller sees how far children of a progress are`(_ hosting: Hosting) async throws {
        let stage = try Stage()
        try await stage.makeArchive("step-child 200 group:shared/permission")
        var scripted = stage.scripted(hosting)
        let group = try stage.makeGroup()
        scripted.applicationGroups = ["shared": group.url]
        let hosted = scripted
        let progress = Progress(totalUnitCount: -1)
        let importing = Task { try await stage.importArchive(hosted, progress: progress) }
        // The limit only matters if the event never comes.
        let end = ContinuousClock.now.advanced(by: .seconds(1800))
        while !(0.1...0.9).contains(progress.fractionCompleted), ContinuousClock.now < end {
            try await Task.sleep(for: .milliseconds(5))
        }
        #expect((0.1...0.9).contains(progress.fractionCompleted))
        try (group / "permission").write("")
        let report = try await importing.value
        #expect(progress.fractionCompleted == 1)
        #expect(report.appExtension?.findings == [])
    }

    private func failure(
        of script: String,
        _ hosting: Hosting,
        after limit: Duration
    ) async throws -> MigrationError? {
        let stage = try Stage()
        try await stage.makeArchive(script)
        var scripted = stage.scripted(hosting)
        scripted.hangTimeout = limit
        let hosted = scripted
        return await #expect(throws: MigrationError.self) { try await stage.importArchive(hosted) }
    }
}
