import Foundation
import MigrationContract
import MigrationCore
import MigrationSystem
import TestSupport
import Testing

@testable import MigrationHosting

/// The timeline of a session.
@Suite(.scratchDirectory)
struct TimelineTests {
    @Test @MainActor func `is given once, when the session has ended`() async throws {
        let container = try BytePath.scratch / "container"
        try container.makeDirectory()
        try (container / "Documents").makeDirectory()
        let count = Monitor(0)
        var hosted = MigrationExtension.inProcess(PhotoExporter())
        hosted.timelineHandler = { _ in count.withLock { $0 += 1 } }
        let archive = try BytePath.scratch / "archive"
        _ = try await MigrationHost().export(
            MigrationDataContainer(atPath: container),
            to: .file(path: archive, replacesExisting: false),
            using: hosted
        )
        #expect(archive.exists && count.withLock { $0 } == 1)
    }
}
