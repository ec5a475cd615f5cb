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
        arguments: pages
    )
    func `is clean to mandoc`(_ page: ManualPage) throws {
        let place = try Workplace()
        let file = "\(page.name).\(page.section)"
        let shown = page.section == 1 ? "--help" : "zstd"
        let result = try place.shell(
            """
            $migrate manual \(page.name) > \(file) && mandoc -T lint -W style \(file) | grep -v ': referenced manual not found:'
            mandoc -T utf8 \(file) | col -b > shown && grep -q -e \(shown) shown && echo shown
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

    @Test func `installs each page in its section, beside all that the command reads`() throws {
        let place = try Workplace()
        let package = "\(AnswerSchemas.directory)/../../.."
        let result = try place.shell(
            """
            '\(package)/Scripts/install-files' "$migrate" "$PWD/usr" && cd usr/share &&
            ls man/* migrate/schemas
            """
        )
        #expect(result.exitCode == 0, "\(result.errors)")
        let files = Set(result.output.split(separator: "\n").map(String.init))
        for page in Self.pages { #expect(files.contains("\(page.name).\(page.section)")) }
        #expect(Self.pages.map(\.section).filter { $0 == 5 }.count == 1)
        #expect(files.contains("list-1.json"))
        let installed = try place.shell("cat usr/share/man/man5/migrate-archive.5")
        #expect(installed.output == Self.pages.last?.text)
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
