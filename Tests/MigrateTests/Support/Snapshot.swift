import Foundation
import Testing

/// A text that is kept in a file and compared as a whole.
struct Snapshot {
    private static let updates =
        ProcessInfo.processInfo.environment["MIGRATE_UPDATE_SNAPSHOTS"] == "1"

    let name: String

    private var file: URL {
        URL(filePath: #filePath)
            .deletingLastPathComponent()
            .deletingLastPathComponent()
            .appending(path: "Snapshots/\(name).txt")
    }

    /// Expects `text` to equal the file, or updates the file if that was requested.
    func expect(_ text: String, sourceLocation: SourceLocation = #_sourceLocation) throws {
        if Self.updates {
            try Data(text.utf8).write(to: file)
            return
        }
        let kept = try? String(contentsOf: file, encoding: .utf8)
        #expect(
            text == kept,
            """
            differs from Tests/MigrateTests/Snapshots/\(name).txt; if the change is meant, run \
            MIGRATE_UPDATE_SNAPSHOTS=1 swift test --disable-xctest --filter MigrateTests \
            and review the difference
            """,
            sourceLocation: sourceLocation
        )
    }
}
