import Foundation
import TestSupport
import Testing

/// `--activity`, which the app finds beside the import status.
@Suite(.scratchDirectory)
struct ActivityTests {
    private func place() throws -> Workplace {
        let place = try Workplace()
        let made = try place.shell(
            """
            mkdir source; echo data > source/file
            python3 -c "import plistlib
            for name, form in ('xml', plistlib.FMT_XML), ('binary', plistlib.FMT_BINARY):
                plistlib.dump({'activityType': 'com.example.editing', 'title': 'A note',
                    'userInfo': {'note': '7'}}, open(name + '.plist', 'wb'), fmt=form)
            plistlib.dump({'title': 'x'}, open('typeless.plist', 'wb'))
            plistlib.dump({'activityType': 'x', 'userInfo': {'x': 'x' * 70000}},
                open('large.plist', 'wb'))"
            echo text > text.plist
            """
        )
        try #require(made.exitCode == 0, "\(made.errors)")
        return place
    }

    @Test(arguments: ["xml", "binary"])
    func `travels with the data, and the status shows it`(_ form: String) throws {
        let result = try place().shell(
            """
            $migrate export --container source --bundle-id a.b --out archive --activity \(form).plist &&
            $migrate inspect archive && $migrate import archive --container app &&
            $migrate status --container app && $migrate status --container app --json &&
            $migrate fingerprint --container source --bundle-id a.b --activity \(form).plist
            $migrate status --container app --clear
            """
        )
        #expect(result.exitCode == 0, "\(result.errors)")
        for text in [
            "activity     com.example.editing\n", "com.example.editing 'A note', not taken yet",
            #""activityTitle" : "A note""#, #""activityType" : "com.example.editing""#,
        ] {
            #expect(result.output.contains(text), "\(text): \(result.output)")
        }
        #expect(result.output.hasSuffix("none\n"))
    }

    @Test(arguments: [
        ("typeless", 64, "activityType"), ("text", 64, "property list"), ("large", 64, "64 KiB"),
        ("none", 1, "none.plist"),
    ])
    func `refuses what is not an activity`(
        _ name: String,
        _ code: Int32,
        _ reason: String
    ) throws {
        let result = try place().shell(
            """
            $migrate export --container source --bundle-id a.b --out archive --activity \(name).plist
            code=$?; ls archive; exit $code
            """
        )
        #expect(result.exitCode == code, "\(result.errors)")
        #expect(result.errors.contains(reason), "\(result.errors)")
        #expect(result.output.isEmpty)
    }
}
