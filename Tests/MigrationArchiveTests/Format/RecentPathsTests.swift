import Testing

@testable import MigrationArchive

struct RecentPathsTests {
    @Test(arguments: [10, 300, 5_000])
    func `knows what it was given, once, until it forgets`(_ count: Int) {
        var paths = RecentPaths()
        for round in 0..<3 {
            let hashes = (0..<count).map { EntryPath("\(round)/\($0)").randomHash }
            for hash in hashes {
                #expect(!paths.contains(hash))
                let isNew = paths.insert(hash)
                #expect(isNew)
                #expect(paths.contains(hash))
                let isNewAgain = paths.insert(hash)
                #expect(!isNewAgain)
            }
            #expect(paths.count == count)
            #expect(hashes.allSatisfy(paths.contains))
            paths.removeAll()
            #expect(paths.count == 0)
            #expect(!hashes.contains(where: paths.contains))
        }
    }

    @Test func `tells numbers apart that would lie in one place`() {
        var paths = RecentPaths()
        for number in 0..<200 {
            let isNew = paths.insert(number << 32)
            #expect(isNew)
        }
        #expect((0..<200).allSatisfy { paths.contains($0 << 32) })
        #expect(!paths.contains(200 << 32))
    }
}
