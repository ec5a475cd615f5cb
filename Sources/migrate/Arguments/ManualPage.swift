/// A manual page: of the program, of one command or of a file format, in mdoc, which `man` shows.
///
/// The language is described in mdoc(7). Each sentence starts on a new line, as mandoc's checks
/// require.
struct ManualPage: Sendable {
    /// A chapter that the caller adds, such as the exit codes: terms, each with its explanation.
    struct Chapter: Sendable {
        let title: String
        let introduction: String
        let rows: [(term: String, explanation: String)]
    }

    /// The program's name, version and release date, for every page.
    struct Edition: Sendable {
        let version: String

        /// For example `November 21, 2026`.
        let date: String
    }

    /// The name of the page, such as `migrate-export`.
    let name: String

    /// The section of the manual: 1 for commands, 5 for file formats.
    let section: Int

    /// The page, with a line feed at its end.
    let text: String

    /// Makes a page that is written out.
    init(name: String, section: Int, text: String) {
        self.name = name
        self.section = section
        self.text = text
    }

    /// Makes the page of `command`.
    init(of command: CommandDescription, edition: Edition, chapters: [Chapter]) {
        name = Self.name(of: command)
        section = 1
        let lists =
            Self.list(
                of: command.arguments.map { ("Ar \($0.name)", $0.help) },
                under: ".Pp",
                "The arguments:"
            )
            + command.flagSections.flatMap { section in
                Self.list(
                    of: section.flags.map { (Self.names($0), $0.help) },
                    under: ".Ss \(section.title)"
                )
            }
        text = Self.text(
            Self.head(name, purpose: command.abstract, edition: edition)
                + [".Sh SYNOPSIS", ".Nm \(Self.escaping("migrate " + command.name))"]
                + Self.synopsis(of: command)
                + [".Sh DESCRIPTION"] + Self.sentences(command.abstract) + lists
                + chapters.flatMap(Self.chapter) + Self.chapter(command.examples)
                + [".Sh SEE ALSO", ".Xr migrate 1 ,"]
                + [".Xr migrate-archive 5"]
        )
    }

    /// Makes the page of the program.
    init(of tree: CommandTree, edition: Edition, chapters: [Chapter]) {
        name = "migrate"
        section = 1
        let commands = tree.sections.flatMap { section in
            Self.list(
                of: section.commands.map { command in
                    ("Xr \(Self.name(of: command)) 1", command.abstract)
                },
                under: ".Ss \(section.title)"
            )
        }
        let flags = [
            ("Fl -version", "Show the version."),
            (Self.names(.help), FlagDescription.help.help),
        ]
        text = Self.text(
            Self.head("migrate", purpose: tree.abstract, edition: edition)
                + [".Sh SYNOPSIS", ".Nm", ".Ar subcommand", ".Op Ar options", ".Nm", ".Cm help"]
                + [".Ar subcommand", ".Sh DESCRIPTION"] + Self.sentences(tree.abstract)
                + Self.sentences("Each subcommand has a page of its own.") + commands
                + Self.list(of: flags, under: ".Ss Options") + chapters.flatMap(Self.chapter)
                + Self.chapter(tree.examples) + [
                    ".Sh SEE ALSO", ".Xr age 1 ,", ".Xr ssh-keygen 1 ,", ".Xr tar 1 ,",
                ]
                + [".Xr zstd 1 ,", ".Xr migrate-archive 5"]
        )
    }
}

// MARK: - Layout

extension ManualPage {
    private static func name(of command: CommandDescription) -> String {
        "migrate-" + command.name.replacing(" ", with: "-")
    }

    private static func head(_ name: String, purpose: String, edition: Edition) -> [String] {
        let purpose = purpose.hasSuffix(".") ? String(purpose.dropLast()) : purpose
        return [
            ".Dd \(edition.date)", ".Dt \(name.uppercased()) 1", ".Os migration \(edition.version)",
            ".Sh NAME", ".Nm \(name)",
            ".Nd \(escaping(purpose.prefix(1).lowercased() + purpose.dropFirst()))",
        ]
    }

    private static func synopsis(of command: CommandDescription) -> [String] {
        let leading = command.arguments.filter { $0.count != .commandLine }
        let trailing = command.arguments.filter { $0.count == .commandLine }
        return leading.map { argument in
            switch argument.count {
            case .any: ".Op Ar \(argument.name) ..."
            case .optional: ".Op Ar \(argument.name)"
            case .one, .commandLine: ".Ar \(argument.name)"
            }
        }
            + command.flags.map { flag in
                let name = label(flag)
                return (flag.isRequired ? ".\(name)" : ".Op \(name)")
                    + (flag.isRepeatable ? " ..." : "")
            }
            + trailing.flatMap { [".Fl -", ".Ar \($0.name) ..."] }
    }

    private static func label(_ flag: FlagDescription) -> String {
        "Fl -\(flag.name)" + (flag.valueName.map { " Ar \($0)" } ?? "")
    }

    private static func names(_ flag: FlagDescription) -> String {
        (flag.short.map { "Fl \($0) , " } ?? "") + label(flag)
    }

    /// The rows below `head`; nothing without rows.
    private static func list(
        of rows: [(term: String, explanation: String)],
        under head: String...
    ) -> [String] {
        guard !rows.isEmpty else { return [] }
        return head + [".Bl -tag -width Ds"]
            + rows.flatMap { [".It \($0.term)"] + sentences($0.explanation) } + [".El"]
    }

    private static func chapter(_ examples: Examples) -> [String] {
        guard !examples.isEmpty else { return [] }
        let parts = examples.map { example in
            sentences(example.key)
                + [".Bd -literal -offset indent", literal(example.value), ".Ed"]
        }
        return [".Sh EXAMPLES"] + parts.joined(separator: [".Pp"])
    }

    /// A command line whose characters can be copied from the displayed page.
    private static func literal(_ text: String) -> String {
        [("\\", "\\e"), ("-", "\\-"), ("'", "\\(aq"), ("~", "\\(ti"), ("^", "\\(ha")]
            .reduce(text) { $0.replacing($1.0, with: $1.1) }
    }

    private static func chapter(_ chapter: Chapter) -> [String] {
        [".Sh \(chapter.title)"] + sentences(chapter.introduction) + list(of: chapter.rows)
    }

    private static func text(_ lines: [String]) -> String {
        lines.reduce("") { $0 + $1 + "\n" }
    }

    /// The lines of a text: each sentence begins a line, and no line has more than 78 columns.
    private static func sentences(_ text: String) -> [String] {
        var lines: [String] = []
        var line = ""
        func end() {
            if !line.isEmpty { lines.append(escaping(line)) }
            line = ""
        }
        for word in text.split(separator: " ") {
            if line.count + 1 + word.count > 78 { end() }
            line += (line.isEmpty ? "" : " ") + word
            if word.hasSuffix(".") || word.hasSuffix(":") { end() }
        }
        end()
        return lines
    }

    /// The text of a line, with requests and escapes made literal.
    private static func escaping(_ text: String) -> String {
        let text = text.replacing("\\", with: "\\e").replacing("--", with: "\\-\\-")
        return text.hasPrefix(".") || text.hasPrefix("'") ? "\\&" + text : text
    }
}
