import AndroidMigration
import Testing

/// The text of `_cross_platform_manifest`, by AOSP's CrossPlatformManifestTest.
struct CrossPlatformManifestTests {
    private static let text = """
        1
        com.example.app
        ios
        2
        com.example.one
        TEAM1
        1.0
        com.example.two
        TEAM2

        1
        \(String(repeating: "ab", count: 32))

        """

    private func read(_ text: String) throws -> CrossPlatformManifest {
        try CrossPlatformManifest([UInt8](text.utf8))
    }

    @Test func `reads what it writes`() throws {
        let manifest = try read(Self.text)
        #expect(manifest.package == "com.example.app")
        #expect(
            manifest.parameters.map(\.bundleIdentifier) == ["com.example.one", "com.example.two"]
        )
        #expect(manifest.parameters.map(\.contentVersion) == ["1.0", ""])
        #expect(manifest.signatures.count == 1)
        #expect(try manifest.encoded() == [UInt8](Self.text.utf8))
        let empty = "1\na\nios\n0\n0\n"
        #expect(try read(empty).encoded() == [UInt8](empty.utf8))
    }

    @Test func `is cut off nowhere without notice`() {
        let bytes = [UInt8](Self.text.utf8)
        for count in 0..<bytes.count {
            #expect(throws: AndroidMigrationError.self, "\(count)") {
                try CrossPlatformManifest(Array(bytes.prefix(count)))
            }
        }
    }

    @Test(arguments: [
        ("2\na\nios\n0\n0\n", AndroidMigrationError.Code.unsupported),
        ("x\na\nios\n0\n0\n", .notAManifest), ("1\na\nios\n-1\n0\n", .notAManifest),
        ("1\na\nios\n99999999999999999999\n", .notAManifest),
        ("1\na\nios\n9999999999\n", .notAManifest), ("1\na\nios\n0\n1\nxy\n", .notAManifest),
        ("1\na\nios\n0\n1\nabc\n", .notAManifest),
    ])
    func `refuses what is no manifest`(_ text: String, _ code: AndroidMigrationError.Code) {
        let error = #expect(throws: AndroidMigrationError.self) { try read(text) }
        #expect(error?.code == code)
    }

    @Test func `matches an app by both identifiers, letter by letter`() throws {
        let manifest = try read(Self.text)
        let app = try #require(AppIdentity("TEAM2.com.example.two"))
        #expect(try manifest.parameters(for: app).contentVersion == "")
        for other in ["TEAM1.com.example.two", "team2.com.example.two"] {
            let app = try #require(AppIdentity(other))
            let error = #expect(throws: AndroidMigrationError.self) {
                try manifest.parameters(for: app)
            }
            #expect(error?.code == .appMismatch)
        }
        #expect(AppIdentity("TEAM") == nil)
        #expect(AppIdentity(".a") == nil)
    }

    @Test func `writes no value that would be read as two`() {
        let manifest = CrossPlatformManifest(package: "a\nb", parameters: [])
        #expect(throws: AndroidMigrationError.self) { try manifest.encoded() }
    }
}
