import Foundation
import MigrationCore
import TestSupport
import Testing

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
}
