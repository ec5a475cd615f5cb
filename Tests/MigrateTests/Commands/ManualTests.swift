import Foundation
import TestSupport
import Testing

@testable import migrate

/// The manual pages, as `man` and mandoc read them.
@Suite(.scratchDirectory)
struct ManualTests {
    private static let pages = ManualCommand.pages(of: CommandCatalog.tree)

    @Test(
        .enabled(if: Machine.has("mandoc"), "needs mandoc"),
        arguments: pages.map(\.name)
    )
    func `is clean to mandoc`(_ name: String) throws {
        let place = try Workplace()
        let result = try place.shell(
            """
            $migrate manual \(name) > \(name).1 && mandoc -T lint -W style \(name).1 | grep -v ': referenced manual not found:'
            mandoc -T utf8 \(name).1 | col -b > shown && grep -q -- --help shown && echo shown
            """
        )
        #expect(result.output == "shown\n", "\(result.output)\(result.errors)")
    }

    @Test(arguments: CommandCatalog.tree.commands.map(\.name))
    func `explains every flag of a command`(_ name: String) throws {
        let command = try #require(CommandCatalog.tree.commands.first { $0.name == name })
        let page = try #require(
            Self.pages.first { $0.name == "migrate-\(name.replacing(" ", with: "-"))" }
        )
        for flag in command.allFlags {
            #expect(page.text.contains("Fl -\(flag.name)"), "\(flag.name)")
        }
    }

    @Test func `lists the pages, and refuses the name of none`() throws {
        let place = try Workplace()
        let listed = try place.shell("$migrate manual")
        #expect(listed.output == Self.pages.map { $0.name + "\n" }.joined())
        let refused = try place.shell("$migrate manual migrate-exprt")
        #expect(refused.exitCode == 64)
        #expect(refused.errors.contains("'migrate-export'"))
    }
}
