import MigrationSystem
import TestSupport
import Testing

@testable import MigrationArchive

/// Harmful archives with correct hashes.
@Suite(.scratchDirectory)
struct RefusalTests {
    struct Attack: CustomTestStringConvertible {
        let name: String
        let items: [Item]
        var code = ArchiveError.Code.refused

        var testDescription: String { name }
    }

    static let attacks = [
        Attack(name: "dots", items: [Item("../outside", [1])]),
        Attack(name: "inner dots", items: [Item(.directory("a")), Item("a/../../outside", [1])]),
        Attack(name: "an absolute path", items: [Item("/tmp/outside", [1])]),
        Attack(name: "a dot", items: [Item("./a", [1])]),
        Attack(name: "a directory of dots", items: [Item(.directory(".."))]),
        Attack(name: "a zero byte", items: [Item("a\0b", [1])]),
        Attack(name: "a missing parent", items: [Item("a/b", [1])]),
        Attack(
            name: "a link whose parent is missing",
            items: [Item(.symbolicLink("a/l", to: "x"))]
        ),
        Attack(name: "a parent that is a file", items: [Item("a", [1]), Item("a/b", [1])]),
        Attack(
            name: "a parent that is a link",
            items: [Item(.directory("d")), Item(.symbolicLink("l", to: "d")), Item("l/b", [1])]
        ),
        Attack(
            name: "a path that comes twice",
            items: [Item("a", [1]), Item("a", [2])],
            code: .entryExists
        ),
        Attack(
            name: "a directory that comes twice",
            items: [Item(.directory("a")), Item(.directory("a"))],
            code: .entryExists
        ),
        Attack(
            name: "a link in place of a directory",
            items: [Item(.directory("a")), Item(.symbolicLink("a", to: "b"))],
            code: .entryExists
        ),
        Attack(
            name: "a file in place of a link",
            items: [Item(.symbolicLink("a", to: "b")), Item("a", [1])],
            code: .entryExists
        ),
        Attack(name: "a hard link to nothing", items: [Item(.hardLink("h", to: "a"))]),
        Attack(
            name: "a hard link to what follows",
            items: [Item(.hardLink("h", to: "a")), Item("a", [1])]
        ),
        Attack(
            name: "a hard link to a link that follows",
            items: [Item(.hardLink("h", to: "l")), Item(.symbolicLink("l", to: "a"))]
        ),
        Attack(name: "a hard link to itself", items: [Item(.hardLink("h", to: "h"))]),
        Attack(
            name: "a hard link to a directory",
            items: [Item(.directory("d")), Item(.hardLink("h", to: "d"))]
        ),
        Attack(name: "a hard link to outside", items: [Item(.hardLink("h", to: "../outside"))]),
        Attack(
            name: "a hard link to a file of the machine",
            items: [Item(.hardLink("h", to: "/etc/passwd"))]
        ),
        Attack(
            name: "a hard link through a link",
            items: [
                Item(.directory("d")), Item("d/f", [1]), Item(.symbolicLink("l", to: "d")),
                Item(.hardLink("h", to: "l/f")),
            ]
        ),
        Attack(
            name: "a link to outside",
            items: [Item(.symbolicLink("l", to: "../outside"))],
            code: .externalLink
        ),
        Attack(
            name: "an absolute link",
            items: [Item(.symbolicLink("l", to: "/etc"))],
            code: .externalLink
        ),
        Attack(
            name: "a link that leads out through another",
            items: [
                Item(.directory("d")), Item(.directory("d/e")),
                Item(.symbolicLink("d/e/up", to: "../..")),
                Item(.symbolicLink("l", to: "d/e/up/../outside")),
            ],
            code: .externalLink
        ),
        Attack(
            name: "a link that leads out by its further name",
            items: [
                Item(.directory("d")), Item(.directory("d/e")),
                Item(.symbolicLink("d/e/l", to: "../../outside")),
                Item(.hardLink("h", to: "d/e/l")),
            ],
            code: .externalLink
        ),
        Attack(
            name: "a further name that leads out through another link",
            items: [
                Item(.directory("d")), Item(.symbolicLink("d/up", to: "..")),
                Item(.directory("e")), Item(.directory("e/d")),
                Item(.directory("e/d/up")),
                Item(.symbolicLink("e/l", to: "d/up/../x")),
                Item(.hardLink("h", to: "e/l")),
            ],
            code: .externalLink
        ),
    ]

    @Test(arguments: attacks)
    func `refuses what must not be restored`(_ attack: Attack) throws {
        let error = try Extraction.refusal(attack.items)
        #expect(error?.code == attack.code)
        #expect(try Extraction.neighbours == [])
    }

    @Test func `makes a parent that comes later, with its own mode and time`() throws {
        let items = [
            Item("a/b", [1]), Item(.symbolicLink("a/l", to: "b")), Item(.directory("a")),
        ]
        let extraction = try Extraction(TestArchive(items))
        #expect(extraction.extractor.tally.totals.entries == 3)
    }

    @Test func `refuses more content than there may be`() throws {
        let items = [Item("a", text(600)), Item("b", text(401))]
        let error = try Extraction.refusal(items) { $0.byteLimit = 1000 }
        #expect(error?.code == .outOfSpace)
        #expect(error?.entry == EntryPath("b"))
    }

    @Test func `refuses a selection that the archive does not hold`() throws {
        let error = try Extraction.refusal([Item("a", [1])]) { $0.selection = [EntryPath("b")] }
        #expect(error?.code == .notFound)
    }
}
