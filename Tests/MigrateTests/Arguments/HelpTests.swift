import Testing

@testable import migrate

/// The headings and the examples of help pages and manual pages.
struct HelpTests {
    private static let commands = CommandCatalog.tree.commands

    @Test(arguments: commands.map(\.name))
    func `shows three command lines that can be typed`(_ name: String) throws {
        let command = try #require(Self.commands.first { $0.name == name })
        #expect(command.examples.count == 3)
        for example in command.examples {
            #expect(example.key.hasSuffix("."))
            #expect(example.value.contains("migrate \(name)"))
            try Self.parse(example)
        }
    }

    @Test func `begins the program's help with three command lines that can be typed`() throws {
        #expect(CommandCatalog.tree.examples.count == 3)
        for example in CommandCatalog.tree.examples { try Self.parse(example) }
    }

    @Test func `shows every command under one heading`() {
        let names = CommandCatalog.commands.map { $0.name }
        #expect(Set(names).count == names.count)
        #expect(CommandCatalog.tree.sections.count == 7)
        let text = HelpPage(of: CommandCatalog.tree).text
        for section in CommandCatalog.tree.sections {
            #expect(text.contains("\n\(section.title.uppercased()):\n"))
        }
        for name in names { #expect(text.contains("\n  \(name) ")) }
    }

    @Test(arguments: ["export", "import", "send", "fingerprint", "extract", "verify", "list"])
    func `puts every flag of a long page under a heading`(_ name: String) throws {
        let command = try #require(Self.commands.first { $0.name == name })
        #expect(command.allFlags.filter { $0.topic == nil }.map(\.name) == [])
    }

    @Test func `puts flags under headings in one order, each once`() throws {
        let command = try #require(Self.commands.first { $0.name == "export" })
        let sections = command.flagSections
        #expect(
            sections.map(\.title)
                == ["Container", "Archive", "Extension", "Encryption", "Signature", "Running"]
        )
        #expect(
            sections.flatMap(\.flags).map(\.name).sorted() == command.allFlags.map(\.name).sorted()
        )
        #expect(sections[0].flags.first?.name == "container")
        #expect(sections[1].flags.first?.name == "out")
        #expect(sections[2].flags.first?.name == "extension")
    }

    @Test func `gives a flag one short name in every command, and a short name one flag`() {
        let flags = Self.commands.flatMap(\.allFlags)
        for (label, same) in Dictionary(grouping: flags, by: \.label) {
            #expect(Set(same.map(\.short)).count == 1, "\(label)")
        }
        for (short, same) in Dictionary(grouping: flags.filter { $0.short != nil }, by: \.short) {
            #expect(Set(same.map(\.name)).count == 1, "\(short ?? " ")")
        }
        for name in ["container", "out", "force", "dry-run", "quiet", "verbose", "help"] {
            #expect(flags.filter { $0.name == name }.allSatisfy { $0.short != nil }, "\(name)")
        }
    }

    @Test func `shows a short list of flags under one heading`() throws {
        let command = try #require(Self.commands.first { $0.name == "status" })
        #expect(command.flagSections.map(\.title) == ["Options"])
    }

    @Test func `shows examples in a manual page as they are typed`() throws {
        let page = try #require(
            ManualCommand.pages(of: CommandCatalog.tree).first { $0.name == "migrate-list" }
        )
        #expect(page.text.contains(".Sh EXAMPLES\n"))
        #expect(page.text.contains("\nmigrate list notes.tar.zst \\-\\-glob \\(aq*.jpg\\(aq\n"))
    }

    /// Parses what an example runs as `migrate`.
    private static func parse(_ example: Examples.Element) throws {
        let parts = example.value.split { $0 == "|" || $0 == ">" }
        let lines = parts.map { words(of: $0) }.filter { $0.first == "migrate" }
        #expect(!lines.isEmpty, "\(example.value)")
        for line in lines {
            let words = line.dropFirst().map { [UInt8]($0.utf8) }
            guard case .command = try Invocation(Array(words)) else {
                Issue.record("\(example.value)")
                continue
            }
        }
    }

    /// The words of a command line, as a shell splits it.
    private static func words(of line: Substring) -> [String] {
        line.split(separator: "'", omittingEmptySubsequences: false).enumerated()
            .flatMap { index, part in
                index % 2 == 0 ? part.split(separator: " ").map(String.init) : [String(part)]
            }
    }
}
