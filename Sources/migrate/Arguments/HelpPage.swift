/// The help of the program or of one command, laid out for 80 columns.
struct HelpPage: Sendable {
    /// The synopsis of the program.
    static let topSynopsis = "migrate <subcommand>"

    private static let width = 80
    private static let maximalHelpColumn = 28

    /// The page, with a line feed at its end.
    let text: String

    /// Makes the page of `command`.
    init(of command: CommandDescription) {
        let arguments = command.arguments.map { ("<\($0.name)>", $0.help) }
        let sections = command.flagSections.map { section in
            Section(
                title: section.title,
                rows: section.flags.map { ($0.fullLabel, $0.help) }
            )
        }
        text =
            Self.overview(command.abstract) + Self.usage(command.synopsis)
            + Self.text([Section(title: "Arguments", rows: arguments)]) + Self.text(sections)
            + Self.text(command.examples)
    }

    /// Makes the page of the program.
    init(of tree: CommandTree) {
        let flags = [
            ("--version", "Show the version."),
            (FlagDescription.help.fullLabel, FlagDescription.help.help),
        ]
        var sections = tree.sections.map { section in
            Section(title: section.title, rows: section.commands.map { ($0.name, $0.abstract) })
        }
        sections[sections.count - 1].rows.append(("help", CommandTree.helpAbstract))
        let options = Section(title: "Options", rows: flags)
        text =
            Self.overview(tree.abstract) + Self.usage(Self.topSynopsis)
            + Self.text(sections + [options]) + Self.text(tree.examples)
            + "\n  See 'migrate help <subcommand>'\n"
    }

    /// A list under a heading.
    private struct Section {
        let title: String
        var rows: [(label: String, help: String)]
    }
}

// MARK: - Layout

extension HelpPage {
    private static func overview(_ abstract: String) -> String {
        wrap(["OVERVIEW:"] + abstract.split(separator: " ").map(String.init), indentation: 0)
    }

    private static func usage(_ synopsis: String) -> String {
        let words = synopsis.split(separator: " ").map(String.init)
        return "\n" + wrap(["USAGE:"] + words, indentation: 4)
    }

    /// The sections below each other, their second columns in line.
    private static func text(_ sections: [Section]) -> String {
        guard let longest = sections.flatMap(\.rows).map(\.label.count).max() else { return "" }
        let column = min(longest + 4, maximalHelpColumn)
        return sections.reduce("") { text, section in
            section.rows.reduce(text + "\n\(section.title.uppercased()):\n") {
                $0 + row($1.label, help: $1.help, at: column)
            }
        }
    }

    private static func text(_ examples: Examples) -> String {
        guard !examples.isEmpty else { return "" }
        return examples.reduce("\nEXAMPLES:\n") { text, example in
            text + "  \(example.key)\n    \(example.value)\n"
        }
    }

    private static func row(_ label: String, help: String, at column: Int) -> String {
        let words = help.split(separator: " ").map(String.init)
        let margin = String(repeating: " ", count: column)
        let body = wrap([margin] + words, indentation: column, separator: "")
        let head = "  " + label
        guard head.count < column - 1 else { return head + "\n" + body }
        return head + body.dropFirst(head.count)
    }

    /// Joins words into lines of at most `width` columns; all lines but the first are indented.
    private static func wrap(
        _ words: [String],
        indentation: Int,
        separator: String = " "
    ) -> String {
        var (text, line) = ("", words[0])
        var glue = separator
        for word in words.dropFirst() {
            if line.count + glue.count + word.count > width {
                text += line + "\n"
                line = String(repeating: " ", count: indentation) + word
            } else {
                line += glue + word
            }
            glue = " "
        }
        return text + line + "\n"
    }
}
