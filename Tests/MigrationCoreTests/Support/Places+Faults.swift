import Foundation
import MigrationCore
import TestSupport
import Testing

// Operations of the built command that go wrong, and what must hold after them.

extension Places {
    /// Replaces the destination by the archive's content, with a fault on the way.
    func runImport(
        injector: FaultInjector,
        withoutExchange: Bool
    ) throws -> FaultInjector.Run {
        try injector.run(
            [
                "import", archive.url.path, "--replace", "--threads", "1", "--progress", "none",
                "--container", destination.url.path,
            ],
            countingFrom: root.url.path,
            withoutExchange: withoutExchange
        )
    }

    /// Removes the destination, where there is one, with what forbids that.
    func removeDestination() throws {
        guard destination.exists else { return }
        let locked = destination / "Library/locked"
        if locked.exists { try locked.setMode(0o700) }
        try FileManager.default.removeItem(at: destination.url)
    }

    /// Exports the source to `path`, with a fault on the way.
    func runExport(
        to path: BytePath,
        options: [String] = [],
        injector: FaultInjector
    ) throws -> FaultInjector.Run {
        try injector.run(
            [
                "export", "--container", source.url.path, "--threads", "1", "--progress", "none",
                "--out", path.url.path,
            ] + options,
            countingFrom: root.url.path
        )
    }

    /// Expects the container that its status tells of, and that the next command cleans up.
    func expectOldOrNew(
        _ old: TreeSnapshot,
        _ new: TreeSnapshot,
        at point: Comment
    ) async throws -> ImportRecord.Outcome? {
        let outcome = try destinationContainer.importRecord()?.outcome
        let contents = try contents(of: destination)
        #expect(contents.differences(from: outcome == .success ? new : old) == [], point)
        _ = try await MigrationHost().export(
            destinationContainer,
            to: .file(path: root / "again", replacesExisting: true)
        )
        let names = try root.names()
        #expect(names == ["again", "app.migration", "destination", "source"], point)
        let kept = try bookkeepingNames()
        #expect(kept == [] || kept == ["import-status.json"], point)
        return outcome
    }
}
