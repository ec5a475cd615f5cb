import Foundation
import Synchronization
package import Testing

/// The points that an enumeration tries, recorded for `Scripts/enumerate` to add up.
package enum Points: Sendable {
    /// The file that they are written to, a line for every call of ``note(_:tried:failed:)``.
    private static let record = ProcessInfo.processInfo.environment["MIGRATION_POINTS"]

    /// The point that is being tried.
    @TaskLocal fileprivate static var current: Point?

    /// Tries a point of `kind`, which fails if `body` throws or records an issue.
    package static func attempt<Result>(
        _ kind: String,
        _ body: () async throws -> Result
    ) async throws -> Result {
        let point = Point()
        defer { note(kind, tried: 1, failed: point.hasFailed ? 1 : 0) }
        return try await $current.withValue(point) {
            do {
                return try await body()
            } catch {
                point.fail()
                throw error
            }
        }
    }

    /// Records how many points of `kind` were tried and how many failed.
    package static func note(_ kind: String, tried: Int, failed: Int) {
        guard let record, let file = FileHandle(forWritingAtPath: record) else { return }
        file.seekToEndOfFile()
        file.write(Data("\(kind)\t\(tried)\t\(failed)\n".utf8))
    }
}

/// Whether one point has failed.
private final class Point: Sendable {
    private let failure = Atomic(false)

    var hasFailed: Bool { failure.load(ordering: .relaxed) }

    func fail() { failure.store(true, ordering: .relaxed) }
}

extension Trait where Self == IssueHandlingTrait {
    /// Lets a point fail if an issue is recorded while it is tried.
    package static var points: Self {
        .compactMapIssues { issue in
            Points.current?.fail()
            return issue
        }
    }
}
