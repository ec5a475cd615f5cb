import MigrationSystem
import TestSupport
import Testing

@testable import MigrationHosting

@Suite(.scratchDirectory)
struct GroupSnapshotTests {
    private let group: BytePath

    init() throws {
        group = try BytePath.scratch / "group"
        for directory in [group, group / "d"] { try directory.makeDirectory() }
        for name in ["a", "b", "d/c"] { try (group / "\(name)").write(name) }
    }

    private func snapshot(limit: Int) throws -> GroupSnapshot {
        try GroupSnapshot(of: BytePath(resolving: group), limit: limit, on: MigrationOperation())
    }

    @Test(arguments: 1...4)
    func `does not take for written what is only seen because something went`(
        _ limit: Int
    ) throws {
        let before = try snapshot(limit: limit)
        try (group / "a").removeFile()
        #expect(try !snapshot(limit: limit).wasWrittenNotCleared(since: before))
        try (group / "d/c").removeFile()
        #expect(try !snapshot(limit: limit).wasWrittenNotCleared(since: before))
    }

    @Test(arguments: [(2, false), (3, false), (4, true)])
    func `says of as many files as it looks at that one was written`(
        _ limit: Int,
        _ isFound: Bool
    ) throws {
        let before = try snapshot(limit: limit)
        try (group / "new").write("new")
        #expect(try snapshot(limit: limit).wasWrittenNotCleared(since: before) == isFound)
    }
}
