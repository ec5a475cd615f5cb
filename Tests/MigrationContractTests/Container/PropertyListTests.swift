import Foundation
import Testing

@testable import MigrationContract

struct PropertyListTests {
    private static let key = "key"

    /// A binary list in which one array holds the next one twice, as many levels as there are.
    private static func nested(_ levels: Int) throws -> [UInt8] {
        var objects: [[UInt8]] = [
            [0xD2, 1, 2, 3, 5], [0x53] + [UInt8](key.utf8), [0x51, 0x78], [0xA1, 4], [0x51, 0x61],
        ]
        for _ in 0..<levels {
            let next = UInt8(objects.count + 1)
            objects.append([0xA2, next, next])
        }
        objects.append([0x51, 0x62])
        return try binary(objects)
    }

    /// A binary list of `objects`, the first of which holds the others.
    private static func binary(_ objects: [[UInt8]]) throws -> [UInt8] {
        var bytes = [UInt8]("bplist00".utf8)
        var offsets: [UInt8] = []
        for object in objects {
            offsets.append(try #require(UInt8(exactly: bytes.count)))
            bytes += object
        }
        let table = UInt8(bytes.count)
        bytes += offsets + [0, 0, 0, 0, 0, 0, 1, 1]
        for number in [UInt8(objects.count), 0, table] { bytes += [0, 0, 0, 0, 0, 0, 0, number] }
        return bytes
    }

    private func text(_ value: String) -> [UInt8] {
        [UInt8]("<plist><dict><key>\(Self.key)</key>\(value)</dict></plist>".utf8)
    }

    @Test(.timeLimit(.minutes(30)))
    func `makes nothing of what is not asked for`() throws {
        let list = try #require(PropertyList(Self.nested(60)))
        #expect(list.strings(for: Self.key, limit: 2) == ["a"])
        #expect(list.string(for: "x") == nil)
        #expect(list.strings(for: "x", limit: 2) == nil)
        #expect(list.contains("x"))
    }

    private static let absurdLengths: [[UInt8]] = [
        [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF],
        [0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF],
        [0x40, 0, 0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0, 0, 100],
    ]

    @Test(arguments: [0x4F, 0x5F, 0x6F, 0xAF, 0xBF, 0xCF, 0xDF] as [UInt8], absurdLengths)
    func `refuses objects that claim more than there is`(_ kind: UInt8, _ length: [UInt8]) throws {
        let absurd = [kind, 0x13] + length
        let key: [UInt8] = [0x53] + [UInt8](Self.key.utf8)
        #expect(PropertyList(try Self.binary([absurd])) == nil)
        #expect(PropertyList(try Self.binary([[0xD1, 1, 2], key, absurd])) == nil)
        #expect(PropertyList(try Self.binary([[0xD1, 1, 2], key, [0x51, 0x61]])) != nil)
    }

    @Test func `refuses a binary list that is cut, or whose end claims too much`() throws {
        let whole = try Self.nested(3)
        for count in 6..<whole.count {
            #expect(PropertyList([UInt8](whole.prefix(count))) == nil, "\(count) bytes")
        }
        for index in whole.count - 26..<whole.count {
            var changed = whole
            changed[index] = 0xFF
            #expect(PropertyList(changed) == nil, "byte \(index)")
        }
    }

    @Test func `takes every kind of value in a binary list`() throws {
        let values: [String: Any] = [
            Self.key: String(repeating: "long ", count: 100), "unicode": "ü\u{4E2D}", "true": true,
            "number": 1 << 40, "real": 1.5, "date": Date(), "data": Data(count: 1000),
            "array": Array(repeating: ["a"], count: 300), "dictionary": ["x": ["y": -1]],
        ]
        let data = try PropertyListSerialization.data(
            fromPropertyList: values,
            format: .binary,
            options: 0
        )
        let list = try #require(PropertyList([UInt8](data)))
        #expect(list.string(for: Self.key)?.count == 500)
        #expect(values.keys.allSatisfy(list.contains))
    }

    @Test(arguments: ["array", "dict"])
    func `refuses a text that nests without end`(_ element: String) {
        let inner = element == "dict" ? "<dict><key>a</key>" : "<array>"
        let levels = 10_000
        let deep = String(repeating: inner, count: levels)
        #expect(PropertyList(text(deep)) == nil)
        #expect(PropertyList(text(deep + String(repeating: "</\(element)>", count: levels))) == nil)
    }

    @Test(arguments: ["", "text", "bplist", "bplist00", "<plist><array/></plist>", "<plist><dict>"])
    func `refuses what is no dictionary`(_ text: String) {
        #expect(PropertyList([UInt8](text.utf8)) == nil)
    }

    @Test func `returns the strings of an array up to a limit`() throws {
        let none = try #require(PropertyList(text("<array/>")))
        #expect(none.strings(for: Self.key, limit: 2) == [])
        let strings = ["a", "b", "a"].map { "<string>\($0)</string>" }.joined()
        let three = try #require(PropertyList(text("<array>\(strings)</array>")))
        #expect(three.strings(for: Self.key, limit: 2) == ["a", "b"])
        #expect(three.strings(for: Self.key, limit: 9) == ["a", "b", "a"])
    }

    @Test(arguments: [
        "<string>a</string>", "<array><integer>1</integer></array>",
        "<array><string>a</string><true/></array>", "<dict/>",
    ])
    func `tells an array of strings from all else`(_ value: String) throws {
        let list = try #require(PropertyList(text(value)))
        #expect(list.strings(for: Self.key, limit: 2) == nil)
        #expect(list.contains(Self.key))
    }
}
