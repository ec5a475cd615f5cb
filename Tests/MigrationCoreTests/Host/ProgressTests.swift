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

    @Test func `shows whatever an extension's process says of its progress`() {
        let progress = Progress(totalUnitCount: -1)
        let counts: [Int64] = [.max, .min, .max - 1, 1 << 62, 1 << 53, -1, 0, 1, 7]
        for total in counts {
            for completed in counts {
                progress.show(completed, of: total)
                #expect(progress.completedUnitCount >= 0)
                #expect(progress.totalUnitCount != 0)
                #expect(progress.fractionCompleted >= 0)
            }
        }
        progress.show(3, of: 8)
        #expect(progress.completedUnitCount == 3)
        #expect(progress.totalUnitCount == 8)
    }
}
