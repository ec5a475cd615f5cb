import Foundation
import TestSupport
import Testing

/// `--verbose` of the commands that move files.
@Suite(.scratchDirectory)
struct VerboseTests {
    let place: Workplace

    init() throws {
        place = try Workplace()
        let made = try place.shell(
            """
            mkdir -p source/d && cd source && echo 1 >d/one && echo 2 >"$(printf 'd/t\\377o')" &&
            ln -s one d/link && ln -s /outside d/out
            """
        )
        try #require(made.exitCode == 0, "\(made.errors)")
    }

    private func names(_ result: MigrateCommand.Result) -> [String] {
        result.errors.split(separator: "\n").map(String.init)
            .filter { !$0.hasPrefix("migrate: ") }.sorted()
    }

    @Test func `names each entry on standard error, once, and keeps the answer as it was`() throws {
        let all = ["d", "d/link", "d/one", "d/out", #"d/t\xFFo"#]
        let exported = try place.shell("$migrate export -v -c source -o archive --json")
        #expect(exported.exitCode == 0, "\(exported.errors)")
        #expect(names(exported) == all)
        #expect(exported.output.hasPrefix("{"))
        let imported = try place.shell(
            "$migrate import -v archive -c target --external-links skip"
        )
        #expect(names(imported) == all.filter { $0 != "d/out" }, "\(imported.errors)")
        let extracted = try place.shell("$migrate extract -v archive d/one -t out")
        #expect(names(extracted) == ["d/one"])
        #expect(extracted.output.hasPrefix("archive: extracted into out: 1 file"))
        let silent = try place.shell("$migrate extract archive d/one -t out2")
        #expect(silent.errors.isEmpty)
    }

    @Test func `refuses to mix names with the document on standard error`() throws {
        let result = try place.shell("$migrate export -v --json -c source -o - >archive")
        #expect(result.exitCode == 64)
        #expect(result.errors.contains("--json and --verbose share standard error"))
    }
}
