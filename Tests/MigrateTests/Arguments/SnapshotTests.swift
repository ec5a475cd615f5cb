import Testing

@testable import migrate

struct SnapshotTests {
    @Test(arguments: CommandCatalog.commands.map { $0.description.name })
    func `helps with every command`(_ name: String) throws {
        let command = CommandCatalog.commands.map { $0.description }.first { $0.name == name }
        try Snapshot(name: "help-\(name.replacing(" ", with: "-"))").expect(
            HelpPage(of: command).text
        )
    }

    @Test func `helps with the program`() throws {
        try Snapshot(name: "help").expect(HelpPage(of: nil).text)
    }

    @Test(arguments: Shell.allCases)
    func `completes in every shell`(_ shell: Shell) throws {
        let script = shell.completionScript(for: CommandCatalog.commands)
        try Snapshot(name: "completions-\(shell.rawValue)").expect(script)
    }

    @Test func `keeps help within 80 columns`() {
        let pages = CommandCatalog.commands.map { HelpPage(of: $0.description).text }
        for line in pages.joined().split(separator: "\n") {
            #expect(line.count <= 80, "\(line)")
        }
    }
}
