import TestSupport
import Testing

@testable import MigrationArchive

struct TreeOrderTests {
    /// As a walk comes upon them.
    private static let paths = [
        "a", "a/b", "a/b/c", "a/b c", "a/b-c", "a/b.c", "a/b0", "a/é", "a b", "a-b", "a.b", "a0",
        "aa", "b",
    ]

    @Test func `is that of a walk`() {
        for (left, first) in Self.paths.enumerated() {
            for (right, second) in Self.paths.enumerated() {
                let precedes = EntryPath(first).precedesInTree(EntryPath(second))
                #expect(precedes == (left < right), "\(first), \(second)")
            }
        }
    }
}
