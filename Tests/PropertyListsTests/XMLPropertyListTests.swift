import Foundation
import Testing

@testable import PropertyLists

struct XMLPropertyListTests {
    private func read(_ content: String) throws -> PropertyListValue {
        try PropertyListValue.read([UInt8]("<plist>\(content)</plist>".utf8))
    }

    private func problem(of text: String) -> String? {
        #expect(throws: PropertyListError.self) {
            try PropertyListValue.read([UInt8](text.utf8))
        }?.description
    }

    @Test func `reads an entitlement's array with Apple's document type`() throws {
        let text = """
            <?xml version="1.0" encoding="UTF-8"?>
            <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" \
            "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
            <!-- a comment -->
            <plist version="1.0">
            <dict>
                <key>access</key>
                <array><string>com.example.notes</string></array>
            </dict>
            </plist>
            """
        let list = try PropertyListValue.read([UInt8](text.utf8))
        #expect(list == .dictionary(["access": .array([.string("com.example.notes")])]))
    }

    @Test(
        arguments: [
            ("<string> a &amp; b&#10;<![CDATA[<c>]]> </string>", .string(" a & b\n<c> ")),
            ("<string/>", .string("")), ("<integer> -12 </integer>", .integer(-12)),
            ("<integer>0x1F</integer>", .integer(31)), ("<integer>+7</integer>", .integer(7)),
            ("<integer>-9223372036854775808</integer>", .integer(.min)),
            ("<integer>18446744073709551615</integer>", .unsigned(.max)),
            ("<real>-1.5e3</real>", .real(-1500)), ("<real>+infinity</real>", .real(.infinity)),
            ("<true/>", .boolean(true)), ("<false></false>", .boolean(false)),
            ("<date>2001-01-01T00:00:00Z</date>", .date(secondsSince2001: 0)),
            ("<date>2024-02-29T23:59:59Z</date>", .date(secondsSince2001: 730_943_999)),
            ("<date>1969-07-20T20:17:40Z</date>", .date(secondsSince2001: -992_490_140)),
            ("<data>\n\taGV s\n bG8=\n</data>", .data([UInt8]("hello".utf8))),
            ("<data/>", .data([])), ("<array/>", .array([])), ("<dict/>", .dictionary([:])),
            ("<array><array><true/></array></array>", .array([.array([.boolean(true)])])),
        ] as [(String, PropertyListValue)]
    )
    func `reads each element`(_ text: String, _ value: PropertyListValue) throws {
        #expect(try read(text) == value)
    }

    @Test(arguments: [
        "<integer>1 2</integer>", "<integer/>", "<integer>0x</integer>", "<integer>--1</integer>",
        "<integer>18446744073709551616</integer>", "<integer>-9223372036854775809</integer>",
        "<real>0x1p3</real>", "<real>one</real>", "<true>no</true>",
        "<date>2001-13-01T00:00:00Z</date>", "<date>2023-02-29T00:00:00Z</date>",
        "<date>2001-01-01</date>", "<date>2001/01/01T00:00:00Z</date>",
        "<date>2001-01-01 00:00:00Z</date>", "<date>2001-01-01T00:00:00+</date>",
        "<date>20010-1-01T00:00:00Z</date>", "<date>2001-01-01T00:00:00+01:00</date>",
        "<data>a</data>", "<data>aGVsbG8</data>", "<data>aG=VsbG8=</data>", "<data>a!==</data>",
        "<unknown/>", "<dict><string>a</string></dict>", "<dict><key>a</key></dict>",
        "<dict><key>a</key><key>b</key><true/></dict>", "<array><key>a</key></array>",
        "<array>text</array>", "<string><string>a</string></string>", "<plist><true/></plist>",
        "<dict><key>a</key><true/><key>a</key><false/></dict>", "<true/><true/>", "",
        "<string>&unknown;</string>", "<string>\u{1}</string>", "<array>",
    ])
    func `refuses content that isn't a list`(_ text: String) {
        #expect(throws: PropertyListError.self) { try read(text) }
    }

    @Test(arguments: ["", "text", "bplist", "bplist00", "bplist15", "{ a = b; }", "<plist><dict>"])
    func `refuses bytes that aren't a list`(_ text: String) {
        #expect(problem(of: text) != nil)
    }

    @Test(arguments: ["<plist><true/>", "<plist><true/></plist>text", "<plist><true/></plist><a/>"])
    func `refuses a whole value in a text that isn't XML`(_ text: String) {
        #expect(problem(of: text) == "it is neither a binary list nor valid XML")
    }

    @Test func `refuses entities, and names the line`() {
        let text = """
            <!DOCTYPE plist [
            <!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;">
            ]>
            <plist><string>&b;</string></plist>
            """
        #expect(problem(of: text) == "line 2: entities are refused")
        let external = """
            <!DOCTYPE plist SYSTEM "file:///etc/passwd">
            <plist><string>&passwd;</string></plist>
            """
        #expect(problem(of: external)?.hasSuffix("an entity that isn't known") == true)
    }

    @Test(arguments: ["array", "dict"])
    func `refuses a text that nests without end`(_ element: String) {
        let inner = element == "dict" ? "<dict><key>a</key>" : "<array>"
        let levels = 100_000
        let deep = String(repeating: inner, count: levels)
        let message = "line 1: it nests more than 64 levels, or refers to itself"
        #expect(problem(of: "<plist>" + deep) == message)
        #expect(problem(of: deep) == message)
    }

    @Test func `keeps to its limits`() throws {
        let text = [UInt8]("<array><string>abcd</string><true/></array>".utf8)
        let fits = PropertyListLimits(values: 3, expandedBytes: 4, depth: 1)
        #expect(try PropertyListValue.read(text, limits: fits).array?.count == 2)
        for limits in [
            PropertyListLimits(values: 2, expandedBytes: 4, depth: 1),
            PropertyListLimits(values: 3, expandedBytes: 3, depth: 1),
            PropertyListLimits(values: 3, expandedBytes: 4, depth: 0),
        ] {
            #expect(throws: PropertyListError.self) {
                try PropertyListValue.read(text, limits: limits)
            }
        }
    }

    @Test func `refuses a description of an app that is large or no dictionary`() throws {
        #expect(throws: PropertyListError.self) { try PropertyListValue.read(dictionaryIn: nil) }
        #expect(throws: PropertyListError("it isn't a dictionary")) {
            try PropertyListValue.read(dictionaryIn: [UInt8]("<array/>".utf8))
        }
    }
}

struct XMLPropertyListWriterTests {
    private static let everything: PropertyListValue = .dictionary([
        "text": .string("<a> & \"b\"\r\n\tü\u{1F600}"), "empty": .string(""),
        "negative": .integer(.min), "high": .unsigned(.max), "real": .real(0.1),
        "whole": .real(2), "infinite": .real(-.infinity), "true": .boolean(true),
        "false": .boolean(false), "date": .date(secondsSince2001: -1),
        "data0": .data([]), "data1": .data([1]), "data2": .data([1, 2]),
        "data3": .data([1, 2, 255]),
        "array": .array([.array([]), .dictionary([:])]), "<key>": .dictionary(["a": .integer(1)]),
    ])

    @Test func `reads back everything that it writes`() throws {
        #expect(try PropertyListValue.read(Self.everything.xml()) == Self.everything)
    }

    @Test func `writes what is empty as one element`() throws {
        let text = String(decoding: try Self.everything.xml(), as: UTF8.self)
        #expect(text.contains("<array/>"))
        #expect(text.contains("<dict/>"))
    }

    @Test func `Foundation reads what it writes`() throws {
        let data = Data(try Self.everything.xml())
        let list = try PropertyListSerialization.propertyList(from: data, format: nil)
        let values = try #require(list as? [String: Any])
        #expect(values["text"] as? String == "<a> & \"b\"\r\n\tü\u{1F600}")
        #expect(values["high"] as? UInt64 == .max)
        #expect(values["date"] as? Date == Date(timeIntervalSinceReferenceDate: -1))
        #expect(values["data3"] as? Data == Data([1, 2, 255]))
        #expect(values.count == Self.everything.dictionary?.count)
    }

    @Test func `every day from year 0 to 9999 keeps its date`() throws {
        for day in stride(from: -730_850, to: 2_921_500, by: 97) {
            let date = PropertyListValue.date(secondsSince2001: Double(day * 86_400 + 3_601))
            #expect(try PropertyListValue.read(date.xml()) == date)
        }
    }

    @Test(
        arguments: [
            .uid(1), .string("\u{0}"), .string("\u{1B}"), .date(secondsSince2001: .nan),
            .date(secondsSince2001: 1e12), .dictionary(["\u{7}": .integer(1)]),
        ] as [PropertyListValue]
    )
    func `refuses a value that XML can't hold`(_ value: PropertyListValue) {
        #expect(throws: PropertyListError.self) { try PropertyListValue.array([value]).xml() }
    }
}
