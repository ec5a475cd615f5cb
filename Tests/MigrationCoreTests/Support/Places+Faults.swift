import Foundation
import MigrationCore
import TestSupport
import Testing

// Operations of the built command that fail, and the promises that must hold after them.

extension Places {
    /// Replaces the destination by the archive's content, with a fault on the way.
    func runImport(
        injector: FaultInjector,
        withoutExchange: Bool,
        keepingOld: Bool = false
    ) throws -> FaultInjector.Run {
        try injector.run(
            [
                "import", archive.url.path, "--replace", "--threads", "1", "--progress", "none",
                "--container", destination.url.path,
            ] + (keepingOld ? ["--keep-old", kept.url.path] : []),
            countingFrom: root.url.path,
            withoutExchange: withoutExchange
        )
    }

    /// Where the data that an import replaces is kept.
    var kept: BytePath { root / "kept" }

    /// Removes the destination and its kept data, including directories that forbid it.
    func removeDestination() throws {
        for container in [destination, kept] where container.exists {
            let locked = data(of: container) / "Library/locked"
            if locked.exists { try locked.setMode(0o700) }
            try FileManager.default.removeItem(at: container.url)
        }
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

    /// Expects the container that its status describes, and that the next command cleans up.
    func expectOldOrNew(
        _ old: TreeSnapshot,
        _ new: TreeSnapshot,
        at point: Comment,
        keepingOld: Bool = false
    ) async throws -> ImportRecord.Outcome? {
        let outcome = try destinationContainer.importRecord()?.outcome
        let contents = try contents(of: destination)
        #expect(contents.differences(from: outcome == .success ? new : old) == [], point)
        _ = try await MigrationHost().export(
            destinationContainer,
            to: .file(path: root / "again", replacesExisting: true)
        )
        let isKept = keepingOld && outcome == .success
        if isKept { #expect(try self.contents(of: kept).differences(from: old) == [], point) }
        let names = try root.names()
        let expected: [BytePath] =
            ["again", "app.migration", BytePath(destination.lastComponent)]
            + (isKept ? ["kept"] : []) + ["source"]
        #expect(names == expected, point)
        let records = try bookkeepingNames()
        let isOfOne = records == ["import-status.json"] || records == ["import-attempt.json"]
        #expect(records == [] || isOfOne, point)
        return outcome
    }
}
