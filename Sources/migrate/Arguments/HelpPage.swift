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
        let flags = command.allFlags.map { ($0.fullLabel, $0.help) }
        text =
            Self.overview(command.abstract) + Self.usage(command.fullSynopsis)
            + Self.section("ARGUMENTS", rows: arguments) + Self.section("OPTIONS", rows: flags)
    }

    /// Makes the page of the program.
    init(of tree: CommandTree) {
        let flags = [
            ("--version", "Show the version."),
            (FlagDescription.help.fullLabel, FlagDescription.help.help),
        ]
        let commands =
            tree.commands.map { ($0.name, $0.abstract) } + [("help", CommandTree.helpAbstract)]
        text =
            Self.overview(tree.abstract) + Self.usage([Self.topSynopsis])
            + Self.section("OPTIONS", rows: flags) + Self.section("SUBCOMMANDS", rows: commands)
            + "\n  See 'migrate help <subcommand>'\n"
    }
}

// MARK: - Layout

extension HelpPage {
    private static func overview(_ abstract: String) -> String {
        wrap(["OVERVIEW:"] + abstract.split(separator: " ").map(String.init), indentation: 0)
    }

    private static func usage(_ words: [String]) -> String {
        "\n" + wrap(["USAGE:"] + words, indentation: 4)
    }

    private static func section(
        _ title: String,
        rows: [(label: String, help: String)]
    ) -> String {
        guard let longest = rows.map(\.label.count).max() else { return "" }
        let column = min(longest + 4, maximalHelpColumn)
        return rows.reduce("\n\(title):\n") { $0 + row($1.label, help: $1.help, at: column) }
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
