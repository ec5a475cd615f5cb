import Foundation
import MigrationCore
import TestSupport
import Testing

/// Foundation in the installed program, which has it linked in: values of every kind pass through.
///
/// The linker leaves out unreferenced code, such as the bridging of arrays.
@Suite(.scratchDirectory)
struct StaticFoundationTests {
    @Test(arguments: ["XML", "BINARY"])
    func `an activity arrives with values of every kind`(_ form: String) throws {
        let place = try Workplace()
        let result = try place.shell(
            """
            mkdir source && echo data > source/file && python3 -c "import plistlib, datetime
            moment = datetime.datetime(2024, 2, 29, 12, 30, 5)
            values = {'text': 'ä✎', 'count': 3, 'negative': -(2 ** 60), 'share': 0.25, 'isOld': True,
                'when': moment, 'bytes': bytes([0, 255]), 'none': [], 'names': ['a', 'b'],
                'nested': {'list': [1, [2.5, [moment, b'x'], {'deep': [False]}]]}}
            plistlib.dump({'activityType': 'com.example.editing', 'userInfo': values},
                open('activity', 'wb'), fmt=plistlib.FMT_\(form))" &&
            $migrate export --container source --bundle-id a.b --out archive --activity activity &&
            $migrate import archive --container app
            """
        )
        try #require(result.exitCode == 0, "\(result.errors)")
        let app = try MigrationDataContainer(at: place.directory.appending(path: "app"))
        let taken = try #require(try app.takeResumeActivity(ofTypes: ["com.example.editing"]))
        let values = taken.userInfo
        let moment = Date(timeIntervalSince1970: 1_709_209_805)
        #expect(values["text"] as? String == "ä✎")
        #expect(values["count"] as? Int == 3)
        #expect(values["negative"] as? Int == -(1 << 60))
        #expect(values["share"] as? Double == 0.25)
        #expect(values["isOld"] as? Bool == true)
        #expect(values["when"] as? Date == moment)
        #expect(values["bytes"] as? Data == Data([0, 255]))
        #expect((values["none"] as? [Any])?.isEmpty == true)
        #expect(values["names"] as? [String] == ["a", "b"])
        let list = (values["nested"] as? [String: Any])?["list"] as? [Any]
        let inner = try #require(list?.last as? [Any])
        #expect(list?.first as? Int == 1)
        #expect(inner.first as? Double == 2.5)
        #expect((inner[1] as? [Any])?.first as? Date == moment)
        #expect((inner[1] as? [Any])?.last as? Data == Data("x".utf8))
        #expect((inner[2] as? [String: Any])?["deep"] as? [Bool] == [false])
    }

    @Test func `the status has all that an extension's error says`() throws {
        let stage = try ExtensionStage()
        try stage.script("append import as script")
        try stage.write("throw-all", to: "import")
        let archive = stage.place.path("archive")
        let exported = try stage.run("export", "--out", archive)
        try #require(exported.exitCode == 0, "\(exported.errors)")
        // A failed import leaves nothing where no container was.
        try stage.place.shell("mkdir app")
        let imported = try stage.run("import", archive, container: "app")
        #expect(imported.exitCode == 1)
        #expect(imported.errors.contains("The notes did not arrive."), "\(imported.errors)")
        let status = try stage.place.migrate(
            "status",
            "--container",
            stage.place.path("app"),
            "--json"
        )
        let answer = try JSONSerialization.jsonObject(with: Data(status.standardOutput))
        let failure = (answer as? [String: Any])?["failure"] as? [String: Any]
        #expect(failure?["domain"] as? String == "com.example.notes")
        #expect(failure?["failureReason"] as? String == "The store is damaged.")
        let beneath = failure?["underlyingErrors"] as? [[String: Any]]
        #expect(beneath?.map { $0["domain"] as? String } == ["disk", "store"])
        let values = try #require(failure?["userInfo"] as? [String: [String: Any]])
        let kinds = values.mapValues { $0.keys.joined() }
        #expect(
            kinds == [
                "bytes": "data", "count": "integer", "infinite": "real", "isOld": "boolean",
                "names": "array", "nested": "dictionary", "share": "real", "text": "string",
                "when": "date",
            ]
        )
        let names = values["names"]?["array"] as? [[String: String]]
        #expect(names == [["string": "a"], ["string": "b"]])
    }

    @Test func `a document in JSON is read with all that is nested in it`() throws {
        let result = try Workplace().shell(
            """
            echo '{"list": [1, [2.5, null, true, {"a": [[]]}]], "version": 7}' > store.json &&
            $migrate store check --store store.json && $migrate store check --store store.json --json
            """
        )
        #expect(result.exitCode == 0, "\(result.errors)")
        #expect(result.output.contains("version  7"), "\(result.output)")
    }
}
