import TestSupport
import Testing

@testable import MigrationArchive

/// Tiny archives that ask for much work; steps are counted, not seconds.
@Suite(.scratchDirectory)
struct BoundedWorkTests {
    /// `count` links that each lead through `depth` directories, alternately of two chains.
    private func links(_ count: Int, through depth: Int) -> [UInt8] {
        var tar = RawTar()
        for chain in ["a", "b"] {
            let path = String(repeating: "\(chain)/", count: depth)
            tar.addRecords([("path", path)])
            tar.add(chain, type: "5")
            tar.addRecords([("linkpath", path)])
            tar.add("to-\(chain)", type: "2", link: chain)
        }
        for number in 0..<count {
            let chain = number.isMultiple(of: 2) ? "a" : "b"
            tar.add("l\(number)", type: "2", link: "to-\(chain)/..")
        }
        return tar.ended()
    }

    private func judge(
        _ bytes: [UInt8],
        _ policy: ExternalLinkPolicy = .refuse
    ) throws -> (extractor: ArchiveExtractor, error: ArchiveError?) {
        var options = ArchiveExtractor.Options()
        options.isLenient = true
        options.externalLinks = policy
        let extractor = Extraction.judge(options)
        do {
            try extractor.extract(from: TestArchive(bytes: bytes).reader(.wholeFile)) { _ in }
        } catch let error as ArchiveError {
            return (extractor, error)
        }
        return (extractor, nil)
    }

    @Test func `takes a bounded number of steps for all links together`() throws {
        let few = try judge(links(20, through: 2_000))
        #expect(few.error == nil)
        #expect(few.extractor.tally.totals.symbolicLinks == 22)
        let count = 200
        for policy in [ExternalLinkPolicy.refuse, .skip] {
            let many = try judge(links(count, through: 2_000), policy)
            #expect(many.error?.code == .refused)
            #expect(many.error?.remedy == .keepExternalLinks)
            #expect(many.extractor.openCount < (1 << 16) + 16 * count + 20_000)
        }
        #expect(try judge(links(count, through: 2_000), .keep).error == nil)
    }

    @Test func `opens no more directories than deep names have bytes`() throws {
        var tar = RawTar()
        for number in 0..<40 {
            let chain = number.isMultiple(of: 2) ? "a/" : "b/"
            tar.addRecords([("path", String(repeating: chain, count: 1_000) + "\(number)")])
            tar.add("f")
        }
        let bytes = tar.ended()
        let outcome = try judge(bytes)
        #expect(outcome.error == nil)
        #expect(outcome.extractor.tally.totals.directories == 2_000)
        #expect(outcome.extractor.openCount < bytes.count)
    }

    @Test func `opens directories once whose files come in turn`() throws {
        var items = (0..<16).map { Item(.directory("d\($0)")) }
        for number in 0..<200 { items.append(Item("d\(number % 16)/f\(number)", [1])) }
        let extractor = Extraction.judge(ArchiveExtractor.Options())
        try extractor.extract(from: TestArchive(items).reader(.wholeFile)) { _ in }
        #expect(extractor.tally.totals.files == 200)
        #expect(extractor.openCount <= 40)
    }

    @Test func `counts what is there where a path comes again and again`() throws {
        var tar = RawTar()
        for number in 0..<300 {
            tar.add("p/f", content: [UInt8](repeating: 1, count: number % 3))
            tar.add("p", type: "5")
            tar.add("p/l", type: "2", link: "f\(number)")
            tar.add("p/h", type: "1", link: "p/f")
        }
        tar.add("p/l", content: [1])
        tar.add("q", content: [1])
        tar.add("q", type: "2", link: "p")
        let extraction = try Extraction(TestArchive(bytes: tar.ended())) { $0.isLenient = true }
        var totals = ArchiveTotals()
        (totals.files, totals.directories, totals.symbolicLinks, totals.hardLinks) = (2, 1, 1, 1)
        totals.contentBytes = 3
        #expect(extraction.extractor.tally.totals == totals)
    }

    @Test(arguments: [1 << 12, 1 << 20])
    func `keeps account of many names in a file or in memory alike`(_ limit: Int) throws {
        var table = HashTable(memoryLimit: limit)
        let count: UInt64 = 5_000
        for number in 1...count { try table.set(number, of: number &* 0x9E37_79B9_7F4A_7C15) }
        for number in 1...count where number % 3 == 0 {
            try table.set(number + count, of: number &* 0x9E37_79B9_7F4A_7C15)
        }
        for number in 1...count {
            let expected = number % 3 == 0 ? number + count : number
            #expect(try table.value(of: number &* 0x9E37_79B9_7F4A_7C15) == expected)
        }
        #expect(try table.value(of: 3) == 0)
    }

    @Test func `goes down once for a name of the greatest depth`() throws {
        let depth = 32_000
        var tar = RawTar()
        tar.addRecords([("path", String(repeating: "a/", count: depth) + "f")])
        tar.add("f")
        let outcome = try judge(tar.ended())
        #expect(outcome.error == nil)
        #expect(outcome.extractor.tally.totals.directories == UInt64(depth))
        #expect(outcome.extractor.openCount <= depth + 64)
    }

    @Test func `refuses directories that nobody may enter before they take much memory`() throws {
        let options = ArchiveExtractor.Options()
        let tree = RestoredTree(
            root: TreeAccount().root,
            options: options,
            tally: ExtractionTally(options: options)
        )
        let directories = DeferredDirectories(of: tree, options: options)
        // Their names alone take less than a megabyte.
        for number in 0..<120_000 {
            try directories.add(.directory("\(number)"), permissions: 0)
        }
        let error = #expect(throws: ArchiveError.self) { try directories.finish() }
        #expect(error?.code == .refused)
    }
}
