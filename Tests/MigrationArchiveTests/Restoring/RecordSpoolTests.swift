import MigrationSystem
import TestSupport
import Testing

@testable import MigrationArchive

@Suite(.scratchDirectory)
struct RecordSpoolTests {
    /// Makes a spool in the scratch directory.
    private func makeSpool() throws -> RecordSpool {
        RecordSpool(in: OpenFile(try FileDescriptor.open(Scratch.path("."), .directory)))
    }

    private func record(_ number: Int) -> [UInt8] {
        [UInt8](repeating: UInt8(number % 251), count: number * 7 % 600)
    }

    @Test(arguments: [(0, false), (1, false), (1000, false), (10_000, true)])
    func `reads records forward and back`(_ count: Int, usesFile: Bool) throws {
        let spool = try makeSpool()
        for number in 0..<count { try spool.append(record(number)) }
        #expect((spool.fileSize > 0) == usesFile)
        for _ in 0..<2 {
            var next = 0
            try spool.forEach { bytes in
                if bytes != record(next) { Issue.record("record \(next) is another one") }
                next += 1
            }
            #expect(next == count)
            try spool.forEachReversed { bytes in
                next -= 1
                if bytes != record(next) { Issue.record("record \(next) is another one") }
            }
            #expect(next == 0)
        }
    }

    @Test func `keeps a record that is larger than memory may be`() throws {
        let spool = try makeSpool()
        try spool.append([1])
        try spool.append([UInt8](repeating: 2, count: 3 << 20))
        try spool.append([3])
        var sizes: [Int] = []
        try spool.forEachReversed { sizes.append($0.count) }
        #expect(sizes == [1, 3 << 20, 1])
        #expect(spool.fileSize > 0)
    }

    @Test(
        arguments: [
            ArchiveEntry.Kind.directory, .symbolicLink(target: [2, 3]),
            .hardLink(target: EntryPath(bytes: [0xFE])),
        ]
    )
    func `keeps every field of what is deferred`(_ kind: ArchiveEntry.Kind) {
        let lists = [
            ExtendedAttribute(name: [1], value: [2, 3]), ExtendedAttribute(name: [4], value: []),
        ]
        for (attributes, owner) in [(lists, nil), ([], FileOwner(user: 1, group: 2))] {
            let entry = ArchiveEntry(
                path: EntryPath(bytes: [0xFF, 0x2F, 1]),
                kind: kind,
                permissions: 0o751,
                modificationTime: FileTime(seconds: .min + 7, nanoseconds: 999_999_999),
                extendedAttributes: attributes,
                owner: owner
            )
            #expect(ArchiveEntry(record: ([9] + entry.record).dropFirst()) == entry)
        }
    }
}
