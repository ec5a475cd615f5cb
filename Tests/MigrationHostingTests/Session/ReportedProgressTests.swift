import Foundation
import Testing

@testable import MigrationHosting

struct ReportedProgressTests {
    @Test func `shows whatever an extension's process says of its progress`() {
        let progress = Progress(totalUnitCount: -1)
        let reported = ReportedProgress(in: progress)
        let counts: [Int64] = [.max, .min, .max - 1, 1 << 62, 1 << 53, 999_983, -1, 0, 1, 7]
        for total in counts {
            for completed in counts {
                reported.show(completed, of: total)
                #expect(progress.totalUnitCount != 0)
                #expect((0...1).contains(progress.fractionCompleted))
            }
        }
        reported.show(3, of: 8)
        #expect(progress.fractionCompleted == 0.375)
    }

    @Test func `shows an extension's own units as long as they are of one total`() {
        let progress = Progress(totalUnitCount: 5_000_000_000)
        progress.completedUnitCount = 5_000_000_000
        let reported = ReportedProgress(in: progress)
        reported.show(3, of: 0)
        #expect(progress.fractionCompleted == 1)
        reported.show(0, of: 10)
        #expect(progress.fractionCompleted == 0)
        for completed: Int64 in [3, 0, 8] {
            reported.show(completed, of: 8)
            #expect(progress.completedUnitCount == completed)
            #expect(progress.totalUnitCount == 8)
        }
        reported.show(1, of: 2)
        #expect(progress.completedUnitCount == ReportedProgress.scale / 2)
        #expect(progress.totalUnitCount == ReportedProgress.scale)
    }
}
