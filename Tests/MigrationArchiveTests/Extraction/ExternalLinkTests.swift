import MigrationSystem
import TestSupport
import Testing

@testable import MigrationArchive

@Suite(.scratchDirectory)
struct ExternalLinkTests {
    private static let items = [
        Item(.directory("d")), Item(.directory("d/e")), Item("f", [1]),
        Item(.symbolicLink("absolute", to: "/etc")),
        Item(.symbolicLink("d/e/inside", to: "../../f")),
        Item(.symbolicLink("d/up", to: "..")),
        Item(.symbolicLink("chain", to: "d/up/../outside")),
        Item(.hardLink("further", to: "d/e/inside")),
        Item(.hardLink("skipped", to: "absolute")),
        Item(.hardLink("d/e/other", to: "d/e/inside")),
    ]

    @Test func `keeps links that lead out on request`() throws {
        let extraction = try Extraction(TestArchive(Self.items)) { $0.externalLinks = .keep }
        #expect(try extraction.linkTarget("absolute") == "/etc")
        #expect(try extraction.linkTarget("chain") == "d/up/../outside")
        #expect(try extraction.linkTarget("further") == "../../f")
        #expect(extraction.extractor.drops.isEmpty)
        #expect(extraction.extractor.totals.symbolicLinks == 4)
        #expect(extraction.extractor.totals.hardLinks == 3)
    }

    @Test func `leaves out links that lead out on request, with all their names`() throws {
        let extraction = try Extraction(TestArchive(Self.items)) { $0.externalLinks = .skip }
        for name in ["absolute", "chain", "further", "skipped"] {
            #expect(!extraction.exists(name), "\(name)")
        }
        #expect(try extraction.linkTarget("d/e/inside") == "../../f")
        #expect(try extraction.linkTarget("d/e/other") == "../../f")
        #expect(try extraction.linkTarget("d/up") == "..")
        let totals = extraction.extractor.totals
        #expect((totals.symbolicLinks, totals.hardLinks) == (2, 1))
        let dropped = extraction.extractor.drops.map(\.path.description).sorted()
        #expect(dropped == ["absolute", "chain", "further", "skipped"])
        #expect(
            extraction.extractor.drops.first?.kind == .externalLink(target: [UInt8]("/etc".utf8))
        )
    }

    @Test func `takes links that stay inside, dangling or in a circle`() throws {
        let targets = [("a", "b"), ("b", "a"), ("c", "missing/x"), ("self", "self"), ("dot", ".")]
        let items = targets.map { Item(.symbolicLink($0, to: $1)) }
        let extraction = try Extraction(TestArchive(items))
        for (name, target) in targets {
            #expect(try extraction.linkTarget(name) == target)
        }
    }
}
