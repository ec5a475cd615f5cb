import AndroidMigration
import Testing

struct RulesFileTests {
    private func failure(_ bytes: [UInt8]) -> AndroidMigrationError? {
        #expect(throws: AndroidMigrationError.self) { try RulesFile(bytes) }
    }

    @Test func `reads UTF-16 and byte order marks`() throws {
        let text = LintTests.clean
        var little: [UInt8] = [0xFF, 0xFE]
        var big: [UInt8] = [0xFE, 0xFF]
        for unit in text.utf16 {
            let (low, high) = (UInt8(unit & 0xFF), UInt8(unit >> 8))
            little += [low, high]
            big += [high, low]
        }
        let marked: [UInt8] = [0xEF, 0xBB, 0xBF] + [UInt8](text.utf8)
        for bytes in [marked, little, big] {
            let rules = try RulesFile(bytes)
            #expect(rules.parameters.map(\.bundleIdentifier) == ["com.example.app"])
        }
    }

    @Test(arguments: [
        ("", "this is no XML: no element found"),
        ("<data-extraction-rules>", "this is no XML: no element found"),
        ("no XML", "this is no XML: syntax error"),
        ("<!DOCTYPE a [<!ENTITY b \"c\">]><data-extraction-rules/>", "a document type is refused"),
        ("<!DOCTYPE a SYSTEM \"file:///etc/passwd\"><a/>", "a document type is refused"),
        ("<data-extraction-rules>&b;</data-extraction-rules>", "this is no XML: undefined entity"),
    ])
    func `refuses what is no such file`(_ text: String, _ message: String) {
        let error = failure([UInt8](text.utf8))
        #expect(error?.code == .notRules)
        #expect(error?.message == message)
        #expect(error?.line != nil)
    }

    @Test func `refuses binary XML by name`() {
        #expect(failure([3, 0, 8, 0, 1, 2])?.message.hasPrefix("this is binary XML") ?? false)
        #expect(throws: AndroidMigrationError.self) { try AppManifest([3, 0, 8, 0]) }
    }

    @Test func `bounds depth and size`() {
        let deep = String(repeating: "<a>", count: 100_000)
        #expect(failure([UInt8](deep.utf8))?.message == "elements lie more than 128 deep")
        let large = [UInt8](repeating: 0x20, count: 5 << 20)
        #expect(failure(large)?.message == "the file is larger than 4 MiB")
    }

    @Test func `takes the last parameters of repeated sections`() throws {
        let section = { (id: String) in
            "<cross-platform-transfer platform=\"ios\">\(id)</cross-platform-transfer>"
        }
        let params = { (id: String) in "<platform-specific-params bundleId=\"\(id)\"/>" }
        let text =
            "<data-extraction-rules>\(section(params("a")))\(section(params("b")))\(section(""))"
            + "</data-extraction-rules>"
        let rules = try RulesFile([UInt8](text.utf8))
        #expect(rules.parameters.map(\.bundleIdentifier) == ["b"])
    }
}
