import Foundation
import MigrationContract
import Testing

/// The stored form of a person's activity.
struct ResumeActivityTests {
    private static let type = "com.example.notes.editing"

    @Test func `takes the objects of Foundation as it takes Swift's values`() throws {
        let objects: [String: Any] = [
            "text": NSString("a"), "number": NSNumber(value: 7), "real": NSNumber(value: 0.5),
            "yes": NSNumber(value: true), "array": NSArray(array: ["a", 1]),
            "set": NSSet(array: ["a", 1]), "members": NSDictionary(dictionary: ["a": 1]),
        ]
        let values: [String: Any] = [
            "text": "a", "number": 7, "real": 0.5, "yes": true, "array": ["a", 1] as [Any],
            "set": Set<AnyHashable>(["a", 1]), "members": ["a": 1],
        ]
        #expect(
            try ResumeActivity(activityType: Self.type, userInfo: objects)
                == ResumeActivity(activityType: Self.type, userInfo: values)
        )
    }

    @Test func `lies in a list with tags for what property lists don't have`() throws {
        let activity = try ResumeActivity(
            activityType: "a",
            userInfo: [
                "1": URL(filePath: "/b"), "2": NSNull(), "3": Set([1, 2]),
                "4": ["migration:x": "y"],
            ]
        )
        let text = String(decoding: activity.encoded, as: UTF8.self).filter { !$0.isWhitespace }
        for part in [
            "<key>migration:url</key><string>file:///b</string>",
            "<key>migration:null</key><true/>",
            "<key>migration:set</key><array><integer>1</integer><integer>2</integer></array>",
            "<key>migration:dictionary</key><dict><key>migration:x</key><string>y</string></dict>",
        ] { #expect(text.contains(part), "\(part)") }
    }

    @Test func `refuses what it can't carry, by name`() {
        struct Note {}
        for value in [Note(), [1: "a"], [Note()], ["a": Note()]] as [Any] {
            let error = #expect(throws: MigrationError.self) {
                try ResumeActivity(activityType: Self.type, userInfo: ["it": value])
            }
            #expect(error?.code == .invalidOption)
            #expect(error?.message.contains("'it'") == true)
        }
        #expect(throws: MigrationError.self) { try ResumeActivity(activityType: "") }
    }

    @Test func `refuses nesting without an end`() {
        var value: Any = "a"
        for _ in 0..<1000 { value = [value] }
        #expect(throws: MigrationError.self) {
            try ResumeActivity(activityType: Self.type, userInfo: ["x": value])
        }
    }

    @Test(arguments: [
        "<key>migration:other</key><string>a</string>",
        "<key>migration:uuid</key><string>a</string>",
        "<key>migration:null</key><false/>", "<key>migration:set</key><string>a</string>",
    ])
    func `refuses a tag that it doesn't know, or of another type`(_ member: String) {
        let text = """
            <?xml version="1.0"?><plist><dict><key>activityType</key><string>a</string>
            <key>userInfo</key><dict><key>x</key><dict>\(member)</dict></dict></dict></plist>
            """
        #expect(throws: MigrationError.self) { try ResumeActivity(encoded: Data(text.utf8)) }
        #expect(throws: MigrationError.self) { try ResumeActivity(list: [UInt8](text.utf8)) }
    }

    @Test func `is archived as XML of at most 64 KiB`() throws {
        let list = ["activityType": "a"]
        let xml = try PropertyListSerialization.data(
            fromPropertyList: list,
            format: .xml,
            options: 0
        )
        #expect(try ResumeActivity(encoded: xml).activityType == "a")
        let padding = Data(repeating: 0x20, count: ResumeActivity.sizeLimit - xml.count)
        #expect(try ResumeActivity(encoded: xml + padding).activityType == "a")
        let binary = try PropertyListSerialization.data(
            fromPropertyList: list,
            format: .binary,
            options: 0
        )
        for (data, words) in [(xml + padding + [0x20], "64 KiB"), (binary, "XML")] {
            let error = #expect(throws: MigrationError.self) { try ResumeActivity(encoded: data) }
            #expect(error?.message.contains(words) == true)
        }
        // A person may give a list in any form.
        #expect(try ResumeActivity(list: [UInt8](binary)).activityType == "a")
    }
}
