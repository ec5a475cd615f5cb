import Foundation
import MigrationSystem
import Testing

@testable import MigrationConversation

/// The reading of an extension's progress beside its import.
struct ImportProgressObserverTests {
    @Test func `tells what changed, and the last of it at the end`() {
        let progress = Progress(totalUnitCount: 9)
        let seen = Monitor<[Int64]>([])
        let observer = ImportProgressObserver(reading: { progress }) { now in
            seen.withLock { $0.append(now.units.completed) }
        }
        progress.completedUnitCount = 4
        let isSeen = seen.wait(atMost: 30) { $0.count == 2 }
        #expect(isSeen)
        progress.completedUnitCount = 9
        let summary = observer.finish()
        #expect(seen.withLock { $0 } == [0, 4, 9])
        #expect(summary.last.units == (9, 9))
        #expect(summary.hasMoved && !summary.isNewPerRead)
    }

    @Test func `tells nothing where nothing moves, and sees new objects`() {
        let count = Monitor(0)
        let observer = ImportProgressObserver(reading: { Progress(totalUnitCount: 9) }) { _ in
            count.withLock { $0 += 1 }
        }
        let summary = observer.finish()
        #expect(count.withLock { $0 } == 1)
        #expect(!summary.hasMoved && summary.isNewPerRead)
    }
}
