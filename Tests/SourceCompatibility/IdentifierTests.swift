import AppMigrationKit
import Foundation
import Testing

@Suite struct IdentifierTests {
    @Test func `is encoded as three strings`() throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        let data = try encoder.encode(MigrationAppIdentifier.sample)
        let text = String(decoding: data, as: UTF8.self)
        #expect(
            text == """
                {"bundleIdentifier":"com.example.notes","platform":"android",\
                "storeIdentifier":"googlePlay"}
                """
        )
    }

    @Test func `is decoded from what was encoded, whatever the names`() throws {
        let text = #"{"storeIdentifier":"shop","bundleIdentifier":"a","platform":"web"}"#
        let identifier = try JSONDecoder()
            .decode(MigrationAppIdentifier.self, from: Data(text.utf8))
        #expect(identifier.storeIdentifier == MigrationAppIdentifier.StoreIdentifier("shop"))
        #expect(identifier.bundleIdentifier == "a")
        #expect(identifier.platform == MigrationPlatform("web"))
    }

    @Test(arguments: ["storeIdentifier", "bundleIdentifier", "platform"])
    func `needs each of its parts to be decoded`(_ key: String) throws {
        let parts = ["storeIdentifier": "shop", "bundleIdentifier": "a", "platform": "web"]
        let data = try JSONEncoder().encode(parts.filter { $0.key != key })
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode(MigrationAppIdentifier.self, from: data)
        }
    }
}

extension MigrationAppIdentifier {
    /// An app on Android.
    static let sample = MigrationAppIdentifier(
        storeIdentifier: .googlePlay,
        bundleIdentifier: "com.example.notes",
        platform: .android
    )
}
