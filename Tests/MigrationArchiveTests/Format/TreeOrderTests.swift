import TestSupport
import Testing

@testable import MigrationArchive

struct TreeOrderTests {
    /// In the order of a walk.
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

    @Test(arguments: ["", "a", "directory/", "a directory with a name that goes on/and on/"])
    func `sorts as a walk comes upon them`(_ prefix: String) {
        let bytes: [[UInt8]] = [[], [1], [1, 2], [0x2E], [0x30], [0xFF, 0xFF], [0xFF, 0xFF, 1]]
        let further = bytes.map { EntryPath(bytes: [UInt8](prefix.utf8) + $0) }
        let names = Self.paths + ["a/bcdefghi", "a/bcdefghi/j", "a/bcdefghi!j", "a/bcdefghij"]
        let paths = names.map { EntryPath(prefix + $0) } + further
        let shuffled = paths.shuffled()
        let sorted = EntryPath.treeOrder(of: shuffled).map { shuffled[$0] }
        #expect(sorted.count == paths.count)
        for (left, right) in zip(sorted, sorted.dropFirst()) {
            #expect(!right.precedesInTree(left), "\(left), \(right)")
        }
        #expect(EntryPath.treeOrder(of: []).isEmpty)
    }
}
