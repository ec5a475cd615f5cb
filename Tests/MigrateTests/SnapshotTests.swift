import TestSupport
import Testing

@testable import migrate

struct SnapshotTests {
    @Test(arguments: CommandCatalog.tree.commands.map(\.name))
    func `helps with every command`(_ name: String) throws {
        let command = try #require(CommandCatalog.tree.commands.first { $0.name == name })
        try Snapshot(name: "help-\(name.replacing(" ", with: "-"))").expect(
            HelpPage(of: command).text
        )
    }

    @Test func `helps with the program`() throws {
        try Snapshot(name: "help").expect(HelpPage(of: CommandCatalog.tree).text)
    }

    @Test(arguments: Shell.allCases)
    func `completes in every shell`(_ shell: Shell) throws {
        let script = shell.completionScript(for: CommandCatalog.tree)
        try Snapshot(name: "completions-\(shell.rawValue)").expect(script)
    }

    @Test func `explains every flag and argument`() {
        for command in CommandCatalog.tree.commands {
            for help in command.flags.map(\.help) + command.arguments.map(\.help) {
                #expect(help.hasSuffix("."), "\(command.name): \(help)")
            }
        }
    }

    @Test func `keeps help within 80 columns`() {
        let pages = CommandCatalog.tree.commands.map { HelpPage(of: $0).text }
        for line in pages.joined().split(separator: "\n") {
            #expect(line.count <= 80, "\(line)")
        }
    }
}
