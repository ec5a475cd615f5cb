import Testing

@testable import MigrationArchive

/// The one form of the JSON in a header.
struct CanonicalJSONTests {
    private func read(_ text: String) -> CanonicalJSON? { CanonicalJSON([UInt8](text.utf8)[...]) }

    @Test func `writes keys, strings and numbers in the documented bytes`() {
        let value = CanonicalJSON.object([
            "b": .array([.boolean(true), .boolean(false), .number(0), .number(.max)]),
            "B": .string("a/\"\\\u{0}\u{8}\t\n\u{B}\u{C}\r\u{1F}\u{7F}\u{E9}\u{2028}\u{1F30A}"),
            "a": .object([:]), "é": .array([]),
        ])
        let expected =
            #"{"B":"a/\"\\\u0000\b\t\n\u000b\f\r\u001f"# + "\u{7F}\u{E9}\u{2028}\u{1F30A}\","
            + #""a":{},"b":[true,false,0,18446744073709551615],"é":[]}"#
        #expect(String(decoding: value.encoded, as: UTF8.self) == expected)
        #expect(read(expected) == value)
    }

    @Test(
        arguments: [
            "", "{", "}", "[1,]", "[,1]", "[1 ]", "01", "-1", "1.0", "1e3", "18446744073709551616",
            "null", "tru", #""a"#, #""\/""#, #""\u0061""#, #""\u000A""#, #""\u001F""#, "\"\n\"",
            #"{"b":1,"a":1}"#, #"{"a":1,"a":2}"#, #"{"a" :1}"#, #"{"a":1,}"#, #"{a:1}"#, "1 ", " 1",
            String(repeating: "[", count: 17) + String(repeating: "]", count: 17),
            String(repeating: "[", count: 100_000),
        ]
    )
    func `reads nothing in another form`(_ text: String) {
        #expect(read(text) == nil)
    }

    @Test func `reads nothing that is not UTF-8`() {
        #expect(CanonicalJSON([0x22, 0xFF, 0x22]) == nil)
    }

    @Test func `reads values as deep as they may lie`() {
        let deep = String(repeating: "[", count: 16) + String(repeating: "]", count: 16)
        #expect(read(deep)?.encoded == [UInt8](deep.utf8))
    }
}
