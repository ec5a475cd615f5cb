import Foundation
import TestSupport
import Testing

@Suite(.scratchDirectory)
struct RecoverTests {
    private func makeContainer(_ place: Workplace, journal: String) throws {
        try place.makeContainer("app")
        try place.shell(
            "mkdir app/.migration && cat > app/.migration/import-journal.json",
            input: [UInt8](journal.utf8)
        )
    }

    @Test func `says that there is nothing to do`() throws {
        let place = try Workplace()
        try place.makeContainer("app")
        let result = try place.migrate("recover", "--container", place.path("app"))
        #expect(result.exitCode == 0)
        #expect(result.output == "nothing to recover\n")
    }

    @Test func `says that an import was rolled back`() throws {
        let place = try Workplace()
        try makeContainer(place, journal: #"{"version":1,"phase":"staging"}"#)
        let result = try place.migrate("recover", "--container", place.path("app"))
        #expect(result.exitCode == 0, "\(result.errors)")
        #expect(result.output.hasPrefix("rolled back: "))
    }

    /// Every command would name the journal and fail, forever.
    @Test func `gives up a planted journal, which every command names with the way out`() throws {
        let place = try Workplace()
        try makeContainer(place, journal: "planted")
        let before = try place.tree("app")
        let container = place.path("app")
        for words in [
            ["status", "--container", container], ["recover", "--container", container],
            ["run", "--container", container, "--", "true"],
            ["export", "--container", container, "--out", place.path("out")],
        ] {
            let result = try MigrateCommand.run(words)
            result.expectFailure(1)
            #expect(result.errors.contains("'migrate recover --discard'"))
            #expect(result.errors.contains("import-journal.json"))
        }
        let result = try place.migrate("recover", "--container", container, "--discard", "--json")
        #expect(result.exitCode == 0, "\(result.errors)")
        let answer = try JSONSerialization.jsonObject(with: Data(result.standardOutput))
        #expect((answer as? [String: Any])?["recovery"] as? String == "discarded")
        #expect((answer as? [String: Any])?["kept"] as? [String] == [])
        #expect(try place.tree("app") == before)
        try place.export("app")
    }

    @Test func `says where it kept data`() throws {
        let place = try Workplace()
        try makeContainer(place, journal: "planted")
        try place.shell("mkdir app/.migration/replaced; echo old > app/.migration/replaced/data")
        let result = try place.migrate("recover", "--container", place.path("app"), "--discard")
        #expect(result.exitCode == 0, "\(result.errors)")
        #expect(result.output.hasSuffix("\nkept  \(place.path("app"))/.migration-kept-1\n"))
        #expect(try place.bytes(of: "app/.migration-kept-1/data") == [UInt8]("old\n".utf8))
    }
}
