internal import Foundation
package import Testing

/// A text that is kept in a file beside a target's tests and compared as a whole.
package struct Snapshot {
    private static let updates =
        ProcessInfo.processInfo.environment["MIGRATE_UPDATE_SNAPSHOTS"] == "1"

    private let file: URL

    /// Names a snapshot of the target that the test in `testFile` belongs to.
    package init(name: String, testFile: String = #filePath) {
        var directory = URL(filePath: testFile).deletingLastPathComponent()
        while directory.deletingLastPathComponent().lastPathComponent != "Tests" {
            directory.deleteLastPathComponent()
        }
        file = directory.appending(path: "Snapshots/\(name).txt")
    }

    /// Expects `text` to equal the file, or updates the file if that was requested.
    package func expect(_ text: String, sourceLocation: SourceLocation = #_sourceLocation) throws {
        if Self.updates {
            try Data(text.utf8).write(to: file)
            return
        }
        let kept = try? String(contentsOf: file, encoding: .utf8)
        #expect(
            text == kept,
            """
            differs from \(file.path); if the change is meant, run \
            MIGRATE_UPDATE_SNAPSHOTS=1 swift test --disable-xctest --filter Snapshot \
            and review the difference
            """,
            sourceLocation: sourceLocation
        )
    }
}
