import Testing

@testable import MigrationArchive

struct PaxRecordsTests {
    private func encoded(key: String, valueCount: Int) -> [UInt8] {
        var records = PaxRecords()
        records.append(key: key, value: [UInt8](repeating: UInt8(ascii: "v"), count: valueCount))
        var bytes: [UInt8] = []
        records.encode(to: &bytes)
        return bytes
    }

    @Test(arguments: 0...1100)
    func `counts its own digits in a record's length`(_ count: Int) throws {
        let bytes = encoded(key: "k", valueCount: count)
        let text = String(decoding: bytes.prefix { $0 != UInt8(ascii: " ") }, as: UTF8.self)
        #expect(text == String(bytes.count))
        let parsed = try PaxRecords(parsing: bytes)
        #expect(parsed.records.map(\.value.count) == [count])
    }

    @Test(arguments: [(4, "9 k="), (5, "11 k="), (93, "99 k="), (94, "101 k="), (993, "1001 k=")])
    func `passes over the lengths that no record has`(_ count: Int, _ start: String) {
        let bytes = encoded(key: "k", valueCount: count)
        #expect(bytes.starts(with: start.utf8))
    }

    @Test func `reads several records with any bytes in their values`() throws {
        let records = try PaxRecords(parsing: [UInt8]("6 a=b\n5 c=\n7 d==\0\n".utf8))
        let expected = [("a", "b"), ("c", ""), ("d", "=\0")]
        #expect(
            records.records.map { String(decoding: $0.key, as: UTF8.self) } == expected.map(\.0)
        )
        #expect(
            records.records.map { String(decoding: $0.value, as: UTF8.self) } == expected.map(\.1)
        )
    }

    @Test func `reads no records from no bytes`() throws {
        #expect(try PaxRecords(parsing: []).isEmpty)
    }

    @Test(arguments: [
        "0 a=b\n",  // a length of nothing: a reader that adds it would never end
        "7 a=b\n",  // longer than the header
        "99999999 a=b\n",
        "5 a=b\n",  // cuts the record
        "6 a=bc",  // no newline
        "5 ab\n",  // no equals sign
        "5 =b\n",  // no key
        "+6 a=b\n", "-6 a=b\n", " 6 a=b\n", "06 a=b\n", "0x6 a=b\n",
        "6a=b\n", "6", "6 ", " ", "\n", "\0",
        "2 \n", "1 ", "3 =\n",
        "6\ta=b\n",
        "100000000 a=b\n",
        "8 a\0b=c\n",  // a zero byte in the key
    ])
    func `refuses what is no record`(_ text: String) {
        for prefix in ["", "6 x=y\n"] {
            #expect(throws: PaxRecords.Malformation.self) {
                try PaxRecords(parsing: [UInt8]((prefix + text).utf8))
            }
        }
    }

    @Test func `refuses a length of 400 digits`() {
        let digits = String(repeating: "9", count: 400)
        #expect(throws: PaxRecords.Malformation.self) {
            try PaxRecords(parsing: [UInt8]("\(digits) a=b\n".utf8))
        }
    }
}

struct PaxKeyTests {
    @Test(arguments: [
        ("SCHILY.xattr.user.a", "user.a"), ("SCHILY.xattr.user.a%3Db", "user.a=b"),
        ("SCHILY.xattr.%25", "%"), ("SCHILY.xattr.%253D", "%3D"), ("SCHILY.xattr.%2", "%2"),
        ("SCHILY.xattr.%3d", "%3d"), ("SCHILY.xattr.", nil), ("SCHILY.acl.access", nil),
        ("path", nil),
    ])
    func `reads attribute names`(_ key: String, _ name: String?) {
        #expect(PaxKey.attributeName(of: [UInt8](key.utf8)) == name.map { [UInt8]($0.utf8) })
    }

    @Test(
        arguments: [
            ("0", 0), ("9223372036854775807", 9_223_372_036_854_775_807),
            ("9223372036854775808", nil), ("", nil), ("-1", nil), ("+1", nil), ("1 ", nil),
            ("1.0", nil),
        ] as [(String, UInt64?)]
    )
    func `reads numbers`(_ text: String, _ number: UInt64?) {
        #expect(PaxKey.number([UInt8](text.utf8)) == number)
    }
}
