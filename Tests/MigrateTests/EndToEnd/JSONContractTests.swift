import Foundation
import TestSupport
import Testing

/// The promises to scripts about the documents of `--json`; each run is also validated against its
/// schema.
@Suite(.scratchDirectory)
struct JSONContractTests {
    private func object(_ text: [UInt8]) throws -> [String: Any] {
        let document = try JSONSerialization.jsonObject(with: Data(text))
        return try #require(document as? [String: Any])
    }

    @Test func `gives an error as one document on standard error`() throws {
        let place = try Workplace()
        try place.makeContainer()
        try place.export()
        let (archive, source) = (place.path("archive"), place.path("source"))
        let rows: [(words: [String], code: Int32, name: String, flag: String?, path: String?)] = [
            (
                ["import", archive, "--container", source], 73, "containerHoldsData", "--replace",
                source
            ),
            (
                ["export", "--container", source, "--out", archive], 73, "outputExists", "--force",
                archive
            ),
            (["inspect", place.path("none")], 1, "inputFailed", nil, nil),
            (["verify", place.path("source/Documents/numbers")], 65, "notAnArchive", nil, nil),
            (
                ["verify", archive, "--identity", place.path("none")], 64, "invalidOption", nil,
                place.path("none")
            ),
            (["list", archive, "nothing"], 1, "notFound", nil, "nothing"),
            (["diff", archive, "nothing", "--container", source], 2, "notFound", nil, "nothing"),
            (["export", "--out", archive], 64, "usage", nil, nil),
            (["frobnicate"], 64, "usage", nil, nil),
        ]
        for row in rows {
            let result = try MigrateCommand.run(row.words + ["--json"])
            #expect(result.exitCode == row.code, "\(row.words): \(result.errors)")
            let error = try object(result.standardError)
            #expect(error["schema"] as? String == "migrate/error/1")
            #expect(error["code"] as? Int32 == row.code)
            #expect(error["name"] as? String == row.name)
            #expect(error["flag"] as? String == row.flag)
            #expect(error["path"] as? String == row.path)
            let text = try MigrateCommand.run(row.words).errors
            #expect(text.hasPrefix("migrate: error: \(error["message"] as? String ?? "")"))
        }
    }

    @Test func `says what was left out and where links lead, exactly`() throws {
        let place = try Workplace()
        try place.shell(
            "mkdir -p source/tmp; printf x > \"source/$(printf 'p\\033')\"; "
                + "mkfifo \"source/$(printf 'q\\377')\"; ln -s /etc \"source/$(printf 'l\\033')\""
        )
        let words = ["--container", place.path("source"), "--out", place.path("archive"), "--json"]
        let answer = try object(MigrateCommand.run(["export"] + words).standardOutput)
        let omissions = try #require(answer["omissions"] as? [String: Any])
        let items = try #require(omissions["items"] as? [[String: Any]])
        #expect(items.contains { $0["pathBase64"] as? String == "cf8=" })
        let links = try #require(answer["externalLinks"] as? [[String: Any]])
        #expect(links.first?["path"] as? String == "l\u{1B}")
        #expect(links.first?["target"] as? String == "/etc")
    }

    @Test func `says in a field whether an archive is sound`() throws {
        let place = try Workplace()
        try place.makeContainer()
        try place.export()
        try place.shell(
            "head -c 600 archive > cut; tar -C source -cf foreign .; cp archive bad; "
                + "printf xxxx | dd of=bad bs=1 seek=300 conv=notrunc 2>&1"
        )
        for (name, sound) in [("archive", true), ("cut", false), ("bad", false), ("foreign", nil)] {
            for scope in [[], ["--hashes"]] where !(name == "foreign" && !scope.isEmpty) {
                let words = ["verify", place.path(name), "--json"] + scope
                let result = try MigrateCommand.run(words)
                #expect(result.exitCode == (sound == false ? 65 : 0), "\(name): \(result.errors)")
                let answer = try object(result.standardOutput)
                #expect(answer["sound"] as? Bool == sound)
                #expect(answer["sound"] is NSNull == (sound == nil))
                #expect(answer["checked"] as? String == (scope.isEmpty ? "everything" : "hashes"))
            }
        }
    }

    @Test func `has one shape for every status`() throws {
        let place = try Workplace()
        try place.makeContainer()
        try place.export()
        let target = place.path("target")
        try FileManager.default.createDirectory(atPath: target, withIntermediateDirectories: true)
        let none = try object(
            place.migrate("status", "--container", target, "--json").standardOutput
        )
        #expect(none["status"] as? String == "none")
        _ = try place.migrate("import", place.path("archive"), "--container", target)
        let some = try object(
            place.migrate("status", "--container", target, "--json").standardOutput
        )
        #expect(some["status"] as? String == "success")
        #expect(some["failure"] is NSNull)
        #expect(Set(some.keys) == Set(none.keys))
    }

    @Test func `lists one document a line`() throws {
        let place = try Workplace()
        try place.makeContainer()
        try place.export()
        let archive = place.path("archive")
        let list = try place.migrate("list", archive, "--json-lines")
        let lines = list.output.split(separator: "\n")
        let objects = try lines.map { try object([UInt8]($0.utf8)) }
        #expect(objects.count == 11)
        #expect(objects.allSatisfy { $0["schema"] as? String == "migrate/entry/1" })
        let whole = try object(place.migrate("list", archive, "--json").standardOutput)
        let entries = try #require(whole["entries"] as? [[String: Any]])
        #expect(objects.map { $0["path"] as? String } == entries.map { $0["path"] as? String })
        let both = try place.migrate("list", archive, "--json", "--json-lines")
        #expect(both.exitCode == 64)
    }

    @Test func `lists only what is named`() throws {
        let place = try Workplace()
        try place.makeContainer()
        try place.export()
        let list = try place.migrate("list", place.path("archive"), "./Library/", "Documents/tool")
        #expect(list.exitCode == 0)
        let names = list.output.split(separator: "\n").compactMap { $0.split(separator: " ").last }
        #expect(names.count == 4, "\(list.output)")
        #expect(names.contains("Documents/tool"))
        #expect(!list.output.contains("Documents/none"))
    }

    @Test func `compares only what is named`() throws {
        let place = try Workplace()
        try place.makeContainer()
        try place.export()
        try place.shell(
            "echo x >> source/Documents/none; echo y > source/Documents/added; rm source/Library/again"
        )
        let words = ["diff", place.path("archive"), "--container", place.path("source")]
        let one = try MigrateCommand.run(words + ["Documents/none"])
        #expect(one.exitCode == 1)
        #expect(one.output.split(separator: "\n").allSatisfy { $0.hasPrefix("Documents/none: ") })
        let added = try MigrateCommand.run(words + ["Documents/added"])
        #expect(added.output == "only in the container: Documents/added\n")
        let tool = try MigrateCommand.run(words + ["Documents/tool"])
        #expect(tool.exitCode == 0 && tool.output.isEmpty, "\(tool.output)")
        let library = try MigrateCommand.run(words + ["Library"])
        #expect(library.output.contains("only in the archive: Library/again\n"))
    }
}
