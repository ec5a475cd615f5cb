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
        #expect(extraction.extractor.tally.omissions.isEmpty)
        #expect(extraction.extractor.tally.totals.symbolicLinks == 4)
        #expect(extraction.extractor.tally.totals.hardLinks == 3)
    }

    @Test func `leaves out links that lead out on request, with all their names`() throws {
        let extraction = try Extraction(TestArchive(Self.items)) { $0.externalLinks = .skip }
        for name in ["absolute", "chain", "further", "skipped"] {
            #expect(!extraction.exists(name), "\(name)")
        }
        #expect(try extraction.linkTarget("d/e/inside") == "../../f")
        #expect(try extraction.linkTarget("d/e/other") == "../../f")
        #expect(try extraction.linkTarget("d/up") == "..")
        let totals = extraction.extractor.tally.totals
        #expect((totals.symbolicLinks, totals.hardLinks) == (2, 1))
        let dropped = extraction.extractor.tally.omissions.map(\.path.description).sorted()
        #expect(dropped == ["absolute", "chain", "further", "skipped"])
        #expect(
            extraction.extractor.tally.omissions.first?.kind
                == .externalLink(target: [UInt8]("/etc".utf8))
        )
    }

    @Test func `counts what is left out, and lists no more than has room`() throws {
        let target = "/" + String(repeating: "x", count: 4_000)
        let items = (100..<400).map { Item(.symbolicLink("link \($0)", to: target)) }
        let extraction = try Extraction(TestArchive(items)) { $0.externalLinks = .skip }
        #expect(extraction.extractor.tally.omissionCount == 300)
        let listed = extraction.extractor.tally.omissions.map(\.path.description)
        #expect(listed == (100..<361).map { "link \($0)" })
    }

    @Test(arguments: ["/x", "e"])
    func `refuses a path that comes again after it was left out`(_ second: String) throws {
        let items = [Item(.symbolicLink("p", to: "/x")), Item(.symbolicLink("p", to: second))]
        let error = try Extraction.refusal(items) { $0.externalLinks = .skip }
        #expect(error?.code == .entryExists)
    }

    @Test func `does not take a link for one of its path that was left out`() throws {
        let items = [
            Item(.directory("d")), Item(.symbolicLink("d/s", to: "..")),
            Item(.symbolicLink("p", to: "d/s/../x")), Item(.symbolicLink("p", to: "/x")),
        ]
        let extraction = try? Extraction(TestArchive(items)) { $0.externalLinks = .skip }
        #expect(extraction?.exists("p") != true)
    }

    @Test func `leaves out links that went through what is left out`() throws {
        let directories = ["a", "a/b", "a/b/c", "a/x", "k", "k/l", "k/l/s0"]
        let links = [
            ("s", "a/b/c"), ("k/l/s", "s0"), ("k/l/orig", "s/../../x"), ("through", "h/../y"),
        ]
        let items =
            directories.map { Item(.directory($0)) }
            + links.map { Item(.symbolicLink($0, to: $1)) }
            + [Item(.hardLink("h", to: "k/l/orig"))]
        let extraction = try Extraction(TestArchive(items)) { $0.externalLinks = .skip }
        #expect(extraction.exists("k/l/orig"))
        #expect(!extraction.exists("h") && !extraction.exists("through"))
        let totals = extraction.extractor.tally.totals
        #expect((totals.symbolicLinks, totals.hardLinks) == (3, 0))
    }

    @Test func `takes no name that is left out for a directory`() throws {
        let items = [Item(.symbolicLink("l", to: "own/../x"))]
        let error = try Extraction.refusal(items) { $0.reserved = [EntryPath("own")] }
        #expect(error?.code == .externalLink)
    }

    @Test func `takes links that stay inside, dangling or in a circle`() throws {
        let targets = [("a", "b"), ("b", "a"), ("c", "missing/x"), ("self", "self"), ("dot", ".")]
        let items = targets.map { Item(.symbolicLink($0, to: $1)) }
        let extraction = try Extraction(TestArchive(items))
        for (name, target) in targets {
            #expect(try extraction.linkTarget(name) == target)
        }
    }

    @Test func `leaves out what links that lead out would replace`() throws {
        var tar = RawTar()
        tar.add("f", content: [1])
        tar.add("file", content: [2])
        tar.add("file", type: "2", link: "/etc")
        tar.add("up", type: "2", link: "twice/..")
        tar.add("twice", type: "2", link: ".")
        tar.add("link", type: "2", link: "up/..")
        tar.add("link", type: "2", link: "/etc")
        tar.add("hard", type: "1", link: "link")
        tar.add("back", type: "2", link: "/etc")
        tar.add("back", type: "2", link: "f")
        let extraction = try Extraction(TestArchive(bytes: tar.ended())) { options in
            options.isLenient = true
            options.externalLinks = .skip
        }
        for name in ["file", "link", "hard"] { #expect(!extraction.exists(name), "\(name)") }
        #expect(try extraction.linkTarget("back") == "f")
        let dropped = extraction.extractor.tally.omissions.map(\.path.description)
        #expect(dropped.starts(with: ["file", "link", "hard", "back"]))
    }
}
