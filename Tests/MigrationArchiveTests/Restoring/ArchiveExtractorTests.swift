import MigrationSystem
import TestSupport
import Testing

@testable import MigrationArchive

@Suite(.scratchDirectory)
struct ArchiveExtractorTests {
    @Test func `restores content, modes and times to the nanosecond`() throws {
        let old = FileTime(seconds: -5, nanoseconds: 7)
        let new = FileTime(seconds: 1_000_000_000, nanoseconds: 999_999_999)
        let items = [
            Item(.directory("d", permissions: 0o500, time: old)),
            Item(.directory("d/e", permissions: 0o555, time: new)),
            Item(.file("d/e/f", permissions: 0o000, time: new)),
            Item("d/e/g", text(10_000)), Item(.symbolicLink("d/e/l", to: "../../x")),
            Item(.hardLink("d/h", to: "d/e/g")),
            Item(.directory("x", permissions: 0o777, time: old)),
        ]
        for route in [TestArchive.Route.wholeFile] {
            let extraction = try Extraction(TestArchive(items), route: route)
            let directory = try extraction.status("d")
            #expect((directory.permissions, directory.modificationTime) == (0o500, old))
            let inner = try extraction.status("d/e")
            #expect((inner.permissions, inner.modificationTime) == (0o555, new))
            let file = try extraction.status("d/e/f")
            #expect((file.permissions, file.modificationTime, file.size) == (0, new, 0))
            #expect(extraction.content("d/e/g") == text(10_000))
            #expect(try extraction.linkTarget("d/e/l") == "../../x")
            let link = try extraction.status("d/e/l")
            #expect(link.modificationTime == ArchiveEntry.sampleTime)
            let linked = try extraction.status("d/h")
            #expect(linked.identity == (try extraction.status("d/e/g")).identity)
            #expect(try extraction.status("x").permissions == 0o777)
        }
    }

    @Test func `drops the bits that give a program another's rights, and says so`() throws {
        let items = [
            Item(.file("u", permissions: 0o4755)), Item(.directory("d", permissions: 0o3775)),
        ]
        let extraction = try Extraction(TestArchive(items))
        #expect(try extraction.status("u").permissions == 0o755)
        #expect(try extraction.status("d").permissions == 0o775)
        #expect(
            extraction.extractor.tally.omissions == [
                EntryOmission(path: EntryPath("u"), kind: .specialPermissions(0o4000)),
                EntryOmission(path: EntryPath("d"), kind: .specialPermissions(0o3000)),
            ]
        )
    }

    @Test func `says what the root of another program's archive loses`() throws {
        var tar = RawTar()
        tar.add("f")
        tar.addRecords([("SCHILY.xattr.user.root", "v")])
        tar.add("./", type: "5", mode: "0004755")
        let extraction = try Extraction(TestArchive(bytes: tar.ended())) { $0.isLenient = true }
        let name = [UInt8]("user.root".utf8)
        #expect(
            extraction.extractor.tally.omissions == [
                EntryOmission(path: EntryPath("."), kind: .extendedAttribute(name: name)),
                EntryOmission(path: EntryPath("."), kind: .specialPermissions(0o4000)),
            ]
        )
    }

    @Test func `says nothing of what is not selected, but of what its names lose`() throws {
        var tar = RawTar()
        for name in ["a", "b", "c"] {
            tar.addRecords([("SCHILY.xattr.trusted.x", "v")])
            tar.add(name)
        }
        tar.add("h", type: "1", link: "c")
        let extraction = try Extraction(TestArchive(bytes: tar.ended())) { options in
            options.isLenient = true
            options.selection = [EntryPath("b"), EntryPath("h")]
            options.linkTargets = [EntryPath("c")]
        }
        #expect(extraction.extractor.tally.omissions.map(\.path.description) == ["b", "c"])
    }

    @Test func `remembers no file of a name that keeps being replaced`() throws {
        var tar = RawTar()
        for number in 0..<5 {
            tar.add("t", content: [UInt8(number)])
            tar.add("s/\(number)", type: "1", link: "t")
        }
        let extraction = try Extraction(TestArchive(bytes: tar.ended())) { options in
            options.isLenient = true
            options.selection = [EntryPath("s")]
            options.linkTargets = [EntryPath("t")]
        }
        #expect(extraction.extractor.tally.totals.files == 5)
        #expect(extraction.extractor.tally.rememberedFileCount == 1)
    }

    @Test func `leaves out what belongs to the place`() throws {
        let items = [
            Item(.directory("keep")), Item(.directory("own")), Item("own/f", [1]),
            Item("owner", [2]),
        ]
        let extraction = try Extraction(TestArchive(items)) { $0.reserved = [EntryPath("own")] }
        #expect(!extraction.exists("own"))
        #expect(extraction.exists("keep") && extraction.exists("owner"))
        let paths = extraction.extractor.tally.omissions.map(\.path.description)
        #expect(paths == ["own", "own/f"])
        #expect(extraction.extractor.tally.omissions.allSatisfy { $0.kind == .reserved })
        #expect(extraction.extractor.tally.totals.entries == 2)
    }

    @Test func `restores what is selected with everything below it`() throws {
        let items = [
            Item(.directory("a")), Item(.directory("a/b")), Item("a/b/f", [1]), Item("a/c", [2]),
            Item("ab", [3]),
        ]
        let extraction = try Extraction(TestArchive(items)) { $0.selection = [EntryPath("a/b")] }
        #expect(extraction.content("a/b/f") == [1])
        #expect(!extraction.exists("a/c") && !extraction.exists("ab"))
        #expect(extraction.extractor.tally.totals.files == 1)
    }

    @Test func `leaves holes where pages are zeros`() throws {
        let page = 4096
        let zeros = [UInt8](repeating: 0, count: 64 * page)
        let content = noise(page) + zeros + [1] + zeros + noise(10) + zeros
        let extraction = try Extraction(
            TestArchive([Item("f", content), Item("z", zeros + [0, 0, 0])])
        )
        #expect(extraction.content("f") == content)
        #expect(extraction.content("z") == zeros + [0, 0, 0])
        let (file, hole) = (try extraction.status("f"), try extraction.status("z"))
        #expect(file.size == UInt64(content.count))
        #expect(file.allocatedSize <= UInt64(16 * page))
        #expect(hole.allocatedSize <= UInt64(page))
    }

    @Test func `makes further names of links`() throws {
        let items = [
            Item(.symbolicLink("l", to: "nowhere")), Item(.hardLink("h", to: "l")),
            Item(.hardLink("i", to: "h")),
        ]
        let extraction = try Extraction(TestArchive(items))
        #expect(try extraction.linkTarget("i") == "nowhere")
        #expect(try extraction.status("i").identity == extraction.status("l").identity)
        #expect(try extraction.status("l").linkCount == 3)
        #expect(extraction.extractor.tally.totals.hardLinks == 2)
    }

    @Test func `restores paths of 1,000 levels and of 8,000 bytes`() throws {
        var items: [Item] = []
        var path: [String] = []
        for _ in 0..<1000 {
            path.append("d")
            items.append(Item(.directory(path.joined(separator: "/"), permissions: 0o700)))
        }
        items.append(Item((path + ["f"]).joined(separator: "/"), [1]))
        items.append(Item(.symbolicLink((path + ["l"]).joined(separator: "/"), to: "f")))
        path = []
        for _ in 0..<32 {
            path.append(String(repeating: "n", count: 250))
            items.append(Item(.directory(path.joined(separator: "/"), permissions: 0o700)))
        }
        items.append(Item((path + ["f"]).joined(separator: "/"), [2]))
        let extraction = try Extraction(TestArchive(items))
        #expect(extraction.extractor.tally.totals.directories == 1032)
        let root = try FileDescriptor.open(BytePath(extraction.path), .directory)
        let cursor = DirectoryCursor(root: OpenFile(root))
        let deep = Array(repeating: [UInt8]("d".utf8)[...], count: 1000)
        #expect(try cursor.directory(at: deep).descriptor.status(of: [0x66]).size == 1)
        #expect(try cursor.directory(at: deep).descriptor.symbolicLinkTarget([0x6C]) == [0x66])
        let long = path.map { [UInt8]($0.utf8)[...] }
        #expect(try cursor.directory(at: long).descriptor.status(of: [0x66]).size == 1)
        let parent = try FileDescriptor.open(Scratch.path("."), .directory)
        try parent.removeTree([UInt8]("target".utf8))
        #expect(!extraction.exists("."))
    }

    @Test func `takes the last of several entries from another program's tar`() throws {
        var tar = RawTar()
        tar.add("missing/parent/f", content: [1])
        tar.add("missing/", type: "5", mode: "0000700", time: [UInt8]("00000000007".utf8))
        tar.add("f", content: [1, 1])
        tar.add("f", content: [2])
        tar.add("g", content: [3])
        tar.add("g/", type: "5")
        tar.add("h", type: "1", link: "f")
        let extraction = try Extraction(TestArchive(bytes: tar.ended())) { $0.isLenient = true }
        #expect(extraction.content("missing/parent/f") == [1])
        #expect(try extraction.status("missing").modificationTime.seconds == 7)
        #expect(extraction.content("f") == [2])
        #expect(try extraction.status("g").kind == .directory)
        #expect(try extraction.status("h").identity == extraction.status("f").identity)
    }

    @Test func `restores through a pipe what it restores from a file`() throws {
        let archive = try TestArchive([Item(.directory("d")), Item("d/f", text(5000))])
        let extraction = try Extraction(archive, route: .pipe)
        #expect(extraction.content("d/f") == text(5000))
        #expect(
            extraction.extractor.tally.totals
                == archive.summary.map { summary in
                    var totals = summary.totals
                    totals.dataBytes = extraction.extractor.tally.totals.dataBytes
                    return totals
                }
        )
    }

    @Test func `fails where the file is missing whose further name is selected`() throws {
        let error = try Extraction.refusal([
            Item("a", text(10)), Item(.hardLink("b", to: "missing")),
        ]) { options in
            options.selection = [EntryPath("b")]
            options.linkTargets = [EntryPath("missing")]
        }
        #expect(error?.code == .refused)
        #expect(error?.entry == EntryPath("b"))
    }
}
