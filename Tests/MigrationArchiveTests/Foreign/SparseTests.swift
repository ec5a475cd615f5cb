import TestSupport
import Testing

@testable import MigrationArchive

struct SparseTests {
    private let expected = [UInt8]([0, 0, 1, 2, 0, 0, 0, 3, 0, 0])

    private func octal(_ value: Int) -> [UInt8] {
        let digits = String(value, radix: 8)
        return [UInt8]((String(repeating: "0", count: 11 - digits.count) + digits + "\0").utf8)
    }

    private func records(form: String, map: [(String, String)]) -> [(String, String)] {
        switch form {
        case "0.0":
            [("GNU.sparse.size", "10"), ("GNU.sparse.numblocks", "2")] + map
        default:
            [("GNU.sparse.size", "10"), ("GNU.sparse.name", "s")] + map
        }
    }

    @Test func `reads form 0_0`() throws {
        var tar = RawTar()
        tar.addRecords(
            records(
                form: "0.0",
                map: [
                    ("GNU.sparse.offset", "2"), ("GNU.sparse.numbytes", "2"),
                    ("GNU.sparse.offset", "7"), ("GNU.sparse.numbytes", "1"),
                ]
            )
        )
        tar.add("s", content: [1, 2, 3])
        tar.add("next", content: [4])
        #expect(try tar.items().map(\.content) == [expected, [4]])
    }

    @Test func `reads form 0_1`() throws {
        var tar = RawTar()
        tar.addRecords(records(form: "0.1", map: [("GNU.sparse.map", "2,2,7,1")]))
        tar.add("GNUSparseFile.0/s", content: [1, 2, 3])
        tar.add("next", content: [4])
        let items = try tar.items()
        #expect(items.map(\.content) == [expected, [4]])
        #expect(items[0].entry.path == EntryPath("s"))
    }

    private func form10(_ map: String, data: [UInt8] = [1, 2, 3], size: String = "10") -> RawTar {
        var tar = RawTar()
        tar.addRecords([
            ("GNU.sparse.major", "1"), ("GNU.sparse.minor", "0"), ("GNU.sparse.name", "s"),
            ("GNU.sparse.realsize", size),
        ])
        let text = [UInt8](map.utf8)
        let padding = [UInt8](repeating: 0, count: (512 - text.count % 512) % 512)
        tar.add("GNUSparseFile.0/s", content: text + padding + data)
        tar.add("next", content: [4])
        return tar
    }

    @Test func `reads form 1_0`() throws {
        #expect(try form10("2\n2\n2\n7\n1\n").items().map(\.content) == [expected, [4]])
        #expect(try form10("0\n", data: []).items().map(\.content.count) == [10, 1])
        #expect(
            try form10("2\n2\n3\n10\n0\n").items()[0].content == [0, 0, 1, 2, 3, 0, 0, 0, 0, 0]
        )
    }

    @Test func `reads a map of form 1_0 over several blocks`() throws {
        let pairs = (0..<200).map { "\($0 * 20)\n1\n" }.joined()
        let data = [UInt8](repeating: 7, count: 200)
        let items = try form10("200\n\(pairs)", data: data, size: "4000").items()
        #expect(items[0].content == (0..<4000).map { $0 % 20 == 0 ? 7 : 0 })
        #expect(items[1].content == [4])
    }

    @Test func `reads the old form of GNU tar with an extension`() throws {
        var tar = RawTar()
        let pairs = [(0, 1), (2, 1), (4, 1), (6, 1)].flatMap { octal($0) + octal($1) }
        tar.add(
            "s",
            type: "S",
            size: octal(6),
            magic: .gnu,
            fields: [(386, pairs), (482, [1]), (483, octal(12))]
        )
        var block = [UInt8](repeating: 0, count: 512)
        let more = [(8, 1), (10, 1)].flatMap { octal($0) + octal($1) }
        block.replaceSubrange(0..<more.count, with: more)
        tar.append(block)
        tar.append([1, 2, 3, 4, 5, 6] + [UInt8](repeating: 0, count: 506))
        tar.add("next", content: [4], magic: .gnu)
        #expect(try tar.items().map(\.content) == [[1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0], [4]])
    }

    @Test(arguments: [
        "2\n2\n2\n3\n1\n",  // overlapping
        "2\n7\n1\n2\n2\n",  // out of order
        "2\n2\n2\n9\n2\n",  // past the end
        "2\n2\n2\n7\n2\n",  // more than is stored
        "1\n2\n2\n",  // less than is stored
        "1\n-1\n3\n", "x\n", "\n", "2\n2\n2\n", "1048577\n", "99999999999999999999999\n",
        "1\n9223372036854775807\n9223372036854775807\n", "1\n9223372036854775807\n3\n",
    ])
    func `refuses maps that are malformed`(_ map: String) {
        let error = #expect(throws: ArchiveError.self) { try form10(map).items() }
        #expect(error?.code == .damaged)
    }

    @Test(arguments: ["2,2,7", "2,2,7,", ",", "2;2", "2,2,3,1", "7,1,2,2", "a,b"])
    func `refuses lists that are malformed`(_ list: String) {
        var tar = RawTar()
        tar.addRecords(records(form: "0.1", map: [("GNU.sparse.map", list)]))
        tar.add("s", content: [1, 2, 3])
        let error = #expect(throws: ArchiveError.self) { try tar.items() }
        #expect(error?.code == .damaged)
    }
}
