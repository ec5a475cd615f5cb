import Foundation
import Testing

@testable import PropertyLists

struct BinaryPropertyListTests {
    private static let key: [UInt8] = [0x53] + [UInt8]("key".utf8)
    private static let text: [UInt8] = [0x51, UInt8(ascii: "a")]

    /// A binary list of `objects`; the first one holds the others.
    private static func list(_ objects: [[UInt8]]) throws -> [UInt8] {
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

    /// A list in which each array holds the next one twice, at every level.
    private static func nested(_ levels: Int) throws -> [UInt8] {
        let arrays = (1...levels).map { [0xA2, UInt8($0), UInt8($0)] as [UInt8] }
        return try list(arrays + [text])
    }

    private func problem(of bytes: [UInt8]) -> String? {
        #expect(throws: PropertyListError.self) { try PropertyListValue.read(bytes) }?.description
    }

    @Test func `finds a member of a list whose other members can't be read`() throws {
        // A dictionary whose first value refers to itself, and whose second one is of no known type.
        let list = try BinaryPropertyList(
            Self.list([
                [0xD3, 1, 2, 3, 0, 4, 5], Self.text, [0x51, 0x62], Self.key, [0x70], [0xA1, 1],
            ])
        )
        let array = try #require(try list.member("key", of: list.root))
        let element = try #require(try list.element(0, of: array))
        #expect(try list.value(of: element) == .string("a"))
        #expect(try list.member("c", of: list.root) == nil)
        #expect(try list.member("a", of: list.root) == list.root)
        #expect(try list.value(of: list.root) == nil)
        #expect(try list.element(1, of: array) == nil)
        #expect(try list.element(.max, of: array) == nil)
        #expect(try list.member("a", of: array) == nil)
        let unknown = try #require(try list.member("b", of: list.root))
        #expect(throws: PropertyListError.self) { try list.value(of: unknown) }
    }

    /// Many keys may refer to one long text, and reading it for each takes minutes.
    @Test func `reads no key of another length than the wanted one`() throws {
        let other: [UInt8] = [0x64] + [UInt8](repeating: 0xD8, count: 8)
        let wanted: [UInt8] = [0x62, 0, UInt8(ascii: "k"), 0, 0xFC]
        let list = try BinaryPropertyList(
            Self.list([[0xD3, 1, 1, 2, 3, 3, 3], other, wanted, Self.text])
        )
        let place = try #require(try list.member("kü", of: list.root))
        #expect(try list.value(of: place) == .string("a"))
        #expect(throws: PropertyListError.self) { try list.member("four", of: list.root) }
    }

    @Test func `leaves out what isn't wanted, and takes no more than it may keep`() throws {
        let bytes = try PropertyListSerialization.data(
            fromPropertyList: ["icon": Data(count: 5_000), "name": "Notes"],
            format: .binary,
            options: 0
        )
        func read(expanding: Int = 100, _ binary: Int = 6_000) throws -> PropertyListValue? {
            let limits = PropertyListLimits(expandedBytes: expanding, binaryBytes: binary)
            var pieces = [bytes.prefix(3_000), bytes.dropFirst(3_000)].map { [UInt8]($0)[...] }
            return try PropertyListValue.read(limits: limits, leavingOut: ["icon"]) {
                pieces.isEmpty ? [] : pieces.removeFirst()
            }
        }
        #expect(try read() == .dictionary(["name": .string("Notes")]))
        let error = #expect(throws: PropertyListError.self) { try read(expanding: 100, 5_000) }
        #expect(error?.description.contains("more than 5000 bytes") == true)
    }

    @Test func `reads every kind of value as Foundation writes it`() throws {
        let date = Date(timeIntervalSinceReferenceDate: -12_345.5)
        let values: [String: Any] = [
            "key": String(repeating: "long ", count: 100), "unicode": "ü\u{4E2D}\u{1F600}",
            "true": true, "false": false, "small": 200, "number": 1 << 40, "negative": -1,
            "high": UInt64.max, "real": 1.5, "single": Float(0.25), "date": date,
            "data": Data(count: 1000), "array": Array(repeating: ["a"], count: 300),
            "dictionary": ["x": ["y": -1]], "empty": [String: String](),
        ]
        let data = try PropertyListSerialization.data(
            fromPropertyList: values,
            format: .binary,
            options: 0
        )
        let list = try PropertyListValue.read([UInt8](data))
        #expect(list["key"]?.string?.count == 500)
        #expect(list["unicode"] == .string("ü\u{4E2D}\u{1F600}"))
        #expect(list["true"] == .boolean(true))
        #expect(list["false"] == .boolean(false))
        #expect(list["small"] == .integer(200))
        #expect(list["number"] == .integer(1 << 40))
        #expect(list["negative"] == .integer(-1))
        #expect(list["high"] == .unsigned(.max))
        #expect(list["real"] == .real(1.5))
        #expect(list["single"] == .real(0.25))
        #expect(list["date"] == .date(secondsSince2001: -12_345.5))
        #expect(list["data"] == .data([UInt8](repeating: 0, count: 1000)))
        #expect(list["array"]?.array?.last?.strings == ["a"])
        #expect(list["dictionary"] == .dictionary(["x": .dictionary(["y": .integer(-1)])]))
        #expect(list["empty"] == .dictionary([:]))
        #expect(list.dictionary?.count == values.count)
    }

    @Test func `reads the numbers of objects in a keyed archive`() throws {
        let archive = try NSKeyedArchiver.archivedData(
            withRootObject: NSString("text"),
            requiringSecureCoding: true
        )
        let list = try PropertyListValue.read([UInt8](archive))
        let root = try #require(list["$top"]?["root"]?.uid)
        #expect(list["$objects"]?.array?[Int(root)] == .string("text"))
        let wide = try PropertyListValue.read(Self.list([[0x81, 0x01, 0x00]]))
        #expect(wide == .uid(256))
    }

    @Test func `counts a shared object each time that it is used`() throws {
        #expect(try PropertyListValue.read(Self.nested(3)) != .array([]))
        #expect(try problem(of: Self.nested(60)) == "it holds too many values")
        let data: [UInt8] = [0x4F, 0x10, 100] + [UInt8](repeating: 7, count: 100)
        let shared = try Self.list([[0xA2, 1, 1], data])
        let limits = PropertyListLimits(expandedBytes: 202)
        #expect(try PropertyListValue.read(shared, limits: limits).array?.count == 2)
        #expect(throws: PropertyListError("it expands to too many bytes")) {
            try PropertyListValue.read(shared, limits: PropertyListLimits(expandedBytes: 201))
        }
    }

    @Test func `refuses a list that refers to itself, and one that is too deep`() throws {
        let message = "it nests more than 64 levels, or refers to itself"
        #expect(try problem(of: Self.list([[0xA1, 0]])) == message)
        #expect(try problem(of: Self.list([[0xD1, 1, 0], Self.key])) == message)
        let deep = (1...65).map { [0xA1, UInt8($0)] as [UInt8] }
        #expect(try problem(of: Self.list(deep + [Self.text])) == message)
        #expect(try PropertyListValue.read(Self.list(deep.dropLast() + [Self.text])) != .array([]))
    }

    private static let absurdLengths: [[UInt8]] = [
        [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF],
        [0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF],
        [0x40, 0, 0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0, 0, 100],
    ]

    @Test(arguments: [0x4F, 0x5F, 0x6F, 0xAF, 0xBF, 0xCF, 0xDF] as [UInt8], absurdLengths)
    func `refuses objects that claim more than there is`(_ kind: UInt8, _ length: [UInt8]) throws {
        let absurd = [kind, 0x13] + length
        #expect(try problem(of: Self.list([absurd])) != nil)
        #expect(try problem(of: Self.list([[0xD1, 1, 2], Self.key, absurd])) != nil)
        let sound = try PropertyListValue.read(Self.list([[0xD1, 1, 2], Self.key, Self.text]))
        #expect(sound["key"] == .string("a"))
    }

    @Test func `refuses a list that is cut, or whose end claims too much`() throws {
        let whole = try Self.nested(3)
        for count in 0..<whole.count {
            #expect(problem(of: [UInt8](whole.prefix(count))) != nil, "\(count) bytes")
        }
        for index in whole.count - 26..<whole.count {
            var changed = whole
            changed[index] = 0xFF
            #expect(problem(of: changed) != nil, "byte \(index)")
        }
    }

    @Test func `refuses an object in the list's own head`() throws {
        // The head's first byte would be a string.
        var bytes = try Self.list([Self.text])
        bytes[bytes.count - 33] = 0
        #expect(problem(of: bytes) != nil)
    }

    @Test func `ends well whatever byte of a list is changed`() throws {
        let values: [String: Any] = ["a": [1, "ü", 2.5], "b": Data(count: 20), "c": Date()]
        let data = try PropertyListSerialization.data(
            fromPropertyList: values,
            format: .binary,
            options: 0
        )
        for index in data.indices {
            for value in [0, 1, 0x0F, 0x7F, 0x80, 0xA2, 0xDF, 0xFF] as [UInt8] {
                var changed = [UInt8](data)
                changed[index] = value
                _ = try? PropertyListValue.read(changed)
            }
        }
    }

    @Test(
        arguments: [
            ([0xD1, 1, 2], [0x10, 7], "it has a key that isn't a text"),
            ([0xA1, 1], [0x61, 0xD8, 0x00], "it holds a text that isn't valid UTF-16"),
            ([0xA1, 1], [0x51, 0xFF], "it holds a text that isn't valid ASCII"),
            ([0xA1, 1], [0x00], "it holds a value of an unknown type"),
            ([0xA1, 1], [0x70], "it holds a value of an unknown type"),
            ([0xA1, 1], [0x14] + [UInt8](repeating: 1, count: 16), "it holds a number that takes"),
        ] as [([UInt8], [UInt8], String)]
    )
    func `names a value that it can't hold`(
        _ root: [UInt8],
        _ value: [UInt8],
        _ message: String
    ) throws {
        #expect(try problem(of: Self.list([root, value, Self.text]))?.hasPrefix(message) == true)
    }

    @Test func `refuses a key that is there twice`() throws {
        let list = try Self.list([[0xD2, 1, 1, 2, 2], Self.key, Self.text])
        #expect(problem(of: list) == "it has one key twice")
    }
}
