/// The property lists that the fuzzer starts from.
public enum EntitlementSeeds {
    private static let entitlement = "com.apple.developer.app-migration.data-container-access"

    /// Inputs of ``EntitlementGround``.
    public static func inputs() -> [[UInt8]] {
        var seeds: [[UInt8]] = []
        for value in [
            "<array><string>a.b</string></array>", "<array/>", "<string>a.b</string>",
            "<data>AAAA</data>",
            "<array><string>a.b</string><string>b</string></array>",
            "<array><real>1</real></array>",
            "<date>2026-01-02T03:04:05Z</date>",
            "<dict><key>CF$UID</key><integer>1</integer></dict>",
        ] {
            seeds.append([0] + [UInt8](xml(entitlement, value).utf8))
        }
        seeds.append([0] + [UInt8]("{\"\(entitlement)\" = (\"a.b\");}".utf8))
        let name = "<string>a.b</string>"
        seeds.append([2] + [UInt8](xml("MCMMetadataIdentifier", name).utf8))
        seeds.append([3] + [UInt8](xml("CFBundleIdentifier", name).utf8))
        seeds.append([4] + binary(entitlement, isArray: true))
        seeds.append([6] + binary("MCMMetadataIdentifier", isArray: false))
        seeds.append([7] + binary("bundleIdentifier", isArray: false))
        return seeds
    }

    private static func xml(_ key: String, _ value: String) -> String {
        """
        <?xml version="1.0" encoding="UTF-8"?>
        <plist version="1.0"><dict><key>\(key)</key>\(value)</dict></plist>
        """
    }

    /// The objects of a list with `key`, and beside it an array that holds one object twice.
    private static func binary(_ key: String, isArray: Bool) -> [UInt8] {
        let name: [UInt8] = [0x5F, 0x10, UInt8(key.utf8.count)] + key.utf8
        let objects: [[UInt8]] = [
            [0xD2, 1, 2, isArray ? 3 : 4, 5], name, [0x51, 0x78], [0xA1, 4], [0x53] + "a.b".utf8,
            [0xA2, 6, 6], [0xA2, 7, 7], [0x10, 1],
        ]
        return [UInt8](objects.joined(separator: [0xFF]))
    }
}
