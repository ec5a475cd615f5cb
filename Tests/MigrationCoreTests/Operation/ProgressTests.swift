import Foundation
import TestSupport
import Testing

@testable import MigrationCore

/// The progress that a caller gives to an operation.
@Suite(.scratchDirectory)
struct ProgressTests {
    @Test(arguments: [-1, 0, 3])
    func `takes a total of nothing, whatever the progress had before`(_ total: Int64) async throws {
        let places = try Places()
        let exporting = Progress(totalUnitCount: total)
        try await places.exportSource(progress: exporting)
        #expect(exporting.totalUnitCount == -1)
        #expect(exporting.completedUnitCount == 0)
    }

    @Test func `the updates of an operation can be awaited to its end`() async throws {
        let places = try await Places.withSmallArchive()
        let exporting = MigrationProgress()
        async let exported = places.exportSource(replacing: true, progress: exporting)
        let exportUpdates = await Self.all(of: exporting)
        _ = try await exported
        let importing = MigrationProgress()
        async let imported = places.importArchive(progress: importing)
        let importUpdates = await Self.all(of: importing)
        _ = try await imported
        for updates in [exportUpdates, importUpdates] {
            #expect(updates.last?.fractionCompleted == 1)
            let counts = updates.map(\.completedUnitCount)
            #expect(counts == counts.sorted())
        }
    }

    /// A pipe has no size, but its header says how much content it has.
    @Test(arguments: [true, false])
    func `knows the share of a streamed import, if the header estimates it`(
        _ hasContent: Bool
    ) async throws {
        let places = try Places()
        for number in 0..<(hasContent ? 4 : 0) {
            try (places.source / "\(number)").write(VariedTree.noise(1 << 20))
        }
        try await places.exportSource()
        let pipe = Pipe()
        let archive = try places.archive.contents()
        Thread.detachNewThread {
            try? pipe.fileHandleForWriting.write(contentsOf: archive)
            try? pipe.fileHandleForWriting.close()
        }
        let progress = MigrationProgress()
        let container = try places.destinationContainer
        async let imported = MigrationHost().import(
            .descriptor(pipe.fileHandleForReading.fileDescriptor),
            into: container,
            progress: progress
        )
        let updates = await Self.all(of: progress)
        _ = try await imported
        #expect(updates.last?.fractionCompleted == (hasContent ? 1 : nil))
        #expect(progress.totalUnitCount == (hasContent ? 4 << 20 : -1))
        let counts = updates.map(\.completedUnitCount)
        #expect(counts == counts.sorted())
    }

    @Test func `updates end with an operation that fails, also for a late observer`() async throws {
        let container = try Places().destinationContainer
        let progress = MigrationProgress()
        await #expect(throws: MigrationError.self) {
            try await MigrationHost().export(container, to: .descriptor(-1), progress: progress)
        }
        #expect(await Self.all(of: progress).map(\.fractionCompleted) == [nil])
    }

    private static func all(of progress: MigrationProgress) async -> [MigrationProgress.Update] {
        var updates: [MigrationProgress.Update] = []
        for await update in progress.updates { updates.append(update) }
        return updates
    }
}
